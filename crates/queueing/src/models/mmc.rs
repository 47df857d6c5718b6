//! M/M/c: Poisson arrivals, exponential service, endless waiting room. One server is M/M/1.
//!
//! Formulas: Gross, Shortle, Thompson and Harris, "Fundamentals of Queueing Theory" (4th
//! edition), sections 2.2 and 2.3.

use crate::bisection;
use crate::error::QueueingError;
use crate::limits::stable;
use crate::models::birth_death::weights;
use crate::steady_state::{Quantiles, SteadyState, TimeQuantiles};

/// A stable M/M/c queue, served first come first served.
///
/// ```
/// use trainwright_queueing::Mmc;
///
/// let queue = Mmc::new(0.8, 1.0, 1)?;
/// assert!((queue.steady_state().mean_jobs - 4.0).abs() < 1e-12);
/// # Ok::<(), trainwright_queueing::QueueingError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mmc {
    arrival_rate: f64,
    service_rate: f64,
    servers: u32,
    /// Of 0 to `servers` jobs.
    probabilities: Vec<f64>,
    p_wait: f64,
}

impl Mmc {
    /// A queue of these rates; `service_rate` is that of one server.
    ///
    /// # Errors
    /// A number out of range, or arrivals that the servers cannot keep up with.
    pub fn new(arrival_rate: f64, service_rate: f64, servers: u32) -> Result<Self, QueueingError> {
        stable(arrival_rate, service_rate, servers)?;
        let mut probabilities = weights(servers, |n| arrival_rate / (f64::from(n) * service_rate));
        let full_rate = f64::from(servers) * service_rate;
        let idle = (full_rate - arrival_rate) / full_rate;
        let waiting = probabilities[servers as usize] / idle;
        let total = probabilities[..servers as usize].iter().sum::<f64>() + waiting;
        probabilities.iter_mut().for_each(|weight| *weight /= total);
        let p_wait = waiting / total;
        Ok(Self { arrival_rate, service_rate, servers, probabilities, p_wait })
    }

    /// Rate at which all servers together outrun the arrivals.
    fn spare_rate(&self) -> f64 {
        f64::from(self.servers) * self.service_rate - self.arrival_rate
    }

    /// Averages and probabilities in the long run.
    pub fn steady_state(&self) -> SteadyState {
        let offered = self.arrival_rate / self.service_rate;
        let mean_wait = self.p_wait / self.spare_rate();
        let mean_queue = self.arrival_rate * mean_wait;
        SteadyState {
            utilisation: offered / f64::from(self.servers),
            p0: Some(self.probabilities[0]),
            p_wait: Some(self.p_wait),
            p_block: 0.0,
            throughput: self.arrival_rate,
            mean_jobs: mean_queue + offered,
            mean_queue,
            mean_wait,
            mean_response: mean_wait + 1.0 / self.service_rate,
        }
    }

    /// Probability of `jobs` jobs in the system.
    pub fn state_probability(&self, jobs: u64) -> f64 {
        let servers = u64::from(self.servers);
        if jobs <= servers {
            return self.probabilities[jobs as usize];
        }
        let utilisation = self.steady_state().utilisation;
        self.probabilities[servers as usize] * utilisation.powf((jobs - servers) as f64)
    }

    /// Probability that a job waits longer than `time`.
    pub fn wait_tail(&self, time: f64) -> f64 {
        self.p_wait * (-self.spare_rate() * time).exp()
    }

    /// Probability that a job takes longer than `time` from arrival to end.
    ///
    /// A job that waits does so for an exponential time of the spare rate, then is served. The
    /// difference of the two exponentials over the difference of their rates is written so that
    /// equal rates are no special case.
    pub fn response_tail(&self, time: f64) -> f64 {
        let (spare, service) = (self.spare_rate(), self.service_rate);
        let gap = (spare - service).abs() * time;
        let shrink = if gap == 0.0 { 1.0 } else { -(-gap).exp_m1() / gap };
        let slower = spare.min(service);
        (-service * time).exp() + self.p_wait * service * time * (-slower * time).exp() * shrink
    }

    /// The wait that a fraction `beyond` of the jobs exceeds.
    pub(crate) fn wait_exceeded_by(&self, beyond: f64) -> f64 {
        ((self.p_wait / beyond).ln() / self.spare_rate()).max(0.0)
    }

