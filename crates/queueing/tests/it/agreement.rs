//! The simulation and the closed forms, which share no code, agree.

use trainwright_queueing::{
    Interval, Queue, QueueKind, Simulated, SimulationRequest, Times, simulate,
};

/// Some 120 intervals are looked at below; at this confidence one misses in a hundred runs of
/// the lot, and the seeds are fixed.
const CONFIDENCE: f64 = 0.9999;

fn seen(arrivals: Times, service: Times, servers: u32, capacity: Option<u32>) -> Simulated {
    let request = SimulationRequest {
        arrivals,
        service,
        servers,
        capacity,
        population: None,
        warm_up: 20_000,
        batch: 20_000,
        batches: 30,
        confidence: CONFIDENCE,
        seed: 2026,
    };
    simulate(&request).unwrap()
}

#[track_caller]
fn within(what: &str, interval: Interval, expected: f64) {
    // Counts that never vary have an interval without width.
    let rounding = 1e-12 * expected.abs();
    let holds = interval.low - rounding <= expected && expected <= interval.high + rounding;
    assert!(holds, "{what}: {interval:?} where {expected} is expected");
}

#[track_caller]
fn check(queue: &Queue, seen: &Simulated) {
    let state = queue.steady_state();
    within("utilisation", seen.utilisation, state.utilisation);
    within("p0", seen.p0, state.p0.unwrap());
    within("p_wait", seen.p_wait, state.p_wait.unwrap());
    within("p_block", seen.p_block, state.p_block);
    within("throughput", seen.throughput, state.throughput);
    within("mean jobs", seen.mean_jobs, state.mean_jobs);
    within("mean queue", seen.mean_queue, state.mean_queue);
    within("mean wait", seen.mean_wait, state.mean_wait);
    within("mean response", seen.mean_response, state.mean_response);
    let quantiles = queue.quantiles();
    for (times, intervals) in
        [(quantiles.wait, seen.wait_quantiles), (quantiles.response, seen.response_quantiles)]
    {
        for (time, interval) in [times.p50, times.p90, times.p99].into_iter().zip(intervals) {
            if let Some(time) = time {
                within("quantile", interval, time);
            }
        }
    }
    check_little(seen);
}

/// Areas and times are counted apart, so that Little's law is not true by construction; jobs
/// that straddle the ends of the run are all that may differ.
#[track_caller]
fn check_little(seen: &Simulated) {
    let law = |jobs: Interval, time: Interval| {
        let expected = seen.throughput.estimate * time.estimate;
        assert!((jobs.estimate - expected).abs() <= 2e-3 * jobs.estimate, "{jobs:?} {expected}");
    };
    law(seen.mean_jobs, seen.mean_response);
    law(seen.mean_queue, seen.mean_wait);
}

fn exponential(rate: f64) -> Times {
    Times::exponential(1.0 / rate).unwrap()
}

#[test]
fn mm1_and_mmc_agree() {
    for (arrival, service, servers) in [(0.6, 1.0, 1), (3.0, 1.0, 4), (9.0, 0.75, 16)] {
        let queue = QueueKind::Mmc.queue(arrival, service, servers).unwrap();
        check(&queue, &seen(exponential(arrival), exponential(service), servers, None));
    }
}

#[test]
fn mmck_agrees_below_and_above_full_load() {
    for (arrival, servers, capacity) in [(0.8, 1, 6), (5.0, 4, 12), (3.0, 4, 5), (6.0, 3, 9)] {
        let queue = QueueKind::Mmck { capacity }.queue(arrival, 1.0, servers).unwrap();
        check(&queue, &seen(exponential(arrival), exponential(1.0), servers, Some(capacity)));
    }
}

#[test]
fn mg1_agrees_for_even_and_uneven_service() {
    for scv_service in [0.0, 0.3, 1.0, 3.0] {
        let queue = QueueKind::Mgc { scv_service }.queue(0.6, 1.0, 1).unwrap();
        let service = Times::with_scv(1.0, scv_service).unwrap();
        check(&queue, &seen(exponential(0.6), service, 1, None));
    }
}

#[test]
fn customers_that_come_back_agree() {
    for (rate, servers, population) in [(0.3, 2, 9), (0.05, 1, 12), (2.0, 3, 5)] {
        let kind = QueueKind::Finite { population };
        let queue = kind.queue(rate, 1.0, servers).unwrap();
        let request = SimulationRequest {
            arrivals: exponential(rate),
            service: exponential(1.0),
            servers,
            capacity: None,
            population: Some(population),
            warm_up: 20_000,
            batch: 20_000,
            batches: 30,
            confidence: CONFIDENCE,
            seed: 2026,
        };
        check(&queue, &simulate(&request).unwrap());
    }
}

/// The approximation is not exact, so it is held to 15 %, not to the interval.
#[test]
fn ggc_is_near_the_simulation() {
    for (scv_arrival, scv_service, servers) in [(0.5, 0.5, 1), (1.0, 2.0, 4), (0.7, 1.0, 3)] {
        let arrival = 0.85 * f64::from(servers);
        let kind = QueueKind::Ggc { scv_arrival, scv_service };
        let expected = kind.queue(arrival, 1.0, servers).unwrap().steady_state();
        let arrivals = Times::with_scv(1.0 / arrival, scv_arrival).unwrap();
        let found = seen(arrivals, Times::with_scv(1.0, scv_service).unwrap(), servers, None);
        within("utilisation", found.utilisation, expected.utilisation);
        let ratio = found.mean_wait.estimate / expected.mean_wait;
        assert!((ratio - 1.0).abs() < 0.15, "{scv_arrival} {scv_service} {servers}: {ratio}");
        check_little(&found);
    }
}
