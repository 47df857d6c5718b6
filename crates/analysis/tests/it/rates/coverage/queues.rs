//! Intervals of measured times and of simulated queues.

use trainwright_analysis::fit_times;
use trainwright_queueing::{Simulated, SimulationRequest, Times, simulate};

use super::{Printed, between, printed};
use crate::rates::kinds::questions::measured_times;
use crate::rates::noise::Noise;

pub(crate) const INTERVALS: &[Printed] = &[
    printed("mean of service times", 2_000, mean_time),
    printed("variation of service times", 2_000, variation),
    printed("simulated mean response", 400, mean_response),
    printed("simulated mean wait", 400, mean_wait),
    printed("simulated utilisation", 400, utilisation),
    printed("simulated median response", 400, |noise| response_quantile(0, 0.5, noise)),
    printed("simulated response of nine tenths", 400, |noise| response_quantile(1, 0.1, noise)),
    printed("simulated response of 99 hundredths", 400, |noise| response_quantile(2, 0.01, noise)),
];

fn mean_time(noise: &mut Noise) -> Option<bool> {
    Some(fit_times(&measured_times(100, noise)).ok()?.service.fit.mean.contains(2.0))
}

fn variation(noise: &mut Noise) -> Option<bool> {
    let scv = fit_times(&measured_times(100, noise)).ok()?.service.fit.scv;
    between(scv.low, 1.0, scv.high)
}

/// M/M/1 with arrivals at 0.8 and service at 1, as long as `queue simulate` makes it: the response
/// is exponential with rate 0.2.
fn queue(noise: &mut Noise) -> Simulated {
    simulate(&SimulationRequest {
        arrivals: Times::with_scv(1.0 / 0.8, 1.0).unwrap(),
        service: Times::with_scv(1.0, 1.0).unwrap(),
        servers: 1,
        capacity: None,
        population: None,
        warm_up: 5_000,
        batch: 2_500,
        batches: 40,
        confidence: 0.95,
        seed: noise.seed(),
    })
    .unwrap()
}

fn mean_response(noise: &mut Noise) -> Option<bool> {
    Some(queue(noise).mean_response.contains(5.0))
}

fn mean_wait(noise: &mut Noise) -> Option<bool> {
    Some(queue(noise).mean_wait.contains(4.0))
}

fn utilisation(noise: &mut Noise) -> Option<bool> {
    Some(queue(noise).utilisation.contains(0.8))
}

fn response_quantile(place: usize, beyond: f64, noise: &mut Noise) -> Option<bool> {
    Some(queue(noise).response_quantiles[place].contains(-beyond.ln() / 0.2))
}
