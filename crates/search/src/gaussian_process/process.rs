//! A Gaussian process over measured points: what is expected elsewhere, and how surely.
//!
//! Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, algorithm 2.1.

use super::cholesky::Cholesky;
use super::hyper_parameters::{HyperParameters, Priors};
use super::kernel::{Distance, correlation};
use super::likelihood::{Likelihood, mean_and_weights};
use super::{ascent, likelihood};

/// Points that are judged side by side.
const LANES: usize = 8;
/// Noise where the second climb begins: a third of the variance of all values.
const NOISY: f64 = 0.3;
/// Steps of the climb to the best hyper-parameters; it has levelled off before.
const MOST_STEPS: usize = 25;

/// Points with what was measured there.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// How far values of each dimension are apart.
    pub distances: Vec<Distance>,
    /// Places, one number a dimension.
    pub points: Vec<Vec<f64>>,
    /// The mean of what was measured at each point.
    pub values: Vec<f64>,
    /// How many measurements are behind each mean.
    pub counts: Vec<u32>,
}

impl Measured {
    /// Mean and standard deviation of the values; 1 where they do not differ.
    fn scale(&self) -> (f64, f64) {
        let count = self.values.len().max(1) as f64;
        let centre = self.values.iter().sum::<f64>() / count;
        let squares = self.values.iter().map(|own| (own - centre) * (own - centre)).sum::<f64>();
        let spread = (squares / count).sqrt();
        (centre, if spread > 0.0 { spread } else { 1.0 })
    }

    fn scaled(&self, (centre, spread): (f64, f64)) -> Vec<f64> {
        self.values.iter().map(|own| (own - centre) / spread).collect()
    }

    pub(super) fn likelihood(&self, priors: Priors) -> Likelihood {
        let counts = self.counts.iter().map(|own| f64::from(*own)).collect();
        Likelihood::new(&self.points, &self.distances, self.scaled(self.scale()), counts, priors)
    }
}

/// What is expected at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    /// The value expected of the function.
    pub mean: f64,
    /// Its standard deviation, without the noise of a measurement.
    pub deviation: f64,
}

/// A Gaussian process with known hyper-parameters that has seen measured points.
///
/// ```
/// use trainwright_search::gaussian_process::{Distance, GaussianProcess, Measured, Priors};
///
/// let measured = Measured {
///     distances: vec![Distance::Difference],
///     points: vec![vec![0.0], vec![0.5], vec![1.0]],
///     values: vec![1.0, 0.0, 1.0],
///     counts: vec![1, 1, 1],
/// };
/// let process = GaussianProcess::fit(&measured, Priors::standard(1)).expect("a regular matrix");
/// let known = process.posterior(&[0.5]);
/// let unknown = process.posterior(&[0.25]);
/// assert!(known.mean < unknown.mean && known.deviation < unknown.deviation);
/// ```
#[derive(Debug, Clone)]
pub struct GaussianProcess {
    distances: Vec<Distance>,
    points: Vec<Vec<f64>>,
    hyper_parameters: HyperParameters,
    factor: Cholesky,
    weights: Vec<f64>,
    /// Values less their centre, in spreads.
    values: Vec<f64>,
    mean: f64,
    centre: f64,
    spread: f64,
}

impl GaussianProcess {
    /// The process with the most believable hyper-parameters; nothing where no matrix of theirs
    /// is regular.
    pub fn fit(measured: &Measured, priors: Priors) -> Option<Self> {
        let likelihood = measured.likelihood(priors);
        let (best, _) = best(&likelihood)?;
        Self::at(measured, &likelihood, &best, priors)
    }

    /// The process with these hyper-parameters, amplitude and noise of values of variance 1.
    pub fn with(measured: &Measured, own: &HyperParameters, priors: Priors) -> Option<Self> {
        Self::at(measured, &measured.likelihood(priors), &own.logarithms(), priors)
    }

    pub(super) fn at(
        measured: &Measured,
        likelihood: &Likelihood,
        logarithms: &[f64],
        priors: Priors,
    ) -> Option<Self> {
        let likelihood::Solved { factor, weights, mean, .. } = likelihood.solve(logarithms)?;
        let (centre, spread) = measured.scale();
        let mut hyper_parameters = HyperParameters::of_logarithms(logarithms);
        hyper_parameters.noise = hyper_parameters.noise.max(priors.least_noise);
        Some(Self {
            distances: measured.distances.clone(),
            points: measured.points.clone(),
            hyper_parameters,
            factor,
            weights,
            values: measured.scaled((centre, spread)),
            mean,
            centre,
            spread,
        })
    }

    /// Its hyper-parameters, for values of variance 1.
    pub fn hyper_parameters(&self) -> &HyperParameters {
        &self.hyper_parameters
    }

    /// Standard deviation of one measurement about the function.
    pub fn noise_deviation(&self) -> f64 {
        self.hyper_parameters.noise.sqrt() * self.spread
    }

