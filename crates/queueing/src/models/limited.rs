//! Queues with finitely many states: M/M/c/K, where only so many jobs find room, and M/M/c//N, a
//! fixed number of customers that come back, such as machines that fail and are repaired, or
//! users that think and submit.
//!
//! Formulas: Gross, Shortle, Thompson and Harris, "Fundamentals of Queueing Theory" (4th
//! edition), sections 2.5 and 2.7.

use crate::error::QueueingError;
use crate::limits::{count, positive};
use crate::models::birth_death::probabilities;
use crate::models::stages::Stages;
use crate::steady_state::{Quantiles, SteadyState};

/// Exponential service, first come first served, a limited number of jobs; any load is stable.
/// Times are those of accepted jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct FiniteQueue {
    service_rate: f64,
    servers: u32,
    /// Accepted jobs in a unit of time.
    throughput: f64,
    /// Probability that a job is turned away.
    p_block: f64,
    /// Of 0 jobs to as many as there can be.
    probabilities: Vec<f64>,
    /// Times of accepted jobs.
    stages: Stages,
}

impl FiniteQueue {
    /// M/M/c/K: Poisson arrivals and `capacity` places, those in service included; who finds none
    /// is turned away.
    ///
    /// # Errors
    /// A number out of range, or more servers than places.
    pub fn with_places(
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
        let probabilities = probabilities(capacity, |n| arrival_rate / down(n));
        let (open, full) = probabilities.split_at(capacity as usize);
        let accepted: f64 = open.iter().sum();
        let found_busy: Vec<f64> = open[servers as usize..].iter().map(|p| p / accepted).collect();
        Ok(Self {
            service_rate,
            servers,
            throughput: arrival_rate * accepted,
            p_block: full[0],
            stages: Stages::new(service_rate, servers, &found_busy),
            probabilities,
        })
    }

    /// M/M/c//N: `population` customers, each of which comes after an exponential time of rate
    /// `request_rate` since it left.
    ///
    /// # Errors
    /// A number out of range.
    pub fn with_population(
        request_rate: f64,
        service_rate: f64,
        servers: u32,
        population: u32,
    ) -> Result<Self, QueueingError> {
        positive("request rate", request_rate)?;
        positive("service rate", service_rate)?;
        count("servers", servers)?;
        count("customers", population)?;
        let of = |customers: u32| {
            let up = |n: u32| f64::from(customers - n + 1) * request_rate;
            let down = |n: u32| f64::from(n.min(servers)) * service_rate;
            probabilities(customers, |n| up(n) / down(n))
        };
        // Arrivals find the queue as if they did not belong to it (Sevcik and Mitrani, Journal of
        // the ACM 28, 1981).
        let found = of(population - 1);
        let found_busy = found.get(servers as usize..).unwrap_or_default();
        let probabilities = of(population);
        let away: f64 = (0..).zip(&probabilities).map(|(n, p)| f64::from(population - n) * p).sum();
        Ok(Self {
            service_rate,
            servers,
            throughput: request_rate * away,
            p_block: 0.0,
            stages: Stages::new(service_rate, servers, found_busy),
            probabilities,
        })
    }

