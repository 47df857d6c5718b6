//! The queues of field report D, as printed and as they should have been.

use trainwright_queueing::{QueueKind, fit_service};

/// Costs of the runs on this many nodes, from the authors' own table.
fn costs(nodes: &str) -> Vec<f64> {
    let text = include_str!("../data/report_d_results.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.records().map(Result::unwrap);
    rows.filter(|row| &row[2] == nodes && !row[9].is_empty())
        .map(|row| row[9].parse().unwrap())
        .collect()
}

#[track_caller]
fn near(found: f64, expected: f64, digits: f64) {
    assert!((found - expected).abs() <= digits, "{found} where {expected} is expected");
}

/// The report prints an arrival rate of 0.930 and a response of 11.005 for four servers: the
/// response it prints is the arrival rate.
#[test]
fn printed_figures_are_put_right() {
    let (one, four) = (3.0852978288122848, 3.439337553584956);
    let state = QueueKind::Mmc.queue(0.8 * one, one, 1).unwrap().steady_state();
    near(state.throughput, 2.468, 5e-4);
    near(state.mean_response, 1.6206, 5e-5);
    near(state.mean_jobs, 4.0, 1e-12);
    let state = QueueKind::Mmc.queue(0.8 * 4.0 * four, four, 4).unwrap().steady_state();
    near(state.throughput, 11.0059, 5e-5);
    near(state.p_wait.unwrap(), 0.59643, 5e-6);
    near(state.mean_response, 0.50752, 5e-6);
    near(state.mean_jobs, 5.58573, 5e-6);
}

/// The report divided the sum of 150 costs by 15, so its rates are a tenth of the true ones, and
/// took service to be exponential, which the four-node costs are not.
#[test]
fn rates_and_variation_come_from_the_measurements() {
    let (one, four) = (fit_service(&costs("1"), 7).unwrap(), fit_service(&costs("4"), 7).unwrap());
    assert_eq!((one.count, four.count), (150, 150));
    near(one.rate, 30.852978288122845, 1e-9);
    near(four.rate, 34.39337553584956, 1e-9);
    near(one.scv.estimate, 0.86, 5e-3);
    near(four.scv.estimate, 2.87, 5e-2);
    assert!(four.scv.no_interval.unwrap().contains("few long times decide"), "{four:?}");
    // Best cost found, 29.5 s at an accuracy of 0.976, against the true rate of one node.
    let best = 97.6 * 97.6 / 29.5;
    near(best / one.rate, 10.5, 0.05);
    // Population variance, as the reference has it.
    let population = one.scv.estimate * 149.0 / 150.0;
    let queue = QueueKind::Mgc { scv_service: population };
    let state = queue.queue(0.8 * one.rate, one.rate, 1).unwrap().steady_state();
    near(state.mean_jobs, 3.76021762250209, 1e-9);
}
