//! M/G/1: Poisson arrivals, any service, one server: the formula of Pollaczek and Khinchine
//! (Kleinrock, "Queueing Systems" volume 1, section 5.6).

use crate::error::QueueingError;
use crate::limits::{scv, stable};
use crate::steady_state::SteadyState;

/// A stable M/G/1 queue, known by rates and the variation of service times.
///
/// Two moments of the service time decide the means, and no quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mg1 {
    arrival_rate: f64,
    service_rate: f64,
    scv_service: f64,
}

impl Mg1 {
    /// A queue of these rates; `scv_service` is the variance of service times over their squared
    /// mean: 0 for equal times, 1 for exponential ones.
    ///
    /// # Errors
    /// A number out of range, or arrivals that the server cannot keep up with.
    pub fn new(
        arrival_rate: f64,
        service_rate: f64,
        scv_service: f64,
    ) -> Result<Self, QueueingError> {
        stable(arrival_rate, service_rate, 1)?;
        let scv_service = scv("variation of service times (scv)", scv_service)?;
        Ok(Self { arrival_rate, service_rate, scv_service })
    }

    /// Averages and probabilities in the long run, all exact.
    pub fn steady_state(&self) -> SteadyState {
        let spare = self.service_rate - self.arrival_rate;
        let utilisation = self.arrival_rate / self.service_rate;
        let mean_wait = utilisation * (1.0 + self.scv_service) / (2.0 * spare);
        let mean_queue = self.arrival_rate * mean_wait;
        SteadyState {
            utilisation,
            p0: Some(spare / self.service_rate),
            p_wait: Some(utilisation),
            p_block: 0.0,
            throughput: self.arrival_rate,
            mean_jobs: mean_queue + utilisation,
            mean_queue,
            mean_wait,
            mean_response: mean_wait + 1.0 / self.service_rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Mmc;

    proptest! {
        #[test]
        fn exponential_service_is_mm1(load in 0.01f64..0.99, service in 0.01f64..9.0) {
            let a = Mg1::new(load * service, service, 1.0).unwrap().steady_state();
            let b = Mmc::new(load * service, service, 1).unwrap().steady_state();
            prop_assert!((a.mean_wait / b.mean_wait - 1.0).abs() < 1e-11);
            prop_assert!((a.mean_jobs / b.mean_jobs - 1.0).abs() < 1e-11);
        }

        #[test]
        fn variation_makes_waits(load in 0.01f64..0.99, scv in 0f64..9.0) {
            let wait = |scv| Mg1::new(load, 1.0, scv).unwrap().steady_state().mean_wait;
            prop_assert!(wait(scv) < wait(scv + 0.1));
            prop_assert!((wait(scv) / wait(0.0) - 1.0 - scv).abs() < 1e-9);
        }
    }

    #[test]
    fn negative_or_missing_variation_is_refused() {
        assert!(Mg1::new(0.5, 1.0, -0.1).is_err() && Mg1::new(0.5, 1.0, f64::NAN).is_err());
        assert!(Mg1::new(1.0, 1.0, 1.0).is_err());
    }
}