    /// Averages and probabilities in the long run.
    pub fn steady_state(&self) -> SteadyState {
        let mean = |jobs: &dyn Fn(u32) -> u32| -> f64 {
            let terms = (0..).zip(&self.probabilities);
            terms.map(|(n, probability)| f64::from(jobs(n)) * probability).sum()
        };
        let mean_queue = mean(&|n| n.saturating_sub(self.servers));
        let mean_wait = mean_queue / self.throughput;
        SteadyState {
            utilisation: self.throughput / (f64::from(self.servers) * self.service_rate),
            p0: Some(self.probabilities[0]),
            p_wait: Some(self.stages.p_wait()),
            p_block: self.p_block,
            throughput: self.throughput,
            mean_jobs: mean(&|n| n),
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
    use crate::models::poisson::stages_tail;

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
            let queue = FiniteQueue::with_places(3.1, 1.0, servers, capacity).unwrap();
            for time in [0.2, 1.0, 4.0] {
                let expected: f64 = (0..capacity)
                    .map(|n| {
                        let seen = queue.state_probability(n.into()) / (1.0 - queue.p_block);
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
        let queue = FiniteQueue::with_places(3.0, 1.0, 4, 4).unwrap();
        assert_eq!(queue.quantiles().wait.p99, Some(0.0));
        let response = queue.quantiles().response.p90.unwrap();
        assert!((response - 10f64.ln()).abs() < 1e-13);
        let blocked = crate::erlang_b(3.0, 4).unwrap();
        assert!((queue.steady_state().p_block - blocked).abs() < 1e-15);
    }

    #[test]
    fn overload_fills_the_queue() {
        let queue = FiniteQueue::with_places(1e90, 2.0, 3, 9).unwrap();
        let state = queue.steady_state();
        assert!((state.mean_response - 9.0 / 6.0).abs() < 1e-12);
        assert!((state.utilisation - 1.0).abs() < 1e-12 && state.p_block > 1.0 - 1e-12);
        assert!(
            FiniteQueue::with_places(1.0, 1.0, 3, 2).is_err()
                && FiniteQueue::with_places(1.0, 1.0, 0, 2).is_err()
        );
    }

    #[test]
    fn the_area_under_a_tail_is_the_mean() {
        for (arrival, servers, capacity) in [(32.0, 1, 55), (0.3, 2, 9), (40.0, 30, 70)] {
            let queue = FiniteQueue::with_places(arrival, 1.3, servers, capacity).unwrap();
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

    /// Four machines, one repairer, failures at 1/10 of the repair rate: the sums of the
    /// definition by hand are 1 + 0.4 + 0.12 + 0.024 + 0.0024.
    #[test]
    fn four_machines_equal_the_sum_by_hand() {
        let queue = FiniteQueue::with_population(0.1, 1.0, 1, 4).unwrap();
        let total = 1.5464;
        let jobs = (0.4 + 2.0 * 0.12 + 3.0 * 0.024 + 4.0 * 0.0024) / total;
        let state = queue.steady_state();
        assert!((state.p0.unwrap() - 1.0 / total).abs() < 1e-14);
        assert!((state.mean_jobs - jobs).abs() < 1e-14);
        assert!((state.utilisation - (1.0 - 1.0 / total)).abs() < 1e-14);
        // One customer fewer: 1 + 0.3 + 0.06 + 0.006.
        assert!((state.p_wait.unwrap() - 0.366 / 1.366).abs() < 1e-14);
    }

    #[test]
    fn the_area_under_a_tail_of_a_population_is_the_mean() {
        for (rate, servers, population) in [(0.4, 1, 12), (0.1, 3, 60), (2.0, 4, 9)] {
            let queue = FiniteQueue::with_population(rate, 1.3, servers, population).unwrap();
            let state = queue.steady_state();
            // Fifteen mean responses in steps of a hundredth: beyond lies less than 1e-5.
            let step = 0.01 * state.mean_response;
            let area = |tail: &dyn Fn(f64) -> f64| -> f64 {
                (0..1500).map(|i| tail((f64::from(i) + 0.5) * step)).sum::<f64>() * step
            };
            let response = area(&|time| queue.response_tail(time));
            let wait = area(&|time| queue.wait_tail(time));
            assert!((response / state.mean_response - 1.0).abs() < 2e-5);
            assert!((wait - state.mean_wait).abs() < 2e-5 * state.mean_response);
        }
    }

    #[test]
    fn a_huge_population_is_a_poisson_stream() {
        let queue = FiniteQueue::with_population(1.5e-6, 1.0, 2, 1_000_000).unwrap();
        let (a, b) = (queue.steady_state(), Mmc::new(1.5, 1.0, 2).unwrap().steady_state());
        assert!((a.mean_wait / b.mean_wait - 1.0).abs() < 1e-4, "{a:?}");
        assert!((a.p_wait.unwrap() / b.p_wait.unwrap() - 1.0).abs() < 1e-4);
    }

    proptest! {
        #[test]
        fn much_room_is_endless_room(servers in 1u32..20, load in 0.1f64..0.85) {
            let arrival = load * f64::from(servers);
            let limited = FiniteQueue::with_places(arrival, 1.0, servers, servers + 400).unwrap();
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
            let at = |arrival| FiniteQueue::with_places(arrival, 1.3, servers, servers + room).unwrap();
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

        #[test]
        fn a_server_each_makes_customers_independent(
            rate in 0.01f64..20.0, population in 1u32..40, spare in 0u32..3,
        ) {
            let queue = FiniteQueue::with_population(rate, 1.0, population + spare, population).unwrap();
            let state = queue.steady_state();
            let away = 1.0 / (1.0 + rate);
            prop_assert!((state.p0.unwrap() / away.powf(population.into()) - 1.0).abs() < 1e-11);
            let jobs = f64::from(population) * (1.0 - away);
            prop_assert!((state.mean_jobs / jobs - 1.0).abs() < 1e-11);
            prop_assert_eq!((state.mean_wait, state.p_wait), (0.0, Some(0.0)));
        }

        #[test]
        fn little_holds_for_a_population(
            rate in 0.01f64..20.0, servers in 1u32..9, population in 1u32..80,
        ) {
            let queue = FiniteQueue::with_population(rate, 1.7, servers, population).unwrap();
            let state = queue.steady_state();
            let all: f64 = (0..=u64::from(population)).map(|n| queue.state_probability(n)).sum();
            prop_assert!((all - 1.0).abs() < 1e-13);
            let law = state.throughput * state.mean_response;
            prop_assert!((law / state.mean_jobs - 1.0).abs() < 1e-11);
        }
    }
}
