//! A least-squares curve through given columns, with the spread of any sum of its coefficients.

use trainwright_stats::{Columns, Orthogonal, StatsError, StudentT, sample};

/// Residuals shorter than this share of the response are rounding, not noise.
const ROUNDING: f64 = 1e-13;

/// Coefficients of columns that need not hold an intercept.
pub(crate) struct Curve {
    pub(crate) coefficients: Vec<f64>,
    /// Residual variance; absent for an exact or saturated fit.
    pub(crate) variance: Option<f64>,
    pub(crate) df: usize,
    /// Share of the variation about the mean that the curve explains; absent without variation.
    pub(crate) r2: Option<f64>,
    pub(crate) fitted: Vec<f64>,
    decomposition: Orthogonal,
}

/// A value with its standard error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) std_error: Option<f64>,
}

impl Curve {
    /// Fits independent columns; nothing where one of them is determined by the others. Values
    /// whose squares cannot be computed are an error.
    pub(crate) fn fit(columns: Vec<Vec<f64>>, y: &[f64]) -> Result<Option<Self>, StatsError> {
        sample::check(y, "the response", 1)?;
        let matrix = Columns::new(columns)?;
        let decomposition = Orthogonal::new(&matrix);
        if decomposition.rank() < matrix.width() {
            return Ok(None);
        }
        let coefficients = decomposition.solve(&decomposition.rotate(y));
        let residuals = decomposition.residuals(y);
        let ss_residual: f64 = residuals.iter().map(|r| r * r).sum();
        let length: f64 = y.iter().map(|v| v * v).sum();
        let df = y.len() - decomposition.rank();
        let exact = ss_residual <= ROUNDING * ROUNDING * length;
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let ss_total: f64 = y.iter().map(|v| (v - mean).powi(2)).sum();
        Ok(Some(Self {
            coefficients,
            variance: (df > 0 && !exact).then(|| ss_residual / df as f64),
            df,
            r2: ss_total.is_normal().then(|| 1.0 - ss_residual / ss_total),
            fitted: y.iter().zip(&residuals).map(|(y, r)| y - r).collect(),
            decomposition,
        }))
    }

    /// A weighted sum of the coefficients, such as the curve's height at a point.
    pub(crate) fn combine(&self, weights: &[f64]) -> Estimate {
        let value = self.coefficients.iter().zip(weights).map(|(c, w)| c * w).sum();
        // Roots first: the product may be too large for a float where its root is not.
        let std_error = self.variance.map(|v| v.sqrt() * self.covariance(weights, weights).sqrt());
        Estimate { value, std_error: std_error.filter(|own| own.is_finite()) }
    }

    /// Covariance of two weighted sums in units of the residual variance: u' (X'X)^-1 v.
    pub(crate) fn covariance(&self, u: &[f64], v: &[f64]) -> f64 {
        self.forward(u).iter().zip(self.forward(v)).map(|(a, b)| a * b).sum()
    }

    /// Quantile of t that makes a two-sided interval.
    pub(crate) fn critical(&self, alpha: f64) -> Option<f64> {
        self.variance?;
        StudentT::new(self.df as f64).and_then(|t| t.quantile(1.0 - 0.5 * alpha)).ok()
    }

    /// Interval of a weighted sum.
    pub(crate) fn interval(&self, weights: &[f64], alpha: f64) -> Option<[f64; 2]> {
        let Estimate { value, std_error } = self.combine(weights);
        finite(value, self.critical(alpha)? * std_error?)
    }

    /// Interval of one new observation at a point.
    pub(crate) fn prediction(&self, weights: &[f64], alpha: f64) -> Option<[f64; 2]> {
        let value = self.combine(weights).value;
        let spread = self.variance?.sqrt() * (1.0 + self.covariance(weights, weights)).sqrt();
        finite(value, self.critical(alpha)? * spread)
    }

    /// Two-sided p-value of a weighted sum being zero.
    pub(crate) fn p(&self, weights: &[f64]) -> Option<f64> {
        let Estimate { value, std_error } = self.combine(weights);
        let t = StudentT::new(self.df as f64).ok()?;
        Some(t.two_sided(value / std_error?)).filter(|p| p.is_finite())
    }

