//! M/M/c//N: a fixed number of customers that come back, such as machines that fail and are
//! repaired, or users that think and submit.
//!
//! Formulas: Gross, Shortle, Thompson and Harris, "Fundamentals of Queueing Theory" (4th
//! edition), section 2.7.

use crate::birth_death::weights;
use crate::error::QueueingError;
use crate::limits::{count, positive};
use crate::stages::Stages;
use crate::steady_state::{Quantiles, SteadyState};

/// A queue whose customers are `population` in all.
#[derive(Debug, Clone, PartialEq)]
pub struct FinitePopulation {
    request_rate: f64,
    service_rate: f64,
    servers: u32,
    /// Of 0 to `population` customers at the queue.
    probabilities: Vec<f64>,
    /// Times of customers at the queue.
    stages: Stages,
}

impl FinitePopulation {
    /// A queue of `population` customers, each of which comes after an exponential time of rate
    /// `request_rate` since it left.
    ///
    /// # Errors
    /// A number out of range.
    pub fn new(
        request_rate: f64,
        service_rate: f64,
        servers: u32,
        population: u32,
    ) -> Result<Self, QueueingError> {
        positive("request rate", request_rate)?;
        positive("service rate", service_rate)?;
        count("servers", servers)?;
        count("customers", population)?;
        let probabilities = |customers: u32| {
            let up = |n: u32| f64::from(customers - n + 1) * request_rate;
            let down = |n: u32| f64::from(n.min(servers)) * service_rate;
            let mut found = weights(customers, |n| up(n) / down(n));
            let total: f64 = found.iter().sum();
            found.iter_mut().for_each(|weight| *weight /= total);
            found
        };
        // Arrivals find the queue as if they did not belong to it (Sevcik and Mitrani, Journal of
        // the ACM 28, 1981).
        let found = probabilities(population - 1);
        let found_busy = found.get(servers as usize..).unwrap_or_default();
        Ok(Self {
            request_rate,
            service_rate,
            servers,
            probabilities: probabilities(population),
            stages: Stages::new(service_rate, servers, found_busy),
        })
    }

    /// Averages and probabilities in the long run.
    pub fn steady_state(&self) -> SteadyState {
        let sum = |value: &dyn Fn(u32) -> u32| -> f64 {
            let terms = (0..).zip(&self.probabilities);
            terms.map(|(n, probability)| f64::from(value(n)) * probability).sum()
        };
        let population = self.probabilities.len() as u32 - 1;
        let throughput = self.request_rate * sum(&|n| population - n);
        let mean_queue = sum(&|n| n.saturating_sub(self.servers));
        let mean_wait = mean_queue / throughput;
        SteadyState {
            utilisation: throughput / (f64::from(self.servers) * self.service_rate),
            p0: Some(self.probabilities[0]),
            p_wait: Some(self.stages.p_wait()),
            p_block: 0.0,
            throughput,
            mean_jobs: sum(&|n| n),
            mean_queue,
            mean_wait,
            mean_response: mean_wait + 1.0 / self.service_rate,
        }
    }

    /// Probability of `customers` customers at the queue.
    pub fn state_probability(&self, customers: u64) -> f64 {
        let index = usize::try_from(customers).ok();
        index.and_then(|n| self.probabilities.get(n).copied()).unwrap_or(0.0)
    }

    /// Probability that a customer waits longer than `time`.
    pub fn wait_tail(&self, time: f64) -> f64 {
        self.stages.wait_tail(time)
    }

    /// Probability that a customer takes longer than `time` from its request to its end.
    pub fn response_tail(&self, time: f64) -> f64 {
        self.stages.response_tail(time)
    }

    /// Quantiles of wait and response, both exact.
    pub fn quantiles(&self) -> Quantiles {
        self.stages.quantiles()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Mmc;

    /// Four machines, one repairer, failures at 1/10 of the repair rate: the sums of the
    /// definition by hand are 1 + 0.4 + 0.12 + 0.024 + 0.0024.
    #[test]
    fn four_machines_equal_the_sum_by_hand() {
        let queue = FinitePopulation::new(0.1, 1.0, 1, 4).unwrap();
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
    fn the_area_under_a_tail_is_the_mean() {
        for (rate, servers, population) in [(0.4, 1, 12), (0.1, 3, 60), (2.0, 4, 9)] {
            let queue = FinitePopulation::new(rate, 1.3, servers, population).unwrap();
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
        let queue = FinitePopulation::new(1.5e-6, 1.0, 2, 1_000_000).unwrap();
        let (a, b) = (queue.steady_state(), Mmc::new(1.5, 1.0, 2).unwrap().steady_state());
        assert!((a.mean_wait / b.mean_wait - 1.0).abs() < 1e-4, "{a:?}");
        assert!((a.p_wait.unwrap() / b.p_wait.unwrap() - 1.0).abs() < 1e-4);
    }

    proptest! {
        #[test]
        fn a_server_each_makes_customers_independent(
            rate in 0.01f64..20.0, population in 1u32..40, spare in 0u32..3,
        ) {
            let queue = FinitePopulation::new(rate, 1.0, population + spare, population).unwrap();
            let state = queue.steady_state();
            let away = 1.0 / (1.0 + rate);
            prop_assert!((state.p0.unwrap() / away.powf(population.into()) - 1.0).abs() < 1e-11);
            let jobs = f64::from(population) * (1.0 - away);
            prop_assert!((state.mean_jobs / jobs - 1.0).abs() < 1e-11);
            prop_assert_eq!((state.mean_wait, state.p_wait), (0.0, Some(0.0)));
        }

        #[test]
        fn little_holds_and_probabilities_add_up(
            rate in 0.01f64..20.0, servers in 1u32..9, population in 1u32..80,
        ) {
            let queue = FinitePopulation::new(rate, 1.7, servers, population).unwrap();
            let state = queue.steady_state();
            let all: f64 = (0..=u64::from(population)).map(|n| queue.state_probability(n)).sum();
            prop_assert!((all - 1.0).abs() < 1e-13);
            let law = state.throughput * state.mean_response;
            prop_assert!((law / state.mean_jobs - 1.0).abs() < 1e-11);
        }
    }
}
