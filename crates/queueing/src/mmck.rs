//! M/M/c/K: Poisson arrivals, exponential service, at most K jobs in the system; others are
//! turned away. Times are those of accepted jobs.
//!
//! Formulas: Gross, Shortle, Thompson and Harris, "Fundamentals of Queueing Theory" (4th
//! edition), section 2.5.

use crate::birth_death::weights;
use crate::error::QueueingError;
use crate::limits::{count, positive};
use crate::stages::Stages;
use crate::steady_state::{Quantiles, SteadyState};

/// An M/M/c/K queue, served first come first served; any load is stable.
#[derive(Debug, Clone, PartialEq)]
pub struct Mmck {
    arrival_rate: f64,
    service_rate: f64,
    servers: u32,
    /// Of 0 to K jobs.
    probabilities: Vec<f64>,
    /// Probability that a job is accepted.
    accepted: f64,
    /// Times of accepted jobs.
    stages: Stages,
}

impl Mmck {
    /// A queue of these rates with `capacity` places, those in service included.
    ///
    /// # Errors
    /// A number out of range, or more servers than places.
    pub fn new(
        arrival_rate: f64,
        service_rate: f64,
        servers: u32,
        capacity: u32,
    ) -> Result<Self, QueueingError> {
        positive("arrival rate", arrival_rate)?;
        positive("service rate", service_rate)?;
        count("servers", servers)?;
        count("places", capacity)?;
        if capacity < servers {
            return Err(QueueingError::TooSmall { capacity, servers });
        }
        let down = |n: u32| f64::from(n.min(servers)) * service_rate;
        let mut probabilities = weights(capacity, |n| arrival_rate / down(n));
        let total: f64 = probabilities.iter().sum();
        probabilities.iter_mut().for_each(|weight| *weight /= total);
        let open = &probabilities[..capacity as usize];
        let accepted: f64 = open.iter().sum();
        let found_busy: Vec<f64> = open[servers as usize..].iter().map(|p| p / accepted).collect();
        let stages = Stages::new(service_rate, servers, &found_busy);
        Ok(Self { arrival_rate, service_rate, servers, probabilities, accepted, stages })
    }

    /// Averages and probabilities in the long run.
    pub fn steady_state(&self) -> SteadyState {
        let throughput = self.arrival_rate * self.accepted;
        let sum = |jobs: &dyn Fn(u32) -> u32| -> f64 {
            let terms = (0..).zip(&self.probabilities);
            terms.map(|(n, probability)| f64::from(jobs(n)) * probability).sum()
        };
        let mean_queue = sum(&|n| n.saturating_sub(self.servers));
        let mean_wait = mean_queue / throughput;
        SteadyState {
            utilisation: throughput / (f64::from(self.servers) * self.service_rate),
            p0: Some(self.probabilities[0]),
            p_wait: Some(self.stages.p_wait()),
            p_block: self.probabilities.last().copied().unwrap_or(0.0),
            throughput,
            mean_jobs: sum(&|n| n),
            mean_queue,
            mean_wait,
            mean_response: mean_wait + 1.0 / self.service_rate,
        }
    }

    /// Probability of `jobs` jobs in the system.
    pub fn state_probability(&self, jobs: u64) -> f64 {
        usize::try_from(jobs).ok().and_then(|n| self.probabilities.get(n).copied()).unwrap_or(0.0)
    }

    /// Probability that an accepted job waits longer than `time`.
    pub fn wait_tail(&self, time: f64) -> f64 {
        self.stages.wait_tail(time)
    }

    /// Probability that an accepted job takes longer than `time` from arrival to end.
    pub fn response_tail(&self, time: f64) -> f64 {
        self.stages.response_tail(time)
    }

