//! The full quadratic in coded units.

use std::collections::BTreeMap;

use trainwright_stats::{lack_of_fit, sample};
use trainwright_study::Scale;

use super::{SurfaceFactor, SurfaceProblem, SurfaceTerm};
use crate::error::AnalysisError;
use crate::questions::curve::Curve;

/// A fitted quadratic and the region it was fitted in.
pub(super) struct Quadratic {
    pub(super) factors: Vec<SurfaceFactor>,
    pub(super) curve: Curve,
    /// Coded points, one an observation.
    pub(super) points: Vec<Vec<f64>>,
    /// Largest distance of a point from the centre.
    pub(super) radius: f64,
}

/// Values of all terms at a coded point: 1, each factor, each pair, each square.
pub(super) fn row(x: &[f64]) -> Vec<f64> {
    let mut row = vec![1.0];
    row.extend(x);
    row.extend(pairs(x.len()).map(|(i, j)| x[i] * x[j]));
    row.extend(x.iter().map(|v| v * v));
    row
}

fn pairs(factors: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..factors).flat_map(move |i| (i + 1..factors).map(move |j| (i, j)))
}

impl Quadratic {
    pub(super) fn fit(problem: &SurfaceProblem) -> Result<Self, AnalysisError> {
        let factors = factors(problem)?;
        let code = |point: &Vec<f64>| -> Vec<f64> {
            factors.iter().zip(point).map(|(factor, v)| factor.code(*v)).collect()
        };
        let points: Vec<Vec<f64>> = problem.points.iter().map(code).collect();
        let rows: Vec<Vec<f64>> = points.iter().map(|x| row(x)).collect();
        let terms = rows[0].len();
        let different: usize = cells(&points).into_iter().max().map_or(0, |last| last + 1);
        let refused =
            || AnalysisError::NoSurface { factors: problem.names.join(", "), terms, different };
        if different < terms {
            return Err(refused());
        }
        let stats = |source| AnalysisError::Stats { response: problem.response.clone(), source };
        let columns = (0..terms).map(|j| rows.iter().map(|r| r[j]).collect()).collect();
        let curve = Curve::fit(columns, &problem.y).map_err(stats)?.ok_or_else(refused)?;
        let length = |x: &Vec<f64>| x.iter().map(|v| v * v).sum::<f64>().sqrt();
        let radius = points.iter().map(length).fold(0.0, f64::max);
        Ok(Self { factors, curve, points, radius })
    }

    /// Slopes at the centre.
    pub(super) fn slopes(&self) -> &[f64] {
        &self.curve.coefficients[1..=self.factors.len()]
    }

    /// The quadratic part as a symmetric matrix.
    pub(super) fn matrix(&self) -> Vec<Vec<f64>> {
        let k = self.factors.len();
        let mut matrix = vec![vec![0.0; k]; k];
        let coefficients = &self.curve.coefficients;
        for (place, (i, j)) in pairs(k).enumerate() {
            let half = 0.5 * coefficients[1 + k + place];
            (matrix[i][j], matrix[j][i]) = (half, half);
        }
        for (i, own) in matrix.iter_mut().enumerate() {
            own[i] = coefficients[coefficients.len() - k + i];
        }
        matrix
    }

    /// Weights of the coefficients that give the curvature along a direction.
    pub(super) fn curvature_weights(&self, direction: &[f64]) -> Vec<f64> {
        let mut weights = row(direction);
        weights[..=direction.len()].fill(0.0);
        weights
    }

    /// A coded point in natural units.
    pub(super) fn natural(&self, coded: &[f64]) -> Vec<f64> {
        self.factors.iter().zip(coded).map(|(factor, x)| factor.decode(*x)).collect()
    }

    /// Whether a coded point lies in the region tried.
    pub(super) fn holds(&self, coded: &[f64]) -> bool {
        let length = coded.iter().map(|v| v * v).sum::<f64>().sqrt();
        coded.iter().all(|v| v.abs() <= 1.0 + 1e-9) && length <= self.radius + 1e-9
    }

