//! Trainings of several processes.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::program::{End, Lab, is_alive, send, until};

/// A job with everything that could differ between processes.
const JOB: [&str; 11] = [
    "train",
    "--neurons",
    "16",
    "--batch",
    "96",
    "--micro-batch",
    "16",
    "--clip-norm",
    "1",
    "--augment",
    "flip",
];

fn last_event(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or(Value::Null)
}

fn done(lab: &Lab, more: &[&str]) -> Value {
    let event =
        last_event(&lab.expect(0, &[&JOB[..], &["--epochs", "2", "--json"], more].concat()).stdout);
    assert_eq!(event["event"], "done", "{event}");
    event
}

/// A port that nobody listens on just now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The processes that a process has started.
fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

#[test]
fn processes_learn_the_same_bits_as_one() {
    let lab = Lab::new();
    let alone = done(&lab, &[]);
    for workers in ["1", "2", "3", "4"] {
        let spread = done(&lab, &["--strategy", "multi-worker", "--workers", workers]);
        assert_eq!(spread["parameters_hash"], alone["parameters_hash"], "{workers} workers");
        assert_eq!(spread["replicas"].to_string(), workers);
        assert_eq!(spread["strategy"], "multi-worker");
    }
    let threads = done(&lab, &["--strategy", "mirrored", "--replicas", "3"]);
    assert_eq!(threads["parameters_hash"], alone["parameters_hash"]);
}

#[test]
fn workers_join_from_elsewhere_and_strangers_do_not() {
    let lab = Lab::new();
    let alone = done(&lab, &[]);
    lab.write("secret", "sixteen bytes or more");
    lab.write("other", "another secret of theirs");
    let address = format!("127.0.0.1:{}", free_port());
    let strategy = ["--epochs", "2", "--strategy", "multi-worker", "--workers", "2", "--json"];
    let meeting = ["--listen", &address, "--secret-file", "secret"];
    let mut training = lab.start(&[&JOB[..], &strategy, &meeting].concat());
    let worker = |secret: &str| lab.run(&["worker", "--join", &address, "--secret-file", secret]);
    let refused = worker("other");
    assert_ne!(refused.code, Some(0));
    refused.says(&["secret"]);
    assert_eq!(worker("secret").code, Some(0));
    assert_eq!(training.end().code(), Some(0));
    let event = last_event(&lab.read("running.stdout"));
    assert_eq!(event["parameters_hash"], alone["parameters_hash"]);
    lab.expect(2, &["train", "--strategy", "multi-worker", "--listen", &address])
        .says(&["--secret-file"]);
}

#[test]
fn processes_of_a_launcher_find_each_other_by_their_ranks() {
    let lab = Lab::new();
    let alone = done(&lab, &[]);
    lab.write("secret", "sixteen bytes or more");
    let address = format!("127.0.0.1:{}", free_port());
    let more = ["--epochs", "2", "--strategy", "multi-worker", "--workers", "3", "--json"];
    let meeting = ["--listen", &address, "--secret-file", "secret"];
    let words = [&JOB[..], &more, &meeting].concat();
    let ranks = ["2", "0", "1"].map(|rank| {
        let mut command = lab.command(&words);
        command.env("OMPI_COMM_WORLD_RANK", rank);
        std::thread::spawn(move || End::of(command))
    });
    let [second, first, third] = ranks.map(|rank| rank.join().unwrap());
    assert_eq!([second.code, first.code, third.code], [Some(0); 3], "{first:#?} {second:#?}");
    let event = last_event(&first.stdout);
    assert_eq!(event["parameters_hash"], alone["parameters_hash"]);
    assert_eq!(second.stdout, "", "rank 0 speaks for all");
}

#[test]
fn a_killed_worker_is_named_and_the_job_goes_on_from_its_checkpoint_with_fewer() {
    let lab = Lab::new();
    let job = [&JOB[..], &["--epochs", "12"]].concat();
    let whole = last_event(&lab.expect(0, &[&job[..], &["--json"]].concat()).stdout);
    let keeping = ["--checkpoint", "kept", "--checkpoint-every", "5 steps", "--resume", "--json"];
    let spread = |workers| {
        [&job[..], &keeping, &["--strategy", "multi-worker", "--workers", workers]].concat()
    };
    let mut training = lab.start(&spread("3"));
    let kept = || fs::read_dir(lab.path("kept")).is_ok_and(|folder| folder.count() > 0);
    until("something is kept", kept);
    let workers = children(training.pid());
    assert_eq!(workers.len(), 2);
    send(workers[1], Signal::SIGKILL);
    assert!(training.ends_within(Duration::from_secs(8)), "the others wait for a dead worker");
    assert_eq!(training.end().code(), Some(3));
    let told = lab.read("running.stderr");
    assert!(
        told.contains("is lost") && told.contains("--resume") && told.contains("kept/step-"),
        "{told}"
    );
    until("no worker is left", || workers.iter().all(|&worker| !is_alive(worker)));
    let resumed = last_event(&lab.expect(0, &spread("2")).stdout);
    assert_eq!(resumed["parameters_hash"], whole["parameters_hash"]);
}

#[test]
fn a_worker_that_is_stopped_for_a_while_breaks_nothing() {
    let lab = Lab::new();
    let alone = done(&lab, &[]);
    let more = ["--epochs", "2", "--strategy", "multi-worker", "--workers", "2", "--json"];
    let words = [&JOB[..], &more].concat();
    let mut training = lab.start(&words);
    until("steps are told", || lab.read("running.stdout").lines().count() > 3);
    for worker in children(training.pid()) {
        send(worker, Signal::SIGSTOP);
        std::thread::sleep(Duration::from_millis(1500));
        send(worker, Signal::SIGCONT);
    }
    assert_eq!(training.end().code(), Some(0));
    let event = last_event(&lab.read("running.stdout"));
    assert_eq!(event["parameters_hash"], alone["parameters_hash"]);
}

#[test]
fn ctrl_c_keeps_a_job_of_several_workers() {
    let lab = Lab::new();
    let words = ["train", "--epochs", "100000", "--neurons", "4", "--checkpoint", "kept"];
    let words = [&words[..], &["--strategy", "multi-worker", "--workers", "2"]].concat();
    let mut training = lab.start(&words);
    until("an epoch is told", || lab.read("running.stdout").contains("epoch 1"));
    let workers = children(training.pid());
    training.signal(Signal::SIGINT);
    assert_eq!(training.end().code(), Some(130));
    assert!(fs::read_dir(lab.path("kept")).unwrap().count() > 0);
    until("no worker is left", || workers.iter().all(|&worker| !is_alive(worker)));
}
