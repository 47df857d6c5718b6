//! Trainings of several processes.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
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

/// The events of a name that a training told.
fn events(text: &str, name: &str) -> Vec<Value> {
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event["event"] == name).collect()
}

#[test]
fn an_elastic_job_goes_on_without_killed_workers_to_the_same_bits() {
    let lab = Lab::new();
    let job = [&JOB[..], &["--epochs", "12", "--optimizer", "momentum", "--json"]].concat();
    let whole = last_event(&lab.expect(0, &job).stdout);
    let elastic = ["--strategy", "multi-worker", "--workers", "4", "--elastic"];
    let mut training = lab.start(&[&job[..], &elastic].concat());
    let told = || lab.read("running.stdout");
    until("steps are told", || told().lines().count() > 3);
    let workers = children(training.pid());
    send(workers[2], Signal::SIGKILL);
    until("the loss is told", || events(&told(), "rank-lost").len() == 1);
    send(workers[0], Signal::SIGKILL);
    assert_eq!(training.end().code(), Some(0), "{}", lab.read("running.stderr"));
    let losses = events(&told(), "rank-lost");
    let left: Vec<&Value> = losses.iter().map(|lost| &lost["ranks"]).collect();
    assert_eq!(left, [3, 2]);
    let end = last_event(&told());
    assert_eq!(end["parameters_hash"], whole["parameters_hash"]);
    assert_eq!(end["steps"], whole["steps"]);
    assert_eq!(end["ranks"].as_array().map(Vec::len), Some(2), "those that are left account");
    until("no worker is left", || workers.iter().all(|&worker| !is_alive(worker)));
}

#[test]
fn drifting_workers_go_on_without_a_killed_one_from_their_last_average() {
    let lab = Lab::new();
    let job = [&JOB[..], &["--epochs", "12", "--json", "--strategy", "local-sgd"]].concat();
    let more = ["--workers", "3", "--sync-every", "4", "--elastic"];
    let mut training = lab.start(&[&job[..], &more].concat());
    let told = || lab.read("running.stdout");
    until("steps are told", || told().lines().count() > 6);
    send(children(training.pid())[1], Signal::SIGKILL);
    assert_eq!(training.end().code(), Some(0), "{}", lab.read("running.stderr"));
    let losses = events(&told(), "rank-lost");
    assert_eq!(losses.len(), 1);
    let step = losses[0]["step"].as_u64().unwrap();
    // 6,000 examples in steps of 96; the end of an epoch is an average too.
    assert!((step % 63).is_multiple_of(4), "a stretch begins at an average: {step}");
    let steps: Vec<u64> =
        events(&told(), "step").iter().map(|own| own["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, (1..=steps.len() as u64).collect::<Vec<_>>(), "each step is told once");
}

#[test]
fn the_loss_of_rank_0_ends_all() {
    let lab = Lab::new();
    let keeping = ["--checkpoint", "kept", "--checkpoint-every", "5 steps"];
    let job =
        [&JOB[..], &["--epochs", "100000", "--elastic", "--patience", "1s"], &keeping].concat();
    let mut training =
        lab.start(&[&job[..], &["--strategy", "multi-worker", "--workers", "3"]].concat());
    until("an epoch is told", || lab.read("running.stdout").contains("epoch 1"));
    let workers = children(training.pid());
    assert_eq!(workers.len(), 2);
    training.signal(Signal::SIGKILL);
    training.end();
    until("no worker is left", || workers.iter().all(|&worker| !is_alive(worker)));
    let told = lab.read("running.stderr");
    assert!(told.contains("rank 0") && told.contains("kept/step-"), "{told}");
}

/// Passes bytes on to an address, both ways, until it is cut; connections stay open.
fn proxy(target: String) -> (String, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let cut = Arc::new(AtomicBool::new(false));
    let flag = cut.clone();
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let far = connected(&target);
            let pairs = [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)];
            for (from, to) in pairs {
                let flag = flag.clone();
                thread::spawn(move || pass_on(from, to, &flag));
            }
        }
    });
    (address, cut)
}

/// A connection to an address, once someone listens there.
fn connected(target: &str) -> TcpStream {
    loop {
        if let Ok(stream) = TcpStream::connect(target) {
            return stream;
        }
        thread::park_timeout(Duration::from_millis(20));
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, cut: &AtomicBool) {
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        while cut.load(Ordering::SeqCst) {
            thread::park_timeout(Duration::from_millis(20));
        }
        if to.write_all(&bytes[..read]).is_err() {
            return;
        }
    }
}

#[test]
fn of_a_network_that_falls_apart_only_the_side_of_rank_0_goes_on() {
    let lab = Lab::new();
    let job = [&JOB[..], &["--epochs", "12", "--json"]].concat();
    let whole = last_event(&lab.expect(0, &job).stdout);
    lab.write("secret", "sixteen bytes or more");
    let address = format!("127.0.0.1:{}", free_port());
    let strategy = ["--strategy", "multi-worker", "--workers", "2", "--elastic"];
    let meeting = ["--listen", &address, "--secret-file", "secret", "--patience", "500ms"];
    let mut training = lab.start(&[&job[..], &strategy, &meeting].concat());
    let (through, cut) = proxy(address);
    let words = ["worker", "--join", &through, "--secret-file", "secret", "--patience", "500ms"];
    let worker = lab.command(&words);
    let worker = thread::spawn(move || End::of(worker));
    until("steps are told", || lab.read("running.stdout").lines().count() > 3);
    cut.store(true, Ordering::SeqCst);
    assert_eq!(training.end().code(), Some(0), "{}", lab.read("running.stderr"));
    let told = lab.read("running.stdout");
    assert_eq!(events(&told, "rank-lost")[0]["ranks"], 1);
    assert_eq!(last_event(&told)["parameters_hash"], whole["parameters_hash"]);
    let worker = worker.join().unwrap();
    assert_eq!(worker.code, Some(3), "the side without rank 0 ends: {worker:#?}");
}