    /// Interval of a ratio of two weighted sums, by Fieller's theorem (Journal of the Royal
    /// Statistical Society B 16, 1954); nothing where it has no ends.
    pub(crate) fn ratio_interval(
        &self,
        above: &[f64],
        below: &[f64],
        alpha: f64,
    ) -> Option<[f64; 2]> {
        let t2 = self.critical(alpha)?.powi(2) * self.variance?;
        let (a, b) = (self.combine(above).value, self.combine(below).value);
        let p = b * b - t2 * self.covariance(below, below);
        let q = a * b - t2 * self.covariance(above, below);
        let r = a * a - t2 * self.covariance(above, above);
        let root = q * q - p * r;
        (p > 0.0 && root >= 0.0).then(|| finite(q / p, root.sqrt() / p)).flatten()
    }

    /// Largest distance of the curve from an observation, as a share of the observation.
    pub(crate) fn worst_miss(&self, y: &[f64]) -> Option<f64> {
        let miss = |(fitted, y): (&f64, &f64)| (*y != 0.0).then(|| ((fitted - y) / y).abs());
        let worst =
            self.fitted.iter().zip(y).map(miss).try_fold(0.0f64, |most, m| Some(most.max(m?)));
        worst.filter(|worst| worst.is_finite())
    }

    /// Solves R' z = w, so that z.z = w' (X'X)^-1 w.
    fn forward(&self, weights: &[f64]) -> Vec<f64> {
        let columns = self.decomposition.compressed();
        let mut z = Vec::with_capacity(weights.len());
        for (k, (column, w)) in columns.iter().zip(weights).enumerate() {
            let before: f64 = column[..k].iter().zip(&z).map(|(r, z)| r * z).sum();
            z.push((w - before) / column[k]);
        }
        z
    }
}

/// The ends of an interval; nothing where one is too large for a float.
fn finite(centre: f64, half: f64) -> Option<[f64; 2]> {
    let ends = [centre - half, centre + half];
    ends.iter().all(|end| end.is_finite()).then_some(ends)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trainwright_stats::least_squares;

    use super::*;

    proptest! {
        #[test]
        fn intervals_are_those_of_the_regression(
            y in prop::collection::vec(-5.0..5.0f64, 7), at in -3.0..9.0f64,
        ) {
            let x = [0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0];
            let columns = vec![vec![1.0; 7], x.to_vec()];
            let curve = Curve::fit(columns.clone(), &y).unwrap().unwrap();
            let fit = least_squares(&Columns::new(columns).unwrap(), &y).unwrap();
            let ours = curve.interval(&[0.0, 1.0], 0.1).unwrap();
            let theirs = fit.interval(1, 0.9).unwrap().unwrap();
            prop_assert!((ours[0] - theirs[0]).abs() < 1e-10 && (ours[1] - theirs[1]).abs() < 1e-10);
            prop_assert!((curve.p(&[0.0, 1.0]).unwrap() - fit.coefficients[1].unwrap().p.unwrap()).abs() < 1e-10);
            // Variance of the height at a point: 1/n + (x - mean)^2 / Sxx.
            let mean = x.iter().sum::<f64>() / 7.0;
            let sxx: f64 = x.iter().map(|v| (v - mean).powi(2)).sum();
            let expected = 1.0 / 7.0 + (at - mean).powi(2) / sxx;
            prop_assert!((curve.covariance(&[1.0, at], &[1.0, at]) - expected).abs() < 1e-10);
        }
    }

    #[test]
    fn dependent_columns_give_no_curve_and_exact_ones_no_spread() {
        let x = vec![1.0, 2.0, 3.0];
        assert!(
            Curve::fit(vec![x.clone(), vec![2.0, 4.0, 6.0]], &[1.0, 2.0, 4.0]).unwrap().is_none()
        );
        let exact = Curve::fit(vec![x], &[2.0, 4.0, 6.0]).unwrap().unwrap();
        assert!(exact.variance.is_none() && exact.interval(&[1.0], 0.05).is_none());
        assert!((exact.coefficients[0] - 2.0).abs() < 1e-14);
    }
}
