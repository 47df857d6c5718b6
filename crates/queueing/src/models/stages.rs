//! Waits and responses as numbers of exponential stages, for queues whose places are limited.

use crate::bisection;
use crate::models::poisson::stages_tail;
use crate::steady_state::{Quantiles, TimeQuantiles};

/// Times of jobs that are served first come first served by exponential servers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stages {
    service_rate: f64,
    servers: u32,
    /// Of waiting for more than j departures.
    wait_beyond: Vec<f64>,
    /// Of more than j departures, in a queue kept busy, until the job's own.
    response_beyond: Vec<f64>,
}

impl Stages {
    /// `found_busy` holds the probabilities that a job finds all servers busy and 0, 1, ... jobs
    /// waiting; it then waits for one departure more than that.
    pub(crate) fn new(service_rate: f64, servers: u32, found_busy: &[f64]) -> Self {
        let wait_beyond = sums_from(found_busy);
        let response_beyond = response_beyond(&wait_beyond, servers);
        Self { service_rate, servers, wait_beyond, response_beyond }
    }

    /// Probability that a job waits at all.
    pub(crate) fn p_wait(&self) -> f64 {
        self.wait_beyond.first().copied().unwrap_or(0.0)
    }

    /// Departures a full set of servers makes in `time`.
    fn departures(&self, time: f64) -> f64 {
        f64::from(self.servers) * self.service_rate * time
    }

    /// Probability that a job waits longer than `time`.
    pub(crate) fn wait_tail(&self, time: f64) -> f64 {
        stages_tail(self.departures(time), &self.wait_beyond, 0.0)
    }

    /// Probability that a job takes longer than `time` from arrival to end.
    pub(crate) fn response_tail(&self, time: f64) -> f64 {
        let stay = 1.0 - 1.0 / f64::from(self.servers);
        stages_tail(self.departures(time), &self.response_beyond, stay)
    }

    /// Quantiles of wait and response, both exact.
    pub(crate) fn quantiles(&self) -> Quantiles {
        let scale = 1.0 / self.service_rate;
        let wait = |beyond| bisection::quantile(|time| self.wait_tail(time), beyond, scale);
        let response = |beyond| bisection::quantile(|time| self.response_tail(time), beyond, scale);
        Quantiles { wait: TimeQuantiles::of(wait), response: TimeQuantiles::of(response) }
    }
}

/// Sums of the values from each place to the end.
fn sums_from(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; values.len()];
    let mut sum = 0.0;
    for (slot, value) in sums.iter_mut().zip(values).rev() {
        sum += value;
        *slot = sum;
    }
    sums
}

/// Service seen as stages of the rate of all servers together: each ends this job with
/// probability 1 / servers, so service lasts a geometric number of stages, and the response is
/// that many more than the wait (uniformisation).
fn response_beyond(wait_beyond: &[f64], servers: u32) -> Vec<f64> {
    let stay = 1.0 - 1.0 / f64::from(servers);
    // Probability of at least j stages of waiting.
    let at_least = |j: usize| match j {
        0 => 1.0,
        j => wait_beyond.get(j - 1).copied().unwrap_or(0.0),
    };
    let mut in_service = 0.0;
    (0..=wait_beyond.len())
        .map(|j| {
            let beyond = at_least(j) + in_service;
            in_service = stay * (in_service + at_least(j) - at_least(j + 1));
            beyond
        })
        .collect()
}