    /// What is expected at a point.
    pub fn posterior(&self, point: &[f64]) -> Posterior {
        self.posteriors(std::slice::from_ref(&point))[0]
    }

    /// What is expected at each of many points.
    pub fn posteriors<P: AsRef<[f64]>>(&self, points: &[P]) -> Vec<Posterior> {
        let mut found = Vec::with_capacity(points.len());
        let mut covariances = vec![[0.0; LANES]; self.points.len()];
        for block in points.chunks(LANES) {
            self.covariances(block, &mut covariances);
            let mut means = [self.mean; LANES];
            for (row, weight) in covariances.iter().zip(&self.weights) {
                for lane in 0..LANES {
                    means[lane] += row[lane] * weight;
                }
            }
            let known = self.known(&mut covariances);
            let lanes = means.iter().zip(&known).take(block.len());
            found.extend(lanes.map(|(mean, known)| {
                let variance = (self.hyper_parameters.amplitude - known).max(0.0);
                Posterior {
                    mean: self.centre + self.spread * mean,
                    deviation: self.spread * variance.sqrt(),
                }
            }));
        }
        found
    }

    /// Takes for granted that a trial under way will give what is expected of it, so that others
    /// go elsewhere (Ginsbourger, Le Riche and Carraro, "Kriging is well-suited to parallelize
    /// optimization", 2010). The matrix grows by a row and is not factored anew.
    pub fn believe(&mut self, point: &[f64]) {
        let expected = (self.posterior(point).mean - self.centre) / self.spread;
        let lengths = &self.hyper_parameters.lengths;
        let amplitude = self.hyper_parameters.amplitude;
        let row: Vec<f64> = self
            .points
            .iter()
            .map(|own| {
                let squared = own.iter().zip(point).zip(lengths).zip(&self.distances).map(
                    |(((a, b), length), distance)| distance.squared(*a, *b) / (length * length),
                );
                amplitude * correlation(squared.sum())
            })
            .collect();
        let diagonal = amplitude + self.hyper_parameters.noise;
        // A point that adds nothing new to an almost singular matrix is known already.
        if self.factor.extend(&row, diagonal).is_none() {
            return;
        }
        self.points.push(point.to_vec());
        self.values.push(expected);
        (self.mean, self.weights) = mean_and_weights(&self.factor, &self.values);
    }

    /// Covariances of the measured points with a block of others; lanes without a point stay as
    /// they were.
    fn covariances<P: AsRef<[f64]>>(&self, block: &[P], found: &mut [[f64; LANES]]) {
        let HyperParameters { lengths, amplitude, .. } = &self.hyper_parameters;
        let weights: Vec<f64> = lengths.iter().map(|length| 1.0 / (length * length)).collect();
        let dimensions = self.distances.len();
        let mut coordinates = vec![[0.0; LANES]; dimensions];
        for (lane, point) in block.iter().enumerate() {
            for (own, coordinate) in coordinates.iter_mut().zip(point.as_ref()) {
                own[lane] = *coordinate;
            }
        }
        for (point, row) in self.points.iter().zip(found) {
            let mut squared = [0.0; LANES];
            for dimension in 0..dimensions {
                let (own, others) = (point[dimension], &coordinates[dimension]);
                let (weight, distance) = (weights[dimension], self.distances[dimension]);
                for lane in 0..LANES {
                    squared[lane] += weight * distance.squared(own, others[lane]);
                }
            }
            for lane in 0..LANES {
                row[lane] = amplitude * correlation(squared[lane]);
            }
        }
    }

    /// How much of the variance at each point of a block the measured points take away.
    fn known(&self, covariances: &mut [[f64; LANES]]) -> [f64; LANES] {
        let mut sums = [0.0; LANES];
        for index in 0..self.factor.size() {
            let row = self.factor.row(index);
            let (before, rest) = covariances.split_at_mut(index);
            let own = &mut rest[0];
            for (factor, other) in row.iter().zip(before.iter()) {
                for lane in 0..LANES {
                    own[lane] -= factor * other[lane];
                }
            }
            for lane in 0..LANES {
                own[lane] /= row[index];
                sums[lane] += own[lane] * own[lane];
            }
        }
        sums
    }
}

/// The most believable hyper-parameters, as logarithms, and their log density.
pub(super) fn best(likelihood: &Likelihood) -> Option<(Vec<f64>, f64)> {
    let hill = |at: &[f64]| likelihood.with_slopes(at);
    // Values may be explained by short lengths or by noise; the climb finds the nearer of the two
    // hills, so that it begins once on the side of each.
    let quiet = likelihood.start();
    let mut noisy = quiet.clone();
    if let Some(noise) = noisy.last_mut() {
        *noise = NOISY.ln();
    }
    let climbs = [quiet, noisy].map(|start| ascent::climb(&hill, &start, MOST_STEPS));
    climbs.into_iter().flatten().max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests;
