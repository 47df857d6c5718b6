//! The exact distribution of the Durbin-Watson statistic.
//!
//! P(d < x) is the chance that a quadratic form of independent normal values, sum of
//! (a_i - x) u_i^2 over the eigenvalues a_i that the model leaves of the squared-step form A, is
//! negative. Its moment generating function on the residual space is det(Q2' B Q2)^(-1/2) with
//! B = I - 2z(A - x I), and det(Q2' B Q2) = det(B) det(Q1' B^-1 Q1) spares the eigenvalues
//! (Shively, Ansley and Kohn, Journal of the American Statistical Association 85, 1990). The
//! cosine transform makes A diagonal, so one evaluation costs n k^2 operations for k columns.
//! The inversion integral runs through the saddlepoint (Helstrom, IEEE Transactions on
//! Information Theory 32, 1986), which keeps small probabilities exact too.

use crate::error::StatsError;
use crate::linear_algebra::orthogonal::Orthogonal;

/// Relative change of the integral at which halving the step ends.
const SETTLED: f64 = 1e-11;

/// A complex number.
#[derive(Debug, Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn times(self, other: Self) -> Self {
        let (a, b) = (self, other);
        Self { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
    }

    fn minus(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }

    fn reciprocal(self) -> Self {
        let square = self.re * self.re + self.im * self.im;
        Self { re: self.re / square, im: -self.im / square }
    }

    fn logarithm(self) -> Self {
        Self { re: self.re.hypot(self.im).ln(), im: self.im.atan2(self.re) }
    }
}

/// Chance of a statistic below `statistic` without serial correlation.
pub(crate) fn lower_tail(decomposition: &Orthogonal, statistic: f64) -> Result<f64, StatsError> {
    let form = Form::new(decomposition, statistic);
    if form.shifted.iter().all(|s| *s >= 0.0) {
        return Ok(0.0);
    }
    if form.shifted.iter().all(|s| *s <= 0.0) {
        return Ok(1.0);
    }
    // The half with the smaller chance is integrated, and on its side of zero.
    let below = form.mean() > 0.0;
    let chance = form.tail(below)?;
    Ok(if below { chance } else { 1.0 - chance }.clamp(0.0, 1.0))
}

/// The quadratic form whose sign is in question.
struct Form {
    /// Eigenvalues of A less the statistic.
    shifted: Vec<f64>,
    /// Rows of the model's orthonormal basis after the cosine transform.
    basis: Vec<Vec<f64>>,
}

impl Form {
    fn new(decomposition: &Orthogonal, statistic: f64) -> Self {
        let mut transformed: Vec<Vec<f64>> =
            decomposition.basis().iter().map(|q| cosine_transform(q)).collect();
        let n = transformed.first().map_or(0, Vec::len);
        let angle = std::f64::consts::PI / n as f64;
        // An intercept is the first eigenvector itself, so both drop out; the others then leave
        // the integral more room.
        let constant = transformed.first().is_some_and(|q| q[0].abs() > 1.0 - 1e-12);
        let from = usize::from(constant);
        transformed.drain(..from);
        Self {
            shifted: (from..n).map(|j| 2.0 - 2.0 * (angle * j as f64).cos() - statistic).collect(),
            basis: (from..n).map(|j| transformed.iter().map(|q| q[j]).collect()).collect(),
        }
    }

    /// Mean of the form: the trace over the residual space.
    fn mean(&self) -> f64 {
        let own = |row: &Vec<f64>| 1.0 - row.iter().map(|v| v * v).sum::<f64>();
        self.shifted.iter().zip(&self.basis).map(|(s, row)| s * own(row)).sum()
    }

