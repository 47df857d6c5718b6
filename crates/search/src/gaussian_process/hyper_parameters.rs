//! What a Gaussian process assumes before it sees values, and what is believed of that.

use std::f64::consts::PI;

/// Lengths, amplitude and noise of a Gaussian process over scaled values.
#[derive(Debug, Clone, PartialEq)]
pub struct HyperParameters {
    /// How far one must go along each dimension for values to differ.
    pub lengths: Vec<f64>,
    /// Variance of the function.
    pub amplitude: f64,
    /// Variance of one measurement about the function.
    pub noise: f64,
}

impl HyperParameters {
    /// Their logarithms: lengths, amplitude, noise.
    pub(super) fn logarithms(&self) -> Vec<f64> {
        let all = self.lengths.iter().chain([&self.amplitude, &self.noise]);
        all.map(|own| own.ln()).collect()
    }

    pub(super) fn of_logarithms(logarithms: &[f64]) -> Self {
        let (lengths, rest) = logarithms.split_at(logarithms.len() - 2);
        Self {
            lengths: lengths.iter().map(|own| own.exp()).collect(),
            amplitude: rest[0].exp(),
            noise: rest[1].exp(),
        }
    }
}

/// What is believed of a positive number before any value is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prior {
    /// Its logarithm is normal.
    LogNormal {
        /// Mean of the logarithm.
        mean: f64,
        /// Standard deviation of the logarithm.
        deviation: f64,
    },
    /// All values from 0 to `most` are as likely.
    TopHat {
        /// The largest value.
        most: f64,
    },
    /// Near 0, with a long tail (Carvalho, Polson and Scott, "The horseshoe estimator for sparse
    /// signals", 2010, by its tight bounds).
    Horseshoe {
        /// Where the tail begins.
        scale: f64,
    },
}

impl Prior {
    /// The logarithm of the density of the logarithm of a value, up to a constant.
    pub(super) fn log_density(self, logarithm: f64) -> f64 {
        match self {
            Self::LogNormal { mean, deviation } => {
                let z = (logarithm - mean) / deviation;
                -0.5 * z * z - deviation.ln() - 0.5 * (2.0 * PI).ln()
            }
            Self::TopHat { most } if logarithm <= most.ln() => logarithm,
            Self::TopHat { .. } => f64::NEG_INFINITY,
            Self::Horseshoe { scale } => {
                let ratio = scale / logarithm.exp();
                (ratio * ratio).ln_1p().ln() + logarithm
            }
        }
    }

    /// The slope of the log density.
    pub(super) fn slope(self, logarithm: f64) -> f64 {
        match self {
            Self::LogNormal { mean, deviation } => (mean - logarithm) / (deviation * deviation),
            Self::TopHat { .. } => 1.0,
            Self::Horseshoe { scale } => {
                let ratio = scale / logarithm.exp();
                let square = ratio * ratio;
                1.0 - 2.0 * square / ((1.0 + square) * square.ln_1p())
            }
        }
    }

    /// A believable value to begin with.
    pub(super) fn start(self) -> f64 {
        match self {
            Self::LogNormal { mean, .. } => mean.exp(),
            Self::TopHat { most } => most / 2.0,
            Self::Horseshoe { scale } => scale / 10.0,
        }
    }
}

/// What is believed of all hyper-parameters of a Gaussian process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Priors {
    /// Of each length.
    pub length: Prior,
    /// Of the amplitude.
    pub amplitude: Prior,
    /// Of the noise.
    pub noise: Prior,
    /// The least noise, which keeps matrices regular.
    pub least_noise: f64,
}

impl Priors {
    /// For points of the unit cube and values of mean 0 and variance 1.
    ///
    /// Lengths grow with the root of the number of dimensions, as distances do (Hvarfner, Hellsten
    /// and Nardi, "Vanilla Bayesian optimization performs great in high dimensions", 2024).
    pub fn standard(dimensions: usize) -> Self {
        let mean = (0.4 * (dimensions.max(1) as f64).sqrt()).ln();
        Self {
            length: Prior::LogNormal { mean, deviation: 1.0 },
            amplitude: Prior::LogNormal { mean: 0.0, deviation: 1.0 },
            noise: Prior::LogNormal { mean: 1e-4_f64.ln(), deviation: 3.0 },
            least_noise: 1e-6,
        }
    }

    /// Those of Spearmint, which CherryPick used: any length up to 2, a log-normal amplitude, a
    /// horseshoe for the noise.
    pub fn spearmint() -> Self {
        Self {
            length: Prior::TopHat { most: 2.0 },
            amplitude: Prior::LogNormal { mean: 0.0, deviation: 1.0 },
            noise: Prior::Horseshoe { scale: 0.1 },
            least_noise: 1e-6,
        }
    }

    /// Of the hyper-parameter at a place of the list of logarithms.
    pub(super) fn at(&self, place: usize, dimensions: usize) -> Prior {
        match place.checked_sub(dimensions) {
            None => self.length,
            Some(0) => self.amplitude,
            Some(_) => self.noise,
        }
    }

    pub(super) fn start(&self, dimensions: usize) -> Vec<f64> {
        (0..dimensions + 2).map(|place| self.at(place, dimensions).start().ln()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_what_differences_give() {
        let priors = [
            Prior::LogNormal { mean: -1.0, deviation: 2.0 },
            Prior::TopHat { most: 2.0 },
            Prior::Horseshoe { scale: 0.1 },
        ];
        for prior in priors {
            for at in [-6.0, -2.0, 0.3] {
                let rise = prior.log_density(at + 1e-5) - prior.log_density(at - 1e-5);
                assert!((rise / 2e-5 - prior.slope(at)).abs() < 1e-6, "{prior:?} at {at}");
            }
        }
    }

    #[test]
    fn nothing_beyond_the_hat_is_believed() {
        let hat = Prior::TopHat { most: 2.0 };
        assert_eq!(hat.log_density(2.1_f64.ln()), f64::NEG_INFINITY);
        assert!(hat.log_density(1.9_f64.ln()).is_finite());
    }

    #[test]
    fn logarithms_are_read_back() {
        let own = HyperParameters { lengths: vec![0.5, 2.0], amplitude: 3.0, noise: 1e-3 };
        let again = HyperParameters::of_logarithms(&own.logarithms());
        for (a, b) in own.logarithms().iter().zip(again.logarithms()) {
            assert!((a - b).abs() < 1e-14);
        }
    }
}