    /// The response that a fraction `beyond` of the jobs exceeds.
    pub(crate) fn response_exceeded_by(&self, beyond: f64) -> f64 {
        bisection::quantile(|time| self.response_tail(time), beyond, 1.0 / self.service_rate)
    }

    /// Quantiles of wait and response, both exact.
    pub fn quantiles(&self) -> Quantiles {
        Quantiles {
            wait: TimeQuantiles::of(|beyond| self.wait_exceeded_by(beyond)),
            response: TimeQuantiles::of(|beyond| self.response_exceeded_by(beyond)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_thousand_servers_keep_their_digits() {
        let queue = Mmc::new(990.0, 1.0, 1000).unwrap();
        let erlang = crate::erlang_c(990.0, 1000).unwrap();
        assert!((queue.steady_state().p_wait.unwrap() / erlang - 1.0).abs() < 1e-12);
        let mut below = 0.0;
        let all: f64 = (0..20_000).map(|n| queue.state_probability(n)).sum();
        for n in 0..1000 {
            below += queue.state_probability(n);
        }
        assert!((all - 1.0).abs() < 1e-12 && (1.0 - below - erlang).abs() < 1e-12);
    }

    /// With two servers and a load of 1 the spare rate equals the service rate.
    #[test]
    fn equal_rates_are_no_special_case() {
        let at = |arrival: f64| Mmc::new(arrival, 1.0, 2).unwrap().response_tail(1.7);
        let exact = (-1.7f64).exp() * (1.0 + 1.7 / 3.0);
        assert!((at(1.0) - exact).abs() < 1e-15);
        assert!((at(1.0 + 1e-9) - exact).abs() < 1e-8 && (at(1.0 - 1e-9) - exact).abs() < 1e-8);
    }

    proptest! {
        #[test]
        fn one_server_is_the_textbook_case(load in 0.01f64..0.99, service in 0.1f64..50.0) {
            let arrival = load * service;
            let queue = Mmc::new(arrival, service, 1).unwrap();
            let state = queue.steady_state();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-11 * b.abs();
            prop_assert!(near(state.mean_jobs, load / (1.0 - load)));
            prop_assert!(near(state.mean_response, 1.0 / (service - arrival)));
            prop_assert!(near(state.p0.unwrap(), 1.0 - load));
            let p90 = queue.quantiles().response.p90.unwrap();
            prop_assert!(near(p90, 10f64.ln() / (service - arrival)));
        }

        #[test]
        fn more_load_waits_longer_and_little_holds(
            servers in 1u32..60, low in 0.05f64..0.9, step in 0.001f64..0.09,
        ) {
            let at = |load: f64| Mmc::new(load * f64::from(servers), 1.0, servers).unwrap();
            let (quiet, busy) = (at(low), at(low + step));
            let (a, b) = (quiet.steady_state(), busy.steady_state());
            prop_assert!(a.mean_wait < b.mean_wait && a.p_wait < b.p_wait && a.p0 > b.p0);
            // Equal to the last bit where hardly a job ever waits.
            prop_assert!(quiet.quantiles().response.p99 <= busy.quantiles().response.p99);
            prop_assert!((b.throughput * b.mean_response / b.mean_jobs - 1.0).abs() < 1e-12);
            prop_assert!((b.throughput * b.mean_wait / b.mean_queue - 1.0).abs() < 1e-12);
        }

        #[test]
        fn quantiles_leave_their_fraction_beyond(servers in 1u32..200, load in 0.1f64..0.99) {
            let queue = Mmc::new(load * 3.0 * f64::from(servers), 3.0, servers).unwrap();
            let found = queue.quantiles();
            for (time, beyond) in
                [(found.response.p50, 0.5), (found.response.p90, 0.1), (found.response.p99, 0.01)]
            {
                let tail = queue.response_tail(time.unwrap());
                prop_assert!((tail / beyond - 1.0).abs() < 1e-11, "{tail} {beyond}");
            }
            let p99 = found.wait.p99.unwrap();
            if p99 > 0.0 {
                prop_assert!((queue.wait_tail(p99) / 0.01 - 1.0).abs() < 1e-11);
            } else {
                prop_assert!(queue.wait_tail(0.0) <= 0.01);
            }
        }
    }
}