    /// Logarithm of the moment generating function.
    fn cumulant(&self, z: Complex) -> Complex {
        let width = self.basis.first().map_or(0, Vec::len);
        let mut inner = vec![Complex { re: 0.0, im: 0.0 }; width * width];
        let mut total = Complex { re: 0.0, im: 0.0 };
        for (shifted, row) in self.shifted.iter().zip(&self.basis) {
            let b = Complex { re: 1.0 - 2.0 * z.re * shifted, im: -2.0 * z.im * shifted };
            let log = b.logarithm();
            total = Complex { re: total.re + log.re, im: total.im + log.im };
            let weight = b.reciprocal();
            for (i, &x) in row.iter().enumerate() {
                let (re, im) = (weight.re * x, weight.im * x);
                let own = &mut inner[i * width..=i * width + i];
                for (sum, &y) in own.iter_mut().zip(row) {
                    sum.re += re * y;
                    sum.im += im * y;
                }
            }
        }
        for pivot in pivots(&mut inner, width) {
            let log = pivot.logarithm();
            total = Complex { re: total.re + log.re, im: total.im + log.im };
        }
        Complex { re: -0.5 * total.re, im: -0.5 * total.im }
    }

    /// Chance of a negative (`below`) or positive form.
    fn tail(&self, below: bool) -> Result<f64, StatsError> {
        let at = self.saddlepoint(below);
        let curve = |c: f64| self.cumulant(Complex { re: c, im: 0.0 }).re;
        let height = curve(at) - at.abs().ln();
        let near = 0.05 * at.abs();
        let bend = (curve(at + near) - 2.0 * curve(at) + curve(at - near)) / (near * near);
        let width = (bend + at.powi(-2)).max(f64::MIN_POSITIVE).sqrt().recip();
        // Even in v, so the trapezoid rule converges exponentially.
        let integrand = |v: f64| {
            let z = Complex { re: at, im: width * v.sinh() };
            let log = self.cumulant(z).minus(z.logarithm());
            // The real part of M(z) / z, less the sign of the saddlepoint.
            let sign = if below { -1.0 } else { 1.0 };
            sign * (log.re - height).exp() * log.im.cos() * width * v.cosh()
        };
        let integral = converged(integrand)?;
        Ok((height + (integral / std::f64::consts::PI).ln()).exp())
    }

