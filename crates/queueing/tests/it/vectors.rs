//! Every vector, to 1e-10 relative.

use serde_json::Value;
use trainwright_queueing::{Queue, QueueKind, erlang_b, erlang_c};

const TOLERANCE: f64 = 1e-10;

fn cases(model: &str) -> Vec<Value> {
    let text = include_str!("../data/queueing.json");
    let all: Vec<Value> = serde_json::from_str(text).unwrap();
    let found: Vec<Value> = all.into_iter().filter(|case| case["model"] == model).collect();
    assert!(!found.is_empty(), "no vector of {model}");
    found
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap_or_else(|| panic!("no {key} in {case}"))
}

fn count(case: &Value, key: &str) -> u32 {
    case[key].as_u64().unwrap() as u32
}

#[track_caller]
fn close(what: &str, found: f64, expected: f64) {
    let gap = (found - expected).abs();
    assert!(gap <= TOLERANCE * expected.abs(), "{what}: {found} where {expected} is expected");
}

#[track_caller]
fn check_means(queue: &Queue, case: &Value) {
    let state = queue.steady_state();
    close("mean wait", state.mean_wait, number(case, "E_Wq"));
    close("mean response", state.mean_response, number(case, "E_T"));
    if case.get("E_N").is_some() {
        close("mean queue", state.mean_queue, number(case, "Lq"));
        close("mean jobs", state.mean_jobs, number(case, "E_N"));
    }
}

#[track_caller]
fn check_states(queue: &Queue, case: &Value) {
    close("p0", queue.steady_state().p0.unwrap(), number(case, "p0"));
    for (jobs, expected) in (0..).zip(case["p_n"].as_array().unwrap()) {
        close("p_n", queue.state_probability(jobs).unwrap(), expected.as_f64().unwrap());
    }
}

/// The vectors also hold 0.95, which the three quantiles leave out: there the tail must agree.
#[track_caller]
fn check_quantiles(queue: &Queue, case: &Value) {
    let found = queue.quantiles();
    let (wait, response) = (&case["wq_quantiles"], &case["t_quantiles"]);
    for (part, wait_found, response_found) in [
        ("0.5", found.wait.p50, found.response.p50),
        ("0.9", found.wait.p90, found.response.p90),
        ("0.99", found.wait.p99, found.response.p99),
    ] {
        close("wait quantile", wait_found.unwrap(), number(wait, part));
        close("response quantile", response_found.unwrap(), number(response, part));
    }
    close("wait tail", queue.wait_tail(number(wait, "0.95")).unwrap(), 0.05);
    close("response tail", queue.response_tail(number(response, "0.95")).unwrap(), 0.05);
}

#[test]
fn mm1_and_mmc_equal_the_vectors() {
    for case in cases("M/M/1").iter().chain(&cases("M/M/c")) {
        let (arrival, service) = (number(case, "lam"), number(case, "mu"));
        let servers = count(case, "c");
        let queue = QueueKind::Mmc.queue(arrival, service, servers).unwrap();
        check_means(&queue, case);
        check_states(&queue, case);
        check_quantiles(&queue, case);
        let state = queue.steady_state();
        close("utilisation", state.utilisation, number(case, "rho"));
        close("p_wait", state.p_wait.unwrap(), number(case, "p_wait"));
        close("Erlang B", erlang_b(arrival / service, servers).unwrap(), number(case, "erlang_b"));
        close("Erlang C", erlang_c(arrival / service, servers).unwrap(), number(case, "p_wait"));
        assert_eq!(state.p_block, 0.0);
    }
}

#[test]
fn mmck_equals_the_vectors() {
    for case in cases("M/M/c/K") {
        let kind = QueueKind::Mmck { capacity: count(&case, "K") };
        let queue = kind.queue(number(&case, "lam"), number(&case, "mu"), count(&case, "c"));
        let queue = queue.unwrap();
        check_means(&queue, &case);
        check_states(&queue, &case);
        let state = queue.steady_state();
        close("utilisation", state.utilisation, number(&case, "utilisation"));
        close("p_block", state.p_block, number(&case, "p_block"));
        close("p_wait", state.p_wait.unwrap(), number(&case, "p_wait_accepted"));
        close("throughput", state.throughput, number(&case, "lam_effective"));
    }
}

#[test]
fn mg1_equals_the_vectors() {
    for case in cases("M/G/1") {
        let kind = QueueKind::Mgc { scv_service: number(&case, "scv") };
        let queue = kind.queue(number(&case, "lam"), 1.0 / number(&case, "ES"), 1).unwrap();
        check_means(&queue, &case);
        let state = queue.steady_state();
        close("utilisation", state.utilisation, number(&case, "rho"));
        let quantiles = queue.quantiles();
        assert_eq!((quantiles.wait.p50, quantiles.response.p99), (None, None));
    }
}

#[test]
fn ggc_equals_the_vectors() {
    for case in cases("G/G/c Allen-Cunneen approximation") {
        let (scv_arrival, scv_service) = (number(&case, "ca2"), number(&case, "cs2"));
        let kind = QueueKind::Ggc { scv_arrival, scv_service };
        let queue = kind.queue(number(&case, "lam"), number(&case, "mu"), count(&case, "c"));
        let queue = queue.unwrap();
        check_means(&queue, &case);
        assert_eq!((queue.steady_state().p_wait, queue.state_probability(0)), (None, None));
    }
}
