//! Rate and variation of measured service times, with intervals.

use serde::Serialize;

use super::variation::Variation;
use crate::error::QueueingError;
use crate::interval::Interval;
use crate::simulations::times::check_times;

const CONFIDENCE: f64 = 0.95;

/// What measured service times say about a server, with 95 % intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ServiceFit {
    /// Times measured.
    pub count: usize,
    /// Mean time, with Student's interval.
    pub mean: Interval,
    /// Jobs that a busy server ends in a unit of time: 1 / mean.
    pub rate: f64,
    /// Sample variance over squared mean.
    pub scv: Variation,
}

/// Rate and variation of service times; the seed decides what the interval of the variation is
/// compared with.
///
/// # Errors
/// Fewer than three times, or one that is not positive and finite.
pub fn fit_service(times: &[f64], seed: u64) -> Result<ServiceFit, QueueingError> {
    check_times(times, "a fit of service times", 3)?;
    let mean = Interval::of_mean(times, CONFIDENCE);
    let scv = Variation::of(times, seed);
    Ok(ServiceFit { count: times.len(), mean, rate: 1.0 / mean.estimate, scv })
}

#[cfg(test)]
mod tests {
    use trainwright_random::Random;

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
            (0..80).map(|seed| fit_service(&drawn(1.0, 150, seed), seed).unwrap()).collect();
        let means = fits.iter().filter(|fit| fit.mean.contains(0.5)).count();
        let told: Vec<&ServiceFit> = fits.iter().filter(|fit| fit.scv.low.is_some()).collect();
        let variations = told.iter().filter(|fit| fit.scv.contains(1.0)).count();
        // 76 of 80 are promised; the standard error is 2.
        assert!(means >= 70 && told.len() >= 76, "{means}, {}", told.len());
        assert!(variations + 8 >= told.len(), "{variations} of {}", told.len());
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
        assert_eq!((fit.scv.estimate, fit.scv.no_interval), (0.0, Some("the times do not vary")));
        assert!(fit_service(&[1.0, 2.0], 0).is_err() && fit_service(&[1.0, 2.0, -1.0], 0).is_err());
    }
}
