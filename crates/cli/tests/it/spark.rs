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
mod streams;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use cluster::{Cluster, processes, working_folder};

use crate::program::Lab;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// The cluster that tests share which break nothing; none where there is no Spark.
///
/// One test at a time has it: an application takes all cores that a standalone cluster has.
fn shared() -> Option<(&'static str, MutexGuard<'static, ()>)> {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    static IN_USE: Mutex<()> = Mutex::new(());
    if !Cluster::is_possible() {
        return None;
    }
    let in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    Some((SHARED.get_or_init(|| Cluster::start(2)).master.as_str(), in_use))
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

/// No process of a trial, a task or a driver of this lab is left: all of them work in its folder.
#[track_caller]
fn check_nothing_is_left(lab: &Lab) {
    eventually("no process is left", || {
        let in_lab = |pid: u32| working_folder(pid).is_some_and(|own| own == lab.folder());
        !processes().into_iter().any(|(pid, _)| in_lab(pid))
    });
}
