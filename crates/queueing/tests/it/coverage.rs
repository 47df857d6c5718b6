//! Intervals of the simulation hold the closed form about as often as they say.

use trainwright_queueing::{QueueKind, SimulationRequest, Times, simulate};

/// Simulations of each queue, with seeds that never change.
const RUNS: u64 = 100;

/// How many of the 95 % intervals of mean jobs and mean response hold the closed form.
fn held(kind: QueueKind, arrival: f64, servers: u32, scvs: [f64; 2]) -> [u64; 2] {
    let state = kind.queue(arrival, 1.0, servers).unwrap().steady_state();
    let (capacity, population) = match kind {
        QueueKind::Mmck { capacity } => (Some(capacity), None),
        QueueKind::Finite { population } => (None, Some(population)),
        _ => (None, None),
    };
    let mut held = [0; 2];
    for seed in 0..RUNS {
        let seen = simulate(&SimulationRequest {
            arrivals: Times::with_scv(1.0 / arrival, scvs[0]).unwrap(),
            service: Times::with_scv(1.0, scvs[1]).unwrap(),
            servers,
            capacity,
            population,
            warm_up: 1000,
            batch: 1000,
            batches: 40,
            confidence: 0.95,
            seed,
        })
        .unwrap();
        held[0] += u64::from(seen.mean_jobs.contains(state.mean_jobs));
        held[1] += u64::from(seen.mean_response.contains(state.mean_response));
    }
    held
}

/// 95 of 100 are promised, with a standard error of 2.2; neighbouring batches are not quite
/// independent, which costs a little.
#[track_caller]
fn check(kind: QueueKind, arrival: f64, servers: u32, scvs: [f64; 2]) {
    let held = held(kind, arrival, servers, scvs);
    assert!(held.iter().all(|number| *number >= 88), "{kind:?}: {held:?} of {RUNS}");
}

#[test]
fn markov_queues_are_covered() {
    check(QueueKind::Mmc, 0.5, 1, [1.0, 1.0]);
    check(QueueKind::Mmc, 2.1, 3, [1.0, 1.0]);
    check(QueueKind::Mmck { capacity: 8 }, 3.5, 3, [1.0, 1.0]);
    check(QueueKind::Finite { population: 12 }, 0.2, 2, [1.0, 1.0]);
}

#[test]
fn general_service_is_covered() {
    check(QueueKind::Mgc { scv_service: 0.25 }, 0.6, 1, [1.0, 0.25]);
    check(QueueKind::Mgc { scv_service: 2.0 }, 0.5, 1, [1.0, 2.0]);
}

/// How many of the 95 % intervals of the wait's p50, p90 and p99 hold the closed form of M/M/1.
fn quantiles_held(load: f64, batch: u32, seeds: std::ops::Range<u64>) -> [u64; 3] {
    let truth = QueueKind::Mmc.queue(load, 1.0, 1).unwrap().quantiles().wait;
    let mut held = [0; 3];
    for seed in seeds {
        let seen = simulate(&SimulationRequest {
            arrivals: Times::exponential(1.0 / load).unwrap(),
            service: Times::exponential(1.0).unwrap(),
            servers: 1,
            capacity: None,
            population: None,
            warm_up: 2 * batch,
            batch,
            batches: 40,
            confidence: 0.95,
            seed,
        })
        .unwrap();
        for ((held, own), truth) in
            held.iter_mut().zip(seen.wait_quantiles).zip([truth.p50, truth.p90, truth.p99])
        {
            *held += u64::from(own.contains(truth.unwrap()));
        }
    }
    held
}

#[test]
fn quantiles_of_a_half_full_queue_are_covered() {
    let held = quantiles_held(0.7, 2_500, 0..40);
    // 38 of 40 are promised, with a standard error of 1.4.
    assert!(held.iter().all(|own| *own >= 34), "{held:?} of 40");
}

/// p99 of the wait is ln(95) / 0.05 = 91.08.
#[test]
fn quantiles_of_a_nearly_full_queue_are_covered() {
    let held = quantiles_held(0.95, 100_000, 0..4);
    assert!(held.iter().all(|own| *own >= 3), "{held:?} of 4");
}

#[test]
#[ignore = "simulates 800 million jobs"]
fn quantiles_of_a_nearly_full_queue_are_covered_as_often_as_promised() {
    let held = quantiles_held(0.95, 100_000, 0..200);
    // 190 are promised; the standard error is 3.
    assert!(held.iter().all(|own| *own >= 180), "{held:?} of 200");
}