    /// Least value of the integrand on the real axis, on the side asked for.
    fn saddlepoint(&self, below: bool) -> f64 {
        let ends = self.shifted.iter().fold((0.0f64, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
        let limit = if below { 0.5 / ends.0 } else { 0.5 / ends.1 };
        let level = |share: f64| {
            let c = share * limit;
            self.cumulant(Complex { re: c, im: 0.0 }).re - c.abs().ln()
        };
        let (mut low, mut high) = (1e-9, 0.98);
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        for _ in 0..30 {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            if level(a) < level(b) { high = b } else { low = a }
        }
        0.5 * (low + high) * limit
    }
}

/// Pivots of a symmetric matrix given by its lower triangle. All have a positive real part, since
/// the matrix does, so the logarithms of the pivots add up on the right branch.
fn pivots(lower: &mut [Complex], width: usize) -> Vec<Complex> {
    let mut found = Vec::with_capacity(width);
    for k in 0..width {
        let pivot = lower[k * width + k];
        let inverse = pivot.reciprocal();
        for i in k + 1..width {
            let factor = lower[i * width + k].times(inverse);
            for j in k + 1..=i {
                let taken = factor.times(lower[j * width + k]);
                lower[i * width + j] = lower[i * width + j].minus(taken);
            }
        }
        found.push(pivot);
    }
    found
}

/// Integral from zero to infinity of an even function by the trapezoid rule, halving the step
/// until it settles.
fn converged(integrand: impl Fn(f64) -> f64) -> Result<f64, StatsError> {
    let mut step = 0.5;
    let first = integrand(0.0);
    let end = reach(&integrand, first);
    let sum = |from: f64, step: f64| {
        let mut total = 0.0;
        let mut v = from;
        while v <= end {
            total += integrand(v);
            v += step;
        }
        total
    };
    let mut total = 0.5 * first + sum(step, step);
    for _ in 0..9 {
        let before = step * total;
        step *= 0.5;
        total += sum(step, 2.0 * step);
        let now = step * total;
        if (now - before).abs() <= SETTLED * now.abs() {
            return Ok(now);
        }
    }
    let reason = "its distribution cannot be integrated";
    Err(StatsError::Undefined { what: "the p-value of the Durbin-Watson statistic", reason })
}

/// Where the integrand has died away.
fn reach(integrand: &impl Fn(f64) -> f64, first: f64) -> f64 {
    let mut v = 1.0;
    let dead = |v: f64| integrand(v).abs() < 1e-14 * first.abs();
    // An oscillating integrand may cross zero, so two places in a row must be dead.
    while v < 60.0 && !(dead(v) && dead(v + 0.23)) {
        v += 0.5;
    }
    v
}

/// Orthonormal cosine transform, whose rows are the eigenvectors of A: constant, then
/// cos(pi j (i + 1/2) / n).
fn cosine_transform(vector: &[f64]) -> Vec<f64> {
    let n = vector.len();
    let period = 4 * n;
    let unit = std::f64::consts::TAU / period as f64;
    let table: Vec<f64> = (0..period).map(|k| (unit * k as f64).cos()).collect();
    (0..n)
        .map(|j| {
            let mut place = j;
            let mut sum = 0.0;
            for value in vector {
                sum += value * table[place];
                place += 2 * j;
                if place >= period {
                    place -= period;
                }
            }
            sum * if j == 0 { 1.0 } else { 2f64.sqrt() } / (n as f64).sqrt()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Columns, Normal};

    #[test]
    fn the_transform_is_orthonormal_and_makes_steps_diagonal() {
        let vector = [0.3, -1.0, 2.0, 0.7, 5.0, -2.0, 1.0];
        let found = cosine_transform(&vector);
        let squares = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        assert!((squares(&found) - squares(&vector)).abs() < 1e-12);
        let steps: f64 = vector.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum();
        let angle = std::f64::consts::PI / 7.0;
        let weighted: f64 =
            (0..7).map(|j| (2.0 - 2.0 * (angle * j as f64).cos()) * found[j].powi(2)).sum();
        assert!((weighted - steps).abs() < 1e-12);
    }

    #[test]
    fn three_residual_directions_agree_with_simulation() {
        // Steps and squares of 4 values less their mean, drawn by quantiles of a Sobol-like grid.
        let matrix = Columns::new(vec![vec![1.0; 4]]).unwrap();
        let decomposition = Orthogonal::new(&matrix);
        for statistic in [0.8, 1.7, 2.4, 3.1] {
            let found = lower_tail(&decomposition, statistic).unwrap();
            let (mut state, mut below, draws) = (9u64, 0u32, 200_000u32);
            let mut normal = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                Normal.quantile(((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64).unwrap()
            };
            for _ in 0..draws {
                let values: Vec<f64> = (0..4).map(|_| normal()).collect();
                let mean = values.iter().sum::<f64>() / 4.0;
                let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
                let steps: f64 = values.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum();
                below += u32::from(steps < statistic * squares);
            }
            // Four standard errors of the simulation.
            assert!((found - f64::from(below) / f64::from(draws)).abs() < 0.0045, "{found}");
        }
    }

    #[test]
    fn two_equal_pairs_of_eigenvalues_have_a_closed_form() {
        // Columns that leave the directions of eigenvalues a and b, each of two cosines, make the
        // statistic a mixture (a s + b t) / (s + t) with s / (s + t) uniform for one pair each.
        let n = 8;
        let cosine = |j: usize| -> Vec<f64> {
            let angle = std::f64::consts::PI * j as f64 / n as f64;
            (0..n).map(|i| (angle * (i as f64 + 0.5)).cos()).collect()
        };
        let value = |j: usize| 2.0 - 2.0 * (std::f64::consts::PI * j as f64 / n as f64).cos();
        // Left are the directions 3 and 5: the arcsine law for the share of one square of two.
        let model = [0, 1, 2, 4, 6, 7].map(cosine).to_vec();
        let decomposition = Orthogonal::new(&Columns::new(model).unwrap());
        for share in [0.2, 0.5, 0.7f64] {
            let statistic = value(3) + share * (value(5) - value(3));
            let expected = std::f64::consts::FRAC_2_PI * share.sqrt().asin();
            let found = lower_tail(&decomposition, statistic).unwrap();
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}
