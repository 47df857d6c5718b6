//! Preparations and speed tests on a cluster, also when executors are lost, slow or stopped.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::cluster::{Cluster, processes, working_folder};
use super::smoke::{check_page, files};
use super::{check_nothing_is_left, eventually, on, shared};
use crate::pictures::Picture;
use crate::program::{Lab, send};

/// A table that takes a while to prepare, and what one machine makes of it in `here`.
fn table() -> Lab {
    let lab = Lab::new();
    let rows: String = (0..60_000).map(|row| format!("{row},{}\n", row % 3)).collect();
    lab.write("t.csv", format!("x,label\n{rows}"));
    lab.expect(0, &prepare("here"));
    lab
}

fn prepare(out: &'static str) -> [&'static str; 7] {
    ["data", "prepare", "t.csv", "--out", out, "--shards", "64"]
}

fn has_shard(lab: &Lab, folder: &str) -> bool {
    let is_shard = |own: fs::DirEntry| own.path().extension().is_some_and(|it| it == "tfrecord");
    fs::read_dir(lab.path(folder)).is_ok_and(|entries| entries.flatten().any(is_shard))
}

/// Processes that make shards for a lab.
fn makers(lab: &Lab) -> Vec<u32> {
    let own = |(pid, words): &(u32, String)| {
        words.contains("trainwright executor")
            && working_folder(*pid).is_some_and(|own| own == lab.folder())
    };
    processes().into_iter().filter(own).map(|(pid, _)| pid).collect()
}

#[test]
#[ignore = "a cluster of its own takes a minute"]
fn a_preparation_whose_executors_are_killed_makes_the_same_bytes() {
    if !Cluster::is_possible() {
        return;
    }
    let (cluster, lab) = (Cluster::start(2), table());
    let spread = [&prepare("there")[..], &["--partitions", "32"]].concat();
    let mut running = lab.start(&on(&cluster.master, &spread));
    eventually("a shard", || has_shard(&lab, "there"));
    assert!(cluster.kill_executors(Some("127.0.0.2")) > 0);
    eventually("the end", || running.has_ended());
    assert_eq!(running.end().code(), Some(0), "{}", lab.read("running.stderr"));
    assert_eq!(files(&lab.path("there")), files(&lab.path("here")), "no shard twice, none torn");
    let told = lab.read("running.stdout");
    assert!(told.contains("failed on 127.0.0.2:"), "what was lost is told: {told}");
}

#[test]
#[ignore = "an application takes half a minute"]
fn a_maker_of_shards_that_stands_still_is_speculated_and_tears_nothing() {
    let Some((master, _in_use)) = shared() else { return };
    let lab = table();
    let conf = ["quantile=0.5", "multiplier=1.5", "minTaskRuntime=1s", "interval=100ms"]
        .map(|own| format!("spark.speculation.{own}"));
    let mut words = [&prepare("there")[..], &["--partitions", "8", "--json"]].concat();
    conf.iter().for_each(|own| words.extend(["--conf", own]));
    let mut running = lab.start(&on(master, &words));
    eventually("a maker", || !makers(&lab).is_empty());
    let slow = makers(&lab)[0];
    send(slow, Signal::SIGSTOP);
    eventually("the end", || running.has_ended());
    let made = files(&lab.path("there"));
    // It goes on when all is over, and must not spoil anything.
    send(slow, Signal::SIGCONT);
    assert_eq!(running.end().code(), Some(0), "{}", lab.read("running.stderr"));
    let reply: Value = serde_json::from_str(&lab.read("running.stdout")).unwrap();
    let tasks = reply["cluster"]["tasks"].as_array().unwrap();
    assert!(tasks.iter().any(|task| task["speculative"] == true), "{tasks:?}");
    check_nothing_is_left(&lab);
    let (here, after) = (files(&lab.path("here")), files(&lab.path("there")));
    assert_eq!(made, here);
    assert!(here.iter().all(|file| after.contains(file)), "a late attempt changed a shard");
}

#[test]
#[ignore = "an application takes half a minute"]
fn ctrl_c_ends_a_preparation_which_goes_on_later() {
    let Some((master, _in_use)) = shared() else { return };
    let lab = table();
    let words = [&prepare("there")[..], &["--partitions", "32"]].concat();
    let mut running = lab.start(&on(master, &words));
    eventually("a shard", || has_shard(&lab, "there"));
    running.signal(Signal::SIGINT);
    eventually("the end", || running.has_ended());
    assert_eq!(running.end().code(), Some(130), "{}", lab.read("running.stderr"));
    check_nothing_is_left(&lab);
    lab.expect(0, &on(master, &words));
    assert_eq!(files(&lab.path("there")), files(&lab.path("here")));
}

#[test]
#[ignore = "an application takes half a minute"]
fn a_corrupt_picture_is_refused_as_on_one_machine() {
    let Some((master, _in_use)) = shared() else { return };
    let lab = Lab::new();
    for number in 0..6_u8 {
        let pixels = vec![number; 40 * 30 * 3];
        lab.write(
            &format!("photos/a/{number}.jpg"),
            Picture { rows: 30, columns: 40, pixels }.jpeg(),
        );
    }
    let whole = fs::read(lab.path("photos/a/3.jpg")).unwrap();
    lab.write("photos/a/3.jpg", &whole[..whole.len() / 3]);
    let words = |out: &'static str| {
        ["data", "prepare", "photos", "--out", out, "--size", "16", "--shards", "2"]
    };
    let here = lab.run(&words("here"));
    assert_ne!(here.code, Some(0));
    let there = lab.expect(here.code.unwrap(), &on(master, &words("there")));
    let named = here.stderr.lines().find(|line| line.contains("3.jpg"));
    there.says(&[named.unwrap_or_else(|| panic!("{here:?}"))]);
    check_nothing_is_left(&lab);
}

#[test]
#[ignore = "an application takes half a minute"]
fn a_speed_test_reads_everything_on_the_executors() {
    let Some((master, _in_use)) = shared() else { return };
    let lab = Lab::new();
    for number in 0..12_u8 {
        let pixels = vec![number; 40 * 30 * 3];
        lab.write(
            &format!("photos/a/{number}.jpg"),
            Picture { rows: 30, columns: 40, pixels }.jpeg(),
        );
    }
    lab.expect(
        0,
        &["data", "prepare", "photos", "--out", "shards", "--size", "16", "--shards", "2"],
    );
    let words = "data speedtest photos --records shards --size 16 --batch-size 2,4 \
                 --batch-number 1,2 --repetitions 2 --partitions 5 --report page.html --json";
    let words: Vec<&str> = words.split_whitespace().collect();
    let reply = lab.json(&on(master, &words));
    let rows = reply["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 2 * 2 * 2);
    assert!(rows.iter().all(|row| row["images_per_s"].as_f64() > Some(0.0)));
    let cluster = &reply["cluster"];
    assert_eq!(
        (&cluster["partitions"], cluster["tasks"].as_array().unwrap().len()),
        (&5.into(), 5)
    );
    check_page(&lab, "page.html");
    let refused = lab.expect(2, &on(master, &["data", "speedtest", "photos"]));
    refused.says(&["--records"]);
}
