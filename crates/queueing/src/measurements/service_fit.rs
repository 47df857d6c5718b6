//! Rate and variation of measured service times, with intervals.

use serde::Serialize;
use trainwright_random::Random;

use crate::error::QueueingError;
use crate::interval::{Interval, mean_and_variance, sorted_quantile};
use crate::simulations::times::check_times;

const CONFIDENCE: f64 = 0.95;
const RESAMPLES: usize = 2000;

/// What measured service times say about a server, with 95 % intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ServiceFit {
    /// Times measured.
    pub count: usize,
    /// Mean time, with Student's interval.
    pub mean: Interval,
    /// Jobs that a busy server ends in a unit of time: 1 / mean.
    pub rate: f64,
    /// Sample variance over squared mean, with the percentile interval of the bootstrap.
    pub scv: Interval,
}

/// Rate and variation of service times; the seed decides the bootstrap's resamples.
///
/// The bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap", chapter 13) is
/// optimistic for few, heavy-tailed times: rare long ones that were not seen are not in it.
///
/// # Errors
/// Fewer than three times, or one that is not positive and finite.
pub fn fit_service(times: &[f64], seed: u64) -> Result<ServiceFit, QueueingError> {
    check_times(times, "a fit of service times", 3)?;
    let mean = Interval::of_mean(times, CONFIDENCE);
    let mut random = Random::new(seed);
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let again: Vec<f64> = times.iter().map(|_| times[random.index(times.len())]).collect();
            variation(&again)
        })
        .collect();
    resampled.sort_by(f64::total_cmp);
    let tail = 0.5 * (1.0 - CONFIDENCE);
    let scv = Interval {
        estimate: variation(times),
        low: sorted_quantile(&resampled, tail),
        high: sorted_quantile(&resampled, 1.0 - tail),
    };
    Ok(ServiceFit { count: times.len(), mean, rate: 1.0 / mean.estimate, scv })
}

fn variation(times: &[f64]) -> f64 {
    let (mean, variance) = mean_and_variance(times);
    variance / (mean * mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulations::times::Times;

    fn drawn(scv: f64, count: usize, seed: u64) -> Vec<f64> {
        let source = Times::with_scv(0.5, scv).unwrap();
        let mut random = Random::new(seed);
        (0..count).map(|_| source.draw(&mut random)).collect()
    }

    #[test]
    fn intervals_hold_the_truth_about_as_often_as_they_say() {
        let fits: Vec<ServiceFit> =
            (0..200).map(|seed| fit_service(&drawn(1.0, 150, seed), seed).unwrap()).collect();
        let holding = |holds: fn(&ServiceFit) -> bool| fits.iter().filter(|fit| holds(fit)).count();
        // 190 of 200 are promised; the bootstrap of a skewed sample keeps less than its word.
        assert!(holding(|fit| fit.mean.contains(0.5)) >= 180);
        assert!(holding(|fit| fit.scv.contains(1.0)) >= 150);
    }

    #[test]
    fn the_rate_is_one_over_the_mean_and_the_seed_decides_the_rest() {
        let times = drawn(4.0, 400, 5);
        let fit = fit_service(&times, 1).unwrap();
        assert!((fit.rate * fit.mean.estimate - 1.0).abs() < 1e-15);
        assert_eq!(fit, fit_service(&times, 1).unwrap());
    }

    #[test]
    fn equal_times_do_not_vary() {
        let fit = fit_service(&[2.0; 5], 9).unwrap();
        assert_eq!((fit.scv.low, fit.scv.estimate, fit.scv.high), (0.0, 0.0, 0.0));
        assert!(fit_service(&[1.0, 2.0], 0).is_err() && fit_service(&[1.0, 2.0, -1.0], 0).is_err());
    }
}
