//! Whether measured times could be exponential: the test of Anderson and Darling with the mean
//! estimated from the same times.

use serde::Serialize;
use trainwright_random::Random;

use crate::error::QueueingError;
use crate::simulations::times::check_times;

/// Samples drawn under the hypothesis.
const SIMULATIONS: u32 = 1999;

/// Largest sample that is drawn; the adjusted statistic hardly depends on the size beyond.
const LARGEST_DRAWN: usize = 500;

/// The test of Anderson and Darling against exponential times of unknown mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExponentialCheck {
    /// The statistic, adjusted for the number of times.
    pub statistic: f64,
    /// Probability of a statistic as large if the times were exponential.
    pub p: f64,
}

/// Tests whether times could be exponential; the seed decides the samples drawn.
///
/// The statistic is A2 (1 + 0.6 / n) (D'Agostino and Stephens, "Goodness-of-Fit Techniques",
/// section 4.9). Its distribution is drawn, 1999 times, instead of read from a table; a p-value
/// below 1 / 2000 is not told apart from 1 / 2000.
///
/// # Errors
/// Fewer than three times, or one that is not positive and finite.
pub fn exponential_check(times: &[f64], seed: u64) -> Result<ExponentialCheck, QueueingError> {
    check_times(times, "a check for exponential times", 3)?;
    let mut sorted = times.to_vec();
    let statistic = statistic(&mut sorted);
    let mut random = Random::new(seed);
    let size = times.len().min(LARGEST_DRAWN);
    let mut drawn = vec![0.0; size];
    let mut as_large = 0;
    for _ in 0..SIMULATIONS {
        drawn.iter_mut().for_each(|time| *time = random.exponential());
        as_large += u32::from(self::statistic(&mut drawn) >= statistic);
    }
    let p = f64::from(as_large + 1) / f64::from(SIMULATIONS + 1);
    Ok(ExponentialCheck { statistic, p })
}

/// The adjusted statistic; sorts the times.
fn statistic(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let count = times.len();
    let n = count as f64;
    let mean = times.iter().sum::<f64>() / n;
    // ln F(x) + ln(1 - F(y)) with F(x) = 1 - exp(-x / mean).
    let term = |index: usize| {
        let below = (-(-times[index] / mean).exp_m1()).max(f64::MIN_POSITIVE).ln();
        let above = -times[count - 1 - index] / mean;
        (2 * index + 1) as f64 * (below + above)
    };
    let sum: f64 = (0..count).map(term).sum();
    (-n - sum / n) * (1.0 + 0.6 / n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulations::times::Times;

    fn drawn(scv: f64, count: usize, seed: u64) -> Vec<f64> {
        let source = Times::with_scv(3.0, scv).unwrap();
        let mut random = Random::new(seed);
        (0..count).map(|_| source.draw(&mut random)).collect()
    }

    /// Upper points of the adjusted statistic: D'Agostino and Stephens, table 4.14.
    #[test]
    fn the_drawn_distribution_has_the_published_points() {
        let mut random = Random::new(8);
        for size in [10usize, 50, 500] {
            let mut found: Vec<f64> = (0..4000)
                .map(|_| {
                    let mut times: Vec<f64> = (0..size).map(|_| random.exponential()).collect();
                    statistic(&mut times)
                })
                .collect();
            found.sort_by(f64::total_cmp);
            for (part, published) in [(0.85, 0.916), (0.90, 1.062), (0.95, 1.321), (0.99, 1.959)] {
                let share = found.iter().filter(|own| **own <= published).count() as f64 / 4000.0;
                // Four standard errors of a share of 4000.
                let allowed = 4.0 * (part * (1.0 - part) / 4000.0f64).sqrt();
                assert!((share - part).abs() < allowed, "{size}: {share} where {part}");
            }
        }
    }

    #[test]
    fn p_values_are_uniform_for_exponential_times() {
        let p: Vec<f64> = (0..300)
            .map(|seed| exponential_check(&drawn(1.0, 40, seed), seed).unwrap().p)
            .collect();
        for limit in [0.1, 0.5, 0.9] {
            let share = p.iter().filter(|p| **p <= limit).count() as f64 / 300.0;
            assert!((share - limit).abs() < 4.0 * (limit * (1.0 - limit) / 300.0f64).sqrt());
        }
    }

    /// The one test that decides; another beside it would raise the rate.
    #[test]
    fn exponential_times_are_called_otherwise_at_the_stated_level_only() {
        let rejected = |size: usize, runs: u64| {
            let p = |seed| exponential_check(&drawn(1.0, size, 7000 + seed), seed).unwrap().p;
            (0..runs).filter(|&seed| p(seed) < 0.05).count()
        };
        // 20 of 400 and 3 of 60 are expected; four standard errors are 17 and 7.
        assert!((4..=37).contains(&rejected(20, 400)));
        assert!((4..=37).contains(&rejected(100, 400)));
        assert!(rejected(1000, 60) <= 10);
    }

    #[test]
    fn other_times_are_told_apart() {
        for scv in [0.0, 0.3, 4.0] {
            let found = exponential_check(&drawn(scv, 200, 3), 1).unwrap();
            assert!(found.p <= 0.001, "{scv}: {found:?}");
        }
        assert!(exponential_check(&[1.0, 2.0], 1).is_err());
        assert!(exponential_check(&[1.0, 2.0, 0.0], 1).is_err());
    }
}
