//! The same work on a real Spark cluster on loopback, which the tests start and stop themselves.
//!
//! `smoke.rs` runs with all other tests, the rest with `--ignored`.

#[path = "../../../engine/tests/it/cluster.rs"]
mod cluster;
mod experiment;
mod gangs;
mod lost;
mod missing;
mod smoke;

use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cluster::Cluster;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// The cluster that tests share which break nothing; none where there is no Spark.
fn shared() -> Option<&'static str> {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    Cluster::is_possible().then(|| SHARED.get_or_init(|| Cluster::start(2)).master.as_str())
}

/// Words of a command with those that send it to a cluster.
fn on<'a>(master: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    let memory = "spark.executor.memory=512m";
    [words, &["--engine", "spark", "--master", master, "--conf", memory]].concat()
}

/// Waits until something holds.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        sleep(Duration::from_millis(20));
    }
}