    pub(super) fn terms(&self) -> Vec<SurfaceTerm> {
        let name = |i: usize| self.factors[i].name.as_str();
        let k = self.factors.len();
        let mut names = vec!["(Intercept)".to_owned()];
        names.extend((0..k).map(|i| name(i).to_owned()));
        names.extend(pairs(k).map(|(i, j)| format!("{}:{}", name(i), name(j))));
        names.extend((0..k).map(|i| format!("{}^2", name(i))));
        let term = |(place, term): (usize, String)| {
            let mut unit = vec![0.0; self.curve.coefficients.len()];
            unit[place] = 1.0;
            let found = self.curve.combine(&unit);
            SurfaceTerm {
                term,
                estimate: found.value,
                std_error: found.std_error,
                p: self.curve.p(&unit),
            }
        };
        names.into_iter().enumerate().map(term).collect()
    }

    pub(super) fn lack_of_fit(&self, y: &[f64]) -> Option<f64> {
        let squares: f64 = self.curve.fitted.iter().zip(y).map(|(f, y)| (y - f).powi(2)).sum();
        lack_of_fit(y, &cells(&self.points), squares, self.curve.df).ok().and_then(|found| found.p)
    }
}

/// Number of each point among the different ones.
fn cells(points: &[Vec<f64>]) -> Vec<usize> {
    let mut seen: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    points
        .iter()
        .map(|point| {
            let next = seen.len();
            // Zero has two patterns of bits.
            let key = point.iter().map(|v| (v + 0.0).to_bits()).collect();
            *seen.entry(key).or_insert(next)
        })
        .collect()
}

fn factors(problem: &SurfaceProblem) -> Result<Vec<SurfaceFactor>, AnalysisError> {
    let factor = |(place, name): (usize, &String)| {
        let values = problem.points.iter().map(|point| point[place]);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        if low >= high {
            return Err(AnalysisError::OneLevel { by: name.clone(), level: low.to_string() });
        }
        let factor = SurfaceFactor { name: name.clone(), scale: problem.scales[place], low, high };
        let (low, high) = factor.ends();
        sample::check(&[low, high], "the range of a factor", 2)
            .map_err(|source| AnalysisError::Stats { response: name.clone(), source })?;
        Ok(factor)
    };
    problem.names.iter().enumerate().map(factor).collect()
}

impl SurfaceFactor {
    fn ends(&self) -> (f64, f64) {
        (self.scale.position(self.low), self.scale.position(self.high))
    }

    fn code(&self, value: f64) -> f64 {
        let (low, high) = self.ends();
        (2.0 * self.scale.position(value) - low - high) / (high - low)
    }

    fn decode(&self, coded: f64) -> f64 {
        let (low, high) = self.ends();
        let position = 0.5 * (low + high) + 0.5 * coded * (high - low);
        match self.scale {
            Scale::Linear => position,
            Scale::Log => position.exp(),
            Scale::Log2 => position.exp2(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn factor(scale: Scale, low: f64, high: f64) -> SurfaceFactor {
        SurfaceFactor { name: "p".to_owned(), scale, low, high }
    }

    #[test]
    fn the_middle_of_a_factor_is_that_of_its_scale() {
        assert!((factor(Scale::Linear, 2.0, 8.0).decode(0.0) - 5.0).abs() < 1e-12);
        assert!((factor(Scale::Log, 2.0, 8.0).decode(0.0) - 4.0).abs() < 1e-12);
        assert!((factor(Scale::Log2, 2.0, 8.0).decode(0.5) - 4.0 * 2f64.sqrt()).abs() < 1e-12);
        assert!((factor(Scale::Log2, 2.0, 8.0).code(8.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn terms_stand_in_one_order() {
        assert_eq!(row(&[2.0, 3.0]), [1.0, 2.0, 3.0, 6.0, 4.0, 9.0]);
        assert_eq!(pairs(3).collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(cells(&[vec![0.0, 1.0], vec![2.0, 1.0], vec![-0.0, 1.0]]), [0, 1, 0]);
    }

    proptest! {
        #[test]
        fn coding_is_undone_on_every_scale(
            low in 0.01f64..10.0, ratio in 1.1f64..100.0, share in 0.0f64..1.0, kind in 0usize..3,
        ) {
            let own = factor([Scale::Linear, Scale::Log, Scale::Log2][kind], low, low * ratio);
            let value = low + share * (own.high - own.low);
            let coded = own.code(value);
            prop_assert!((-1.0 - 1e-9..=1.0 + 1e-9).contains(&coded));
            prop_assert!((own.decode(coded) - value).abs() <= 1e-9 * value);
        }
    }
}
