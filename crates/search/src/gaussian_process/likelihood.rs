//! How well hyper-parameters agree with values and with what was believed of them.
//!
//! Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section 5.4.1. The
//! constant mean is not searched: for given hyper-parameters its best value is known, and at the
//! best value small changes of it change nothing, so that slopes need not know of it either.

use super::cholesky::{Cholesky, dot};
use super::hyper_parameters::{HyperParameters, Priors};
use super::kernel::{Distance, Pairs};

/// Precision of the constant mean before values are seen: scaled values have variance 1.
const MEAN_PRECISION: f64 = 1.0;

/// Points with values of mean about 0 and variance about 1.
#[derive(Debug, Clone)]
pub(super) struct Likelihood {
    pairs: Pairs,
    dimensions: usize,
    values: Vec<f64>,
    /// Measurements behind each value.
    counts: Vec<f64>,
    priors: Priors,
}

/// What some hyper-parameters make of the values.
#[derive(Debug, Clone)]
pub(super) struct Solved {
    pub(super) factor: Cholesky,
    /// The inverse of the covariances times the values less their mean.
    pub(super) weights: Vec<f64>,
    pub(super) mean: f64,
    pub(super) log_density: f64,
}

impl Likelihood {
    pub(super) fn new(
        points: &[Vec<f64>],
        distances: &[Distance],
        values: Vec<f64>,
        counts: Vec<f64>,
        priors: Priors,
    ) -> Self {
        let pairs = Pairs::of(points, distances);
        Self { pairs, dimensions: distances.len(), values, counts, priors }
    }

    pub(super) fn start(&self) -> Vec<f64> {
        self.priors.start(self.dimensions)
    }

    /// The logarithm of likelihood times priors; minus infinity where there is no such process.
    pub(super) fn log_density(&self, logarithms: &[f64]) -> f64 {
        self.solve(logarithms).map_or(f64::NEG_INFINITY, |solved| solved.log_density)
    }

    pub(super) fn solve(&self, logarithms: &[f64]) -> Option<Solved> {
        let own = self.bounded(logarithms)?;
        let correlations = self.pairs.correlations(&own.lengths);
        self.solve_with(logarithms, &own, &correlations)
    }

    /// The log density and its slopes along the logarithms.
    pub(super) fn with_slopes(&self, logarithms: &[f64]) -> Option<(f64, Vec<f64>)> {
        let own = self.bounded(logarithms)?;
        let (correlations, steepness) = self.pairs.correlations_and_slopes(&own.lengths);
        let solved = self.solve_with(logarithms, &own, &correlations)?;
        let inverse = solved.factor.inverse();
        // Twice the slope of the log likelihood along each covariance, off the diagonal.
        let mut pull = Vec::with_capacity(correlations.len());
        let (mut amplitude, mut noise) = (0.0, 0.0);
        let mut place = 0;
        for (row, weight) in solved.weights.iter().enumerate() {
            for (column, other) in solved.weights[..row].iter().enumerate() {
                pull.push(weight * other - inverse[place + column]);
            }
            let diagonal = weight * weight - inverse[place + row];
            amplitude += 0.5 * diagonal * own.amplitude;
            noise += 0.5 * diagonal * own.noise / self.counts[row];
            place += row + 1;
        }
        amplitude += own.amplitude * dot(&pull, &correlations);
        pull.iter_mut().zip(&steepness).for_each(|(own, slope)| *own *= slope);
        let mut slopes: Vec<f64> = own
            .lengths
            .iter()
            .enumerate()
            .map(|(dimension, length)| {
                own.amplitude * dot(&pull, self.pairs.dimension(dimension)) / (length * length)
            })
            .collect();
        slopes.extend([amplitude, noise]);
        for (place, slope) in slopes.iter_mut().enumerate() {
            *slope += self.priors.at(place, self.dimensions).slope(logarithms[place]);
        }
        Some((solved.log_density, slopes))
    }

