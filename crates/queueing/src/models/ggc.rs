//! G/G/c: any arrivals, any service, c servers: the approximation of Allen and Cunneen.

use crate::error::QueueingError;
use crate::limits::scv;
use crate::models::mmc::Mmc;
use crate::steady_state::SteadyState;

/// A stable G/G/c queue, known by rates and variations.
///
/// Its mean wait is that of M/M/c times the mean of the two variations (Allen, "Probability,
/// Statistics, and Queueing Theory", section 5.6): exact for M/M/c and M/G/1, an approximation
/// elsewhere, poorest at low load and with very uneven arrivals. Nothing but means follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ggc {
    arrival_rate: f64,
    service_rate: f64,
    servers: u32,
    mean_wait: f64,
}

impl Ggc {
    /// A queue of these rates; a variation is the variance of times over their squared mean.
    ///
    /// # Errors
    /// A number out of range, or arrivals that the servers cannot keep up with.
    pub fn new(
        arrival_rate: f64,
        service_rate: f64,
        servers: u32,
        [scv_arrival, scv_service]: [f64; 2],
    ) -> Result<Self, QueueingError> {
        let markov = Mmc::new(arrival_rate, service_rate, servers)?.steady_state().mean_wait;
        let scv_arrival = scv("variation of times between arrivals (scv)", scv_arrival)?;
        let scv_service = scv("variation of service times (scv)", scv_service)?;
        let mean_wait = markov * 0.5 * (scv_arrival + scv_service);
        Ok(Self { arrival_rate, service_rate, servers, mean_wait })
    }

    /// Averages in the long run.
    pub fn steady_state(&self) -> SteadyState {
        let offered = self.arrival_rate / self.service_rate;
        let utilisation = offered / f64::from(self.servers);
        let mean_queue = self.arrival_rate * self.mean_wait;
        SteadyState {
            utilisation,
            // One server is idle when the system is empty, whatever the distributions.
            p0: (self.servers == 1).then_some(1.0 - utilisation),
            p_wait: None,
            p_block: 0.0,
            throughput: self.arrival_rate,
            mean_jobs: mean_queue + offered,
            mean_queue,
            mean_wait: self.mean_wait,
            mean_response: self.mean_wait + 1.0 / self.service_rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Mg1;

    proptest! {
        #[test]
        fn known_special_cases_are_exact(
            load in 0.01f64..0.99, servers in 1u32..90, scv in 0f64..5.0,
        ) {
            let arrival = load * f64::from(servers);
            let wait = |servers, scvs| {
                let arrival = load * f64::from(servers);
                Ggc::new(arrival, 1.0, servers, scvs).unwrap().steady_state().mean_wait
            };
            let markov = Mmc::new(arrival, 1.0, servers).unwrap().steady_state().mean_wait;
            prop_assert!((wait(servers, [1.0, 1.0]) - markov).abs() <= 1e-11 * markov);
            let single = Mg1::new(load, 1.0, scv).unwrap().steady_state().mean_wait;
            prop_assert!((wait(1, [1.0, scv]) - single).abs() <= 1e-11 * single);
        }
    }

    #[test]
    fn clockwork_never_waits_and_nothing_is_invented() {
        let state = Ggc::new(3.0, 1.0, 4, [0.0, 0.0]).unwrap().steady_state();
        assert_eq!((state.mean_wait, state.p_wait, state.p0), (0.0, None, None));
        let one = Ggc::new(0.25, 1.0, 1, [2.0, 0.5]).unwrap().steady_state();
        assert_eq!(one.p0, Some(0.75));
    }
}
