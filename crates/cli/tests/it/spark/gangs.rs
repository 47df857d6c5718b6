//! Training by gangs, also when ranks and machines are lost.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::cluster::{Cluster, kill, processes, working_folder};
use super::smoke::check_page;
use super::{check_nothing_is_left, eventually, on, shared};
use crate::program::{End, Lab};

/// The last event of a training.
#[track_caller]
fn last(end: &End) -> Value {
    assert_eq!(end.code, Some(0), "{end:#?}");
    serde_json::from_str(end.stdout.lines().last().unwrap()).unwrap()
}

const BITS: [&str; 9] =
    ["train", "--batch", "64", "--micro-batch", "16", "--seed", "5", "--json", "--strategy"];

fn job<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&BITS[..], words].concat()
}

#[test]
fn a_gang_on_a_cluster_has_the_bits_of_one_machine() {
    let Some((master, _in_use)) = shared() else { return };
    let lab = Lab::new();
    let words = job(&["multi-worker", "--workers", "2"]);
    let here = last(&lab.run(&words));
    let there = last(&lab.run(&on(master, &[&words[..], &["--report", "page.html"]].concat())));
    assert_eq!(there["parameters_hash"], here["parameters_hash"]);
    assert_eq!((&there["replicas"], &there["steps"]), (&here["replicas"], &here["steps"]));
    assert!(there["bytes_sent"].as_u64() > Some(1_000_000), "gradients go from rank to rank");
    let ranks = there["cluster"]["tasks"].as_array().unwrap();
    assert_eq!(ranks.len(), 2, "{ranks:?}");
    assert!(ranks.iter().all(|own| own["usage"]["user_s"].as_f64() > Some(0.0)), "{ranks:?}");
    check_page(&lab, "page.html");
}

#[test]
#[ignore = "two applications take a minute"]
fn servers_and_local_steps_have_the_bits_of_one_machine_too() {
    let Some((master, _in_use)) = shared() else { return };
    let lab = Lab::new();
    for words in [
        job(&["parameter-server", "--workers", "2", "--servers", "1"]),
        job(&["local-sgd", "--workers", "2", "--sync-every", "4", "--optimizer", "momentum"]),
    ] {
        let (here, there) = (last(&lab.run(&words)), last(&lab.run(&on(master, &words))));
        assert_eq!(there["parameters_hash"], here["parameters_hash"], "{words:?}");
    }
}

#[test]
#[ignore = "an application takes half a minute"]
fn too_few_slots_are_told_at_once() {
    let Some((master, _in_use)) = shared() else { return };
    let end = Lab::new().expect(2, &on(master, &job(&["multi-worker", "--workers", "9"])));
    end.says(&["9 ranks must run at once, and the cluster has 4 slots"]);
}

/// A training of some seconds that is kept every ten steps.
fn long(lab: &Lab, workers: &'static str, kept: &'static str) -> Vec<&'static str> {
    let _ = lab;
    let words = ["multi-worker", "--workers", workers, "--epochs", "20", "--neurons", "256"];
    [&job(&words)[..], &["--checkpoint", kept, "--checkpoint-every", "10 steps"]].concat()
}

/// Processes of ranks: our program on executors, which works in the folder of the lab.
fn ranks(lab: &Lab) -> Vec<u32> {
    let own = |pid: u32, words: &str| {
        words.contains("trainwright executor")
            && working_folder(pid).is_some_and(|own| own == lab.folder())
    };
    let all = processes().into_iter();
    all.filter(|(pid, words)| own(*pid, words)).map(|(pid, _)| pid).collect()
}

fn is_kept(lab: &Lab, folder: &str) -> bool {
    fs::read_dir(lab.path(folder)).is_ok_and(|mut entries| entries.next().is_some())
}

#[test]
#[ignore = "an application takes half a minute"]
fn ctrl_c_ends_a_gang_and_leaves_no_process() {
    let Some((master, _in_use)) = shared() else { return };
    let lab = Lab::new();
    let mut running = lab.start(&on(master, &long(&lab, "2", "kept")));
    eventually("a checkpoint", || is_kept(&lab, "kept"));
    running.signal(Signal::SIGINT);
    eventually("the end", || running.has_ended());
    assert_eq!(running.end().code(), Some(130), "{}", lab.read("running.stderr"));
    check_nothing_is_left(&lab);
}

#[test]
#[ignore = "takes a minute, and kills processes"]
fn a_killed_rank_resumes_the_gang_with_the_same_parameters() {
    if !Cluster::is_possible() {
        return;
    }
    let (cluster, lab) = (Cluster::start(2), Lab::new());
    let undisturbed = last(&lab.run(&long(&lab, "2", "here")));
    let mut running = lab.start(&on(&cluster.master, &long(&lab, "2", "there")));
    eventually("a checkpoint", || is_kept(&lab, "there"));
    kill(*ranks(&lab).last().unwrap());
    eventually("the end", || running.has_ended());
    let text = lab.read("running.stdout");
    assert_eq!(running.end().code(), Some(0), "{}", lab.read("running.stderr"));
    assert!(text.contains("\"event\":\"restarted\""), "the kill came too late");
    let done: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(done["parameters_hash"], undisturbed["parameters_hash"]);
}

#[test]
#[ignore = "takes a minute, and kills a worker"]
fn a_lost_machine_leaves_a_smaller_gang_with_the_same_parameters() {
    if !Cluster::is_possible() {
        return;
    }
    let (cluster, lab) = (Cluster::start(2), Lab::new());
    let undisturbed = last(&lab.run(&long(&lab, "3", "here")));
    let words = [&long(&lab, "3", "there")[..], &["--min-workers", "2"]].concat();
    let mut running = lab.start(&on(&cluster.master, &words));
    eventually("a checkpoint", || is_kept(&lab, "there"));
    cluster.kill_worker(2);
    eventually("the end", || running.has_ended());
    assert_eq!(running.end().code(), Some(0), "{}", lab.read("running.stderr"));
    let (text, told) = (lab.read("running.stdout"), lab.read("running.stderr"));
    assert!(text.contains("\"event\":\"restarted\""), "the kill came too late");
    assert!(told.contains("going on with 2 workers"), "{told}");
    let done: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(done["parameters_hash"], undisturbed["parameters_hash"]);
    assert_eq!(done["replicas"], 2);
}