    /// The hyper-parameters, unless they are out of all bounds.
    fn bounded(&self, logarithms: &[f64]) -> Option<HyperParameters> {
        // e^20 of anything here is far beyond belief; larger numbers only overflow.
        let sane = logarithms.iter().all(|own| own.abs() < 20.0);
        let mut own = sane.then(|| HyperParameters::of_logarithms(logarithms))?;
        own.noise = own.noise.max(self.priors.least_noise);
        Some(own)
    }

    fn solve_with(
        &self,
        logarithms: &[f64],
        own: &HyperParameters,
        correlations: &[f64],
    ) -> Option<Solved> {
        let log_prior: f64 = logarithms
            .iter()
            .enumerate()
            .map(|(place, &at)| self.priors.at(place, self.dimensions).log_density(at))
            .sum();
        if log_prior == f64::NEG_INFINITY {
            return None;
        }
        let size = self.pairs.points();
        let mut packed = Vec::with_capacity(size * (size + 1) / 2);
        for row in 0..size {
            let start = row * row.saturating_sub(1) / 2;
            packed.extend(correlations[start..start + row].iter().map(|c| own.amplitude * c));
            packed.push(own.amplitude + own.noise / self.counts[row]);
        }
        let factor = Cholesky::of(&packed)?;
        let (mean, weights) = mean_and_weights(&factor, &self.values);
        let residuals: f64 =
            self.values.iter().zip(&weights).map(|(value, weight)| (value - mean) * weight).sum();
        let log_density =
            log_prior - 0.5 * (residuals + factor.log_determinant() + MEAN_PRECISION * mean * mean);
        log_density.is_finite().then_some(Solved { factor, weights, mean, log_density })
    }
}

/// The best constant mean of values with these covariances, and the inverse of the covariances
/// times what the values have beyond it.
pub(super) fn mean_and_weights(factor: &Cholesky, values: &[f64]) -> (f64, Vec<f64>) {
    let mut ones = vec![1.0; values.len()];
    factor.solve_lower(&mut ones);
    let mut rotated = values.to_vec();
    factor.solve_lower(&mut rotated);
    let mean = dot(&ones, &rotated) / (dot(&ones, &ones) + MEAN_PRECISION);
    rotated.iter_mut().zip(&ones).for_each(|(own, one)| *own -= mean * one);
    factor.solve_upper(&mut rotated);
    (mean, rotated)
}

#[cfg(test)]
pub(super) mod tests {
    use trainwright_random::Random;

    use super::*;

    pub(in crate::gaussian_process) fn example(points: usize, seed: u64) -> Likelihood {
        let mut random = Random::new(seed);
        let places: Vec<Vec<f64>> = (0..points)
            .map(|_| vec![random.unit(), random.unit(), random.below(3) as f64])
            .collect();
        let value = |at: &Vec<f64>| (6.0 * at[0]).sin() + at[1] * at[1] - 0.3 * at[2];
        let values = places.iter().map(value).collect();
        let counts = (0..points).map(|place| 1.0 + (place % 3) as f64).collect();
        let distances = [Distance::Difference, Distance::Difference, Distance::Mismatch];
        Likelihood::new(&places, &distances, values, counts, Priors::standard(3))
    }

    #[test]
    fn slopes_are_what_differences_give() {
        let own = example(12, 7);
        for shift in [0.0, -0.4, 0.7] {
            let at: Vec<f64> = own.start().iter().map(|start| start + shift).collect();
            let (density, slopes) = own.with_slopes(&at).unwrap();
            assert!((density - own.log_density(&at)).abs() < 1e-10);
            for (place, slope) in slopes.iter().enumerate() {
                let moved = |by: f64| {
                    let mut moved = at.clone();
                    moved[place] += by;
                    own.log_density(&moved)
                };
                let rise = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(
                    (rise - slope).abs() < 1e-4 * (1.0 + slope.abs()),
                    "{place}: {rise} {slope}"
                );
            }
        }
    }

    #[test]
    fn senseless_hyper_parameters_have_no_density() {
        let own = example(5, 1);
        assert_eq!(own.log_density(&[0.0, 0.0, 0.0, 0.0, 50.0]), f64::NEG_INFINITY);
        assert_eq!(own.log_density(&[f64::NAN; 5]), f64::NEG_INFINITY);
    }
}