    /// Quantiles of wait and response of accepted jobs, both exact.
    pub fn quantiles(&self) -> Quantiles {
        self.stages.quantiles()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Mmc;
    use crate::poisson::stages_tail;

    /// Tail of k stages of rate `servers` and one of rate 1, by their convolution.
    fn convolved(stages: u32, servers: f64, time: f64) -> f64 {
        let steps = 20_000;
        let width = time / f64::from(steps);
        let density = |u: f64| {
            let x = servers * u;
            let mut value = servers * (-x).exp();
            for j in 1..stages {
                value *= x / f64::from(j);
            }
            value * (-(time - u)).exp()
        };
        // Simpson's rule.
        let inner: f64 = (1..steps)
            .map(|i| density(f64::from(i) * width) * if i % 2 == 1 { 4.0 } else { 2.0 })
            .sum();
        let within = (density(0.0) + inner + density(time)) * width / 3.0;
        stages_tail(servers * time, &vec![1.0; stages as usize], 0.0) + within
    }

    #[test]
    fn response_tail_is_the_mixture_of_convolutions() {
        for (servers, capacity) in [(1u32, 4u32), (2, 7), (4, 12), (3, 3)] {
            let queue = Mmck::new(3.1, 1.0, servers, capacity).unwrap();
            for time in [0.2, 1.0, 4.0] {
                let expected: f64 = (0..capacity)
                    .map(|n| {
                        let seen = queue.state_probability(n.into()) / queue.accepted;
                        let tail = match n.checked_sub(servers) {
                            None => f64::exp(-time),
                            Some(waiting) => convolved(waiting + 1, servers.into(), time),
                        };
                        seen * tail
                    })
                    .sum();
                let found = queue.response_tail(time);
                assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
            }
        }
    }

    #[test]
    fn no_waiting_room_means_no_wait() {
        let queue = Mmck::new(3.0, 1.0, 4, 4).unwrap();
        assert_eq!(queue.quantiles().wait.p99, Some(0.0));
        let response = queue.quantiles().response.p90.unwrap();
        assert!((response - 10f64.ln()).abs() < 1e-13);
        let blocked = crate::erlang_b(3.0, 4).unwrap();
        assert!((queue.steady_state().p_block - blocked).abs() < 1e-15);
    }

    #[test]
    fn overload_fills_the_queue() {
        let queue = Mmck::new(1e90, 2.0, 3, 9).unwrap();
        let state = queue.steady_state();
        assert!((state.mean_response - 9.0 / 6.0).abs() < 1e-12);
        assert!((state.utilisation - 1.0).abs() < 1e-12 && state.p_block > 1.0 - 1e-12);
        assert!(Mmck::new(1.0, 1.0, 3, 2).is_err() && Mmck::new(1.0, 1.0, 0, 2).is_err());
    }

    #[test]
    fn the_area_under_a_tail_is_the_mean() {
        for (arrival, servers, capacity) in [(32.0, 1, 55), (0.3, 2, 9), (40.0, 30, 70)] {
            let queue = Mmck::new(arrival, 1.3, servers, capacity).unwrap();
            let state = queue.steady_state();
            let area = |tail: &dyn Fn(f64) -> f64, step: f64| -> f64 {
                (0..1500).map(|i| tail((f64::from(i) + 0.5) * step)).sum::<f64>() * step
            };
            // Fifteen mean responses in steps of a hundredth: beyond lies less than 1e-6.
            let step = 0.01 * state.mean_response;
            let response = area(&|time| queue.response_tail(time), step);
            let wait = area(&|time| queue.wait_tail(time), step);
            assert!((response / state.mean_response - 1.0).abs() < 1e-5);
            assert!((wait - state.mean_wait).abs() < 1e-5 * state.mean_response);
        }
    }

    proptest! {
        #[test]
        fn much_room_is_endless_room(servers in 1u32..20, load in 0.1f64..0.85) {
            let arrival = load * f64::from(servers);
            let limited = Mmck::new(arrival, 1.0, servers, servers + 400).unwrap();
            let endless = Mmc::new(arrival, 1.0, servers).unwrap();
            let (a, b) = (limited.steady_state(), endless.steady_state());
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-10 * b.abs() + 1e-300;
            prop_assert!(near(a.mean_jobs, b.mean_jobs) && near(a.mean_wait, b.mean_wait));
            prop_assert!(near(a.p0.unwrap(), b.p0.unwrap()));
            prop_assert!(near(a.p_wait.unwrap(), b.p_wait.unwrap()));
            let (a, b) = (limited.quantiles(), endless.quantiles());
            prop_assert!(near(a.response.p99.unwrap(), b.response.p99.unwrap()));
            prop_assert!(near(a.wait.p99.unwrap(), b.wait.p99.unwrap()));
        }

        #[test]
        fn probabilities_add_up_and_little_holds(
            arrival in 0.01f64..80.0, servers in 1u32..40, room in 0u32..60,
        ) {
            let at = |arrival| Mmck::new(arrival, 1.3, servers, servers + room).unwrap();
            let queue = at(arrival);
            let places = 0..=u64::from(servers + room);
            let all: f64 = places.map(|n| queue.state_probability(n)).sum();
            prop_assert!((all - 1.0).abs() < 1e-13);
            let state = queue.steady_state();
            let law = state.throughput * state.mean_response;
            prop_assert!((law / state.mean_jobs - 1.0).abs() < 1e-11);
            let more = at(arrival * 1.1).steady_state();
            prop_assert!(more.p_block > state.p_block);
            // A full queue is as busy as it can be, to the last bits.
            prop_assert!(more.utilisation >= state.utilisation * (1.0 - 1e-13));
            prop_assert!(more.mean_response >= state.mean_response * (1.0 - 1e-13));
        }
    }
}
