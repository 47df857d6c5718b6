//! Trainings with parameter servers, as processes.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::program::{Lab, Running, is_alive, send, until};

/// A job with everything that could differ between processes.
const JOB: [&str; 9] =
    ["train", "--neurons", "16", "--batch", "96", "--micro-batch", "16", "--clip-norm", "1"];

/// Two workers, two servers: ranks 1 and 2, 3 and 4.
const SERVERS: [&str; 6] = ["--strategy", "parameter-server", "--workers", "2", "--servers", "2"];

fn events(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn done(lab: &Lab, more: &[&str]) -> Value {
    let words = [&JOB[..], &["--epochs", "2", "--json"], more].concat();
    let event = events(&lab.expect(0, &words).stdout).pop().unwrap_or_default();
    assert_eq!(event["event"], "done", "{event}");
    event
}

/// The processes that a process has started, in the order of their ranks from 1 on.
fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

/// Examples of all steps that were told.
fn examples(told: &[Value]) -> u64 {
    let steps = told.iter().filter(|own| own["event"] == "step");
    steps.map(|own| own["batch"].as_u64().unwrap()).sum()
}

/// Waits until so many steps are told.
fn until_steps(lab: &Lab, count: usize) {
    until("steps are told", || {
        lab.read("running.stdout").lines().filter(|line| line.contains("\"step\"")).count() > count
    });
}

#[test]
fn processes_learn_the_same_bits_as_one() {
    let lab = Lab::new();
    let alone = done(&lab, &[]);
    for (workers, servers) in [("1", "1"), ("2", "2"), ("3", "1")] {
        let cast = ["--workers", workers, "--servers", servers];
        let spread = done(&lab, &[&["--strategy", "parameter-server"][..], &cast].concat());
        assert_eq!(spread["parameters_hash"], alone["parameters_hash"], "{workers} {servers}");
        assert_eq!(spread["strategy"], "parameter-server");
        assert_eq!(spread["replicas"].to_string(), workers);
    }
    let one = ["--strategy", "parameter-server", "--consistency", "async", "--servers", "2"];
    let found = done(&lab, &one);
    assert_eq!(found["parameters_hash"], alone["parameters_hash"], "one asynchronous worker");
}

#[test]
fn workers_and_servers_join_from_elsewhere() {
    let lab = Lab::new();
    let alone = done(&lab, &[]);
    lab.write("secret", "sixteen bytes or more");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let meeting = ["--listen", &address, "--secret-file", "secret", "--epochs", "2", "--json"];
    let mut training = lab.start(&[&JOB[..], &SERVERS, &meeting].concat());
    let ends: Vec<_> = (0..4)
        .map(|_| {
            let command = lab.command(&["worker", "--join", &address, "--secret-file", "secret"]);
            std::thread::spawn(move || crate::program::End::of(command))
        })
        .collect();
    for end in ends {
        let end = end.join().unwrap();
        assert_eq!(end.code, Some(0), "{end:#?}");
    }
    assert_eq!(training.end().code(), Some(0));
    let event = events(&lab.read("running.stdout")).pop().unwrap();
    assert_eq!(event["parameters_hash"], alone["parameters_hash"]);
}

#[test]
fn asynchronous_workers_go_on_without_one_that_is_killed() {
    let lab = Lab::new();
    let alone = lab.expect(0, &[&JOB[..], &["--json"]].concat()).stdout;
    let in_an_epoch = examples(&events(&alone));
    for consistency in [&["async"][..], &["bounded", "--staleness", "2"]] {
        let lab = Lab::new();
        let more = ["--epochs", "40", "--json", "--workers", "3", "--consistency"];
        let words = [&JOB[..], &SERVERS[..2], &more, consistency].concat();
        let mut training = lab.start(&words);
        until_steps(&lab, 3);
        let workers = children(training.pid());
        assert_eq!(workers.len(), 4);
        send(workers[1], Signal::SIGKILL);
        assert_eq!(training.end().code(), Some(0), "{}", lab.read("running.stderr"));
        let told = events(&lab.read("running.stdout"));
        let lost: Vec<&Value> = told.iter().filter(|own| own["event"] == "rank-lost").collect();
        assert_eq!(lost.len(), 1, "{consistency:?}");
        assert!(lost[0]["why"].as_str().unwrap().starts_with("worker 2: "), "{}", lost[0]);
        let end = told.last().unwrap();
        assert_eq!((&end["event"], &end["ended"]), (&"done".into(), &"epochs".into()));
        assert_eq!(examples(&told), 40 * in_an_epoch, "each example once in every epoch");
    }
}

#[test]
fn a_killed_worker_is_absorbed_by_a_backup_and_named_without_one() {
    let lab = Lab::new();
    let job = [&JOB[..], &["--epochs", "40", "--json", "--workers", "3"]].concat();
    let strategy = ["--strategy", "parameter-server", "--servers", "1"];
    let mut training = lab.start(&[&job[..], &strategy, &["--backup", "1"]].concat());
    until_steps(&lab, 3);
    send(children(training.pid())[0], Signal::SIGKILL);
    assert_eq!(training.end().code(), Some(0), "{}", lab.read("running.stderr"));
    let keeping = ["--checkpoint", "kept", "--checkpoint-every", "2 steps"];
    let mut training = lab.start(&[&job[..], &strategy, &keeping].concat());
    let kept = || fs::read_dir(lab.path("kept")).is_ok_and(|folder| folder.count() > 0);
    until("something is kept", kept);
    let all = children(training.pid());
    send(all[2], Signal::SIGKILL);
    assert!(training.ends_within(Duration::from_secs(12)), "the others wait for a dead worker");
    assert_eq!(training.end().code(), Some(3));
    let told = lab.read("running.stderr");
    assert!(told.contains("worker 3: rank 3 is lost") && told.contains("kept/step-"), "{told}");
    until("no process is left", || all.iter().all(|&own| !is_alive(own)));
}

/// Kills the second server of a training once something is kept, and again after each restart.
fn kill_servers(lab: &Lab, training: &Running, times: usize) {
    for restarts in 0..times {
        let kept = || fs::read_dir(lab.path("kept")).is_ok_and(|folder| folder.count() > 0);
        until("something is kept", kept);
        until("it is started again and makes steps", || {
            let told = events(&lab.read("running.stdout"));
            let again = |own: &Value| own["event"] == "restarted";
            told.iter().filter(|own| again(own)).count() == restarts
                && told
                    .iter()
                    .rev()
                    .find(|own| again(own) || own["event"] == "step")
                    .is_some_and(|own| !again(own))
        });
        send(children(training.pid())[3], Signal::SIGKILL);
    }
}

#[test]
fn a_killed_server_is_started_again_and_goes_on_from_its_checkpoint() {
    let lab = Lab::new();
    let job = [&JOB[..], &["--epochs", "12", "--json"]].concat();
    let whole = events(&lab.expect(0, &job).stdout).pop().unwrap();
    let keeping = ["--checkpoint", "kept", "--checkpoint-every", "2 steps"];
    for consistency in ["sync", "async"] {
        let lab = Lab::new();
        let more = [&keeping[..], &["--consistency", consistency]].concat();
        let mut training = lab.start(&[&job[..], &SERVERS, &more].concat());
        kill_servers(&lab, &training, 1);
        assert_eq!(training.end().code(), Some(0), "{}", lab.read("running.stderr"));
        let told = events(&lab.read("running.stdout"));
        let again: Vec<&Value> = told.iter().filter(|own| own["event"] == "restarted").collect();
        assert_eq!(again.len(), 1, "{consistency}");
        let why = again[0]["why"].as_str().unwrap();
        assert!(why.starts_with("server 2: rank 4 is lost"), "{why}");
        assert!(again[0]["checkpoint"].as_str().unwrap().contains("kept/step-"), "{}", again[0]);
        let end = told.last().unwrap();
        assert_eq!((&end["event"], &end["steps"]), (&"done".into(), &whole["steps"]));
        if consistency == "sync" {
            assert_eq!(end["parameters_hash"], whole["parameters_hash"]);
        }
    }
}

#[test]
fn a_server_that_dies_again_and_again_ends_the_job_which_goes_on_with_other_numbers() {
    let lab = Lab::new();
    let job = [&JOB[..], &["--epochs", "40"]].concat();
    let whole = events(&lab.expect(0, &[&job[..], &["--json"]].concat()).stdout).pop().unwrap();
    let keeping = ["--checkpoint", "kept", "--checkpoint-every", "2 steps", "--resume", "--json"];
    let mut training = lab.start(&[&job[..], &SERVERS, &keeping].concat());
    kill_servers(&lab, &training, 4);
    assert!(training.ends_within(Duration::from_secs(12)), "the others wait for a dead server");
    assert_eq!(training.end().code(), Some(3));
    let told = lab.read("running.stderr");
    assert!(told.contains("server 2: rank 4 is lost") && told.contains("--resume"), "{told}");
    let other = ["--strategy", "parameter-server", "--workers", "3", "--servers", "1"];
    let resumed = lab.expect(0, &[&job[..], &other, &keeping].concat()).stdout;
    let resumed = events(&resumed).pop().unwrap();
    assert_eq!(resumed["parameters_hash"], whole["parameters_hash"]);
}

#[test]
fn workers_and_servers_that_are_stopped_for_a_while_break_nothing() {
    let lab = Lab::new();
    let alone = done(&lab, &[]);
    let mut training = lab.start(&[&JOB[..], &SERVERS, &["--epochs", "2", "--json"]].concat());
    until_steps(&lab, 0);
    for own in children(training.pid()) {
        send(own, Signal::SIGSTOP);
        std::thread::sleep(Duration::from_millis(1200));
        send(own, Signal::SIGCONT);
    }
    assert_eq!(training.end().code(), Some(0), "{}", lab.read("running.stderr"));
    let event = events(&lab.read("running.stdout")).pop().unwrap();
    assert_eq!(event["parameters_hash"], alone["parameters_hash"]);
}

#[test]
fn a_recorded_run_of_processes_is_computed_again_by_one() {
    let lab = Lab::new();
    let spread = [&SERVERS[..], &["--consistency", "async"]].concat();
    let found = done(&lab, &[&spread[..], &["--record", "run.jsonl"]].concat());
    let again = done(&lab, &[&spread[..], &["--replay", "run.jsonl"]].concat());
    assert_eq!(again["parameters_hash"], found["parameters_hash"]);
    lab.expect(2, &["train", "--replay", "run.jsonl"]).says(&["parameter-server"]);
}

#[test]
fn ctrl_c_keeps_a_job_on_servers() {
    let lab = Lab::new();
    let words = ["train", "--epochs", "100000", "--neurons", "4", "--checkpoint", "kept"];
    let words = [&words[..], &SERVERS, &["--consistency", "async"]].concat();
    let mut training = lab.start(&words);
    until("an epoch is told", || lab.read("running.stdout").contains("epoch 1"));
    let all = children(training.pid());
    training.signal(Signal::SIGINT);
    assert_eq!(training.end().code(), Some(130));
    assert!(fs::read_dir(lab.path("kept")).unwrap().count() > 0);
    until("no process is left", || all.iter().all(|&own| !is_alive(own)));
}
