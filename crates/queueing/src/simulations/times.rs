//! Random times of a given mean and variation, or as measured.

use trainwright_random::Random;

use crate::error::QueueingError;
use crate::limits::{positive, scv};

/// Where the times between arrivals, or of service, come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    mean: f64,
    shape: Shape,
}

/// Distributions as multiples of what their fields say, not of the mean.
#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Fixed,
    Exponential,
    /// One stage fewer with a probability.
    Erlang {
        stages: u32,
        fewer: f64,
        stage_mean: f64,
    },
    /// One of two exponentials.
    Hyperexponential {
        first: f64,
        means: [f64; 2],
    },
    Measured(Vec<f64>),
}

impl Times {
    /// Times of this mean that never vary.
    ///
    /// # Errors
    /// The mean is not positive.
    pub fn fixed(mean: f64) -> Result<Self, QueueingError> {
        Ok(Self { mean: positive("mean time", mean)?, shape: Shape::Fixed })
    }

    /// Exponential times of this mean.
    ///
    /// # Errors
    /// The mean is not positive.
    pub fn exponential(mean: f64) -> Result<Self, QueueingError> {
        Ok(Self { mean: positive("mean time", mean)?, shape: Shape::Exponential })
    }

    /// Times of this mean and squared coefficient of variation: fixed at 0, exponential at 1,
    /// a mixture of two Erlang distributions below 1, of two exponentials of balanced means
    /// above (Tijms, "Stochastic Models", appendix B).
    ///
    /// # Errors
    /// The mean is not positive, or the variation is negative, or so small that it would take
    /// more than 1000 stages.
    pub fn with_scv(mean: f64, scv_times: f64) -> Result<Self, QueueingError> {
        let mean = positive("mean time", mean)?;
        let value = scv("variation of times (scv)", scv_times)?;
        if value > 0.0 && value < 0.001 {
            let range = "0, or at least 0.001";
            return Err(QueueingError::OutOfRange {
                what: "variation of times (scv)",
                value,
                range,
            });
        }
        let shape = if value <= 0.0 {
            Shape::Fixed
        } else if value < 1.0 {
            erlang(mean, value)
        } else if value > 1.0 {
            let first = 0.5 * (1.0 + ((value - 1.0) / (value + 1.0)).sqrt());
            let means = [0.5 * mean / first, 0.5 * mean / (1.0 - first)];
            Shape::Hyperexponential { first, means }
        } else {
            Shape::Exponential
        };
        Ok(Self { mean, shape })
    }

    /// Times drawn again and again from measured ones.
    ///
    /// # Errors
    /// No time, or one that is not positive and finite.
    pub fn measured(times: Vec<f64>) -> Result<Self, QueueingError> {
        check_times(&times, "a distribution of times", 1)?;
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        Ok(Self { mean: positive("mean time", mean)?, shape: Shape::Measured(times) })
    }

    /// The mean time.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    pub(crate) fn draw(&self, random: &mut Random) -> f64 {
        match &self.shape {
            Shape::Fixed => self.mean,
            Shape::Exponential => self.mean * random.exponential(),
            Shape::Erlang { stages, fewer, stage_mean } => {
                let stages = stages - u32::from(random.positive_unit() <= *fewer);
                stage_mean * (0..stages).map(|_| random.exponential()).sum::<f64>()
            }
            Shape::Hyperexponential { first, means: [a, b] } => {
                let mean = if random.positive_unit() <= *first { a } else { b };
                mean * random.exponential()
            }
            Shape::Measured(times) => times[random.index(times.len())],
        }
    }
}

/// k or k - 1 stages, where 1/k <= scv < 1/(k - 1).
fn erlang(mean: f64, scv: f64) -> Shape {
    // The slack keeps 1/3 at three stages.
    let stages = (1.0 / scv - 1e-9).ceil().max(2.0);
    let root = (stages * (1.0 + scv) - stages * stages * scv).max(0.0).sqrt();
    let fewer = ((stages * scv - root) / (1.0 + scv)).max(0.0);
    Shape::Erlang { stages: stages as u32, fewer, stage_mean: mean / (stages - fewer) }
}

/// Refuses too few times, and any that is not positive or so small or large that its square is no
/// number.
pub(crate) fn check_times(
    times: &[f64],
    what: &'static str,
    needed: usize,
) -> Result<(), QueueingError> {
    if times.len() < needed {
        return Err(QueueingError::TooFew { what, needed, found: times.len() });
    }
    match (1..).zip(times).find(|(_, time)| !(time.is_finite() && **time > 0.0)) {
        Some((position, &value)) => Err(QueueingError::BadTime { position, value }),
        // Squares of times must be numbers too.
        None => times.iter().try_for_each(|&time| positive("measured time", time).map(|_| ())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::mean_and_variance;

    #[test]
    fn mean_and_variation_are_those_asked_for() {
        for scv in [0.0, 0.02, 0.2, 1.0 / 3.0, 0.45, 0.5, 0.8, 1.0, 1.5, 4.0] {
            let times = Times::with_scv(2.5, scv).unwrap();
            let mut random = Random::new(11);
            let drawn: Vec<f64> = (0..400_000).map(|_| times.draw(&mut random)).collect();
            let (mean, variance) = mean_and_variance(&drawn);
            assert!((mean / 2.5 - 1.0).abs() < 0.015, "{scv}: mean {mean}");
            let found = variance / (mean * mean);
            // Fourth moments grow with the variation; 5 % is over four standard errors here.
            assert!((found - scv).abs() <= 0.05 * scv, "{scv}: {found}");
        }
    }

    #[test]
    fn faulty_times_are_named() {
        let error = Times::measured(vec![1.0, f64::NAN]).unwrap_err();
        assert!(error.to_string().starts_with("measured time 2 is NaN"), "{error}");
        assert!(Times::measured(Vec::new()).is_err());
        let error = Times::measured(vec![1.0, 1e-120]).unwrap_err();
        assert!(error.to_string().contains("between 1e-100 and 1e100"), "{error}");
        assert!(Times::with_scv(1.0, 1e-4).is_err() && Times::with_scv(1.0, -1.0).is_err());
        assert!(Times::fixed(0.0).is_err() && Times::exponential(-1.0).is_err());
    }
}
