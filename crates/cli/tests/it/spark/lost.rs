//! Studies and preparations whose executors, driver or runner are lost, and Ctrl-C.

use nix::sys::signal::Signal;

use super::cluster::{Cluster, kill, processes, working_folder};
use super::smoke::files;
use super::{eventually, on};
use crate::program::{Lab, shell_study};

/// Trials that note themselves and wait until `go` is there.
fn waiting(more: &str) -> Lab {
    let script = "echo $TRAINWRIGHT_TRIAL >> begun; while [ ! -e go ]; do sleep 0.05; done";
    Lab::with_study(&shell_study("[1, 2, 3, 4, 5, 6]", script, more))
}

fn run(cluster: &Cluster) -> Vec<&str> {
    on(&cluster.master, &["run", "study.toml", "--slots", "4"])
}

/// No process of a trial, a task or a driver of this lab is left: all of them work in its folder.
#[track_caller]
fn check_nothing_is_left(lab: &Lab) {
    eventually("no process is left", || {
        let in_lab = |pid: u32| working_folder(pid).is_some_and(|own| own == lab.folder());
        !processes().into_iter().any(|(pid, _)| in_lab(pid))
    });
}

/// Trials that run.
fn shells(lab: &Lab) -> usize {
    let own = |(pid, words): &(u32, String)| {
        words.starts_with("sh ") && working_folder(*pid).is_some_and(|own| own == lab.folder())
    };
    processes().iter().filter(|process| own(process)).count()
}

#[track_caller]
fn check_it_goes_on(lab: &Lab, cluster: &Cluster) {
    lab.write("go", "");
    lab.expect(0, &run(cluster));
    assert_eq!(lab.states(), [("finished".to_owned(), 6)].into());
}

#[test]
#[ignore = "a cluster of its own takes a minute"]
fn a_killed_machine_costs_a_study_no_trial() {
    if !Cluster::is_possible() {
        return;
    }
    let (cluster, lab) = (Cluster::start(2), waiting(""));
    let mut running = lab.start(&run(&cluster));
    eventually("four trials run", || lab.lines("begun").len() >= 4);
    cluster.kill_worker(2);
    // Those of the lost machine must not finish on their way out.
    eventually("trials of the lost machine end", || shells(&lab) <= 2);
    lab.write("go", "");
    eventually("the end", || running.has_ended());
    assert_eq!(running.end().code(), Some(0), "{}", lab.read("running.stderr"));
    assert_eq!(lab.states(), [("finished".to_owned(), 6)].into());
    let begun = lab.lines("begun").len();
    assert!(begun > 6, "trials of the lost machine ran again: {begun}");
    assert!(lab.rows().iter().all(|row| row["attempts"] == 1), "Spark's retries are its own");
    check_nothing_is_left(&lab);
}

#[test]
#[ignore = "a cluster of its own takes a minute"]
fn ctrl_c_cancels_the_job_and_leaves_no_process() {
    if !Cluster::is_possible() {
        return;
    }
    let (cluster, lab) = (Cluster::start(2), waiting(""));
    let mut running = lab.start(&run(&cluster));
    eventually("trials run", || lab.lines("begun").len() >= 4);
    running.signal(Signal::SIGINT);
    eventually("the end", || running.has_ended());
    assert_eq!(running.end().code(), Some(130), "{}", lab.read("running.stderr"));
    check_nothing_is_left(&lab);
    let states = lab.states();
    assert_eq!(states.get("stopped"), Some(&4), "{states:?}");
    check_it_goes_on(&lab, &cluster);
}

#[test]
#[ignore = "a cluster of its own takes a minute"]
fn a_lost_driver_leaves_the_study_resumable() {
    if !Cluster::is_possible() {
        return;
    }
    let (cluster, lab) = (Cluster::start(2), waiting(""));
    let mut running = lab.start(&run(&cluster));
    eventually("trials run", || lab.lines("begun").len() >= 4);
    for (pid, words) in processes() {
        if words.contains("SparkSubmit") && words.contains("trainwright_driver.py") {
            kill(pid);
        }
    }
    eventually("the end", || running.has_ended());
    assert_eq!(running.end().code(), Some(3), "{}", lab.read("running.stderr"));
    let told = lab.read("running.stderr");
    assert!(told.contains("`trainwright run` goes on with the others"), "{told}");
    check_nothing_is_left(&lab);
    check_it_goes_on(&lab, &cluster);
}

#[test]
#[ignore = "a cluster of its own takes a minute"]
fn a_killed_runner_leaves_the_study_resumable_and_no_process() {
    if !Cluster::is_possible() {
        return;
    }
    let (cluster, lab) = (Cluster::start(2), waiting(""));
    let running = lab.start(&run(&cluster));
    eventually("trials run", || lab.lines("begun").len() >= 4);
    running.crash();
    check_nothing_is_left(&lab);
    check_it_goes_on(&lab, &cluster);
}

#[test]
#[ignore = "a cluster of its own takes a minute"]
fn a_preparation_whose_executors_are_killed_makes_the_same_bytes() {
    if !Cluster::is_possible() {
        return;
    }
    let (cluster, lab) = (Cluster::start(2), Lab::new());
    let rows: String = (0..60_000).map(|row| format!("{row},{}\n", row % 3)).collect();
    lab.write("t.csv", format!("x,label\n{rows}"));
    let words = |out: &'static str| ["data", "prepare", "t.csv", "--out", out, "--shards", "64"];
    lab.expect(0, &words("here"));
    let spread = [&words("there")[..], &["--partitions", "32"]].concat();
    let mut running = lab.start(&on(&cluster.master, &spread));
    eventually("a shard", || {
        std::fs::read_dir(lab.path("there")).is_ok_and(|entries| {
            entries.flatten().any(|own| own.path().extension().is_some_and(|it| it == "tfrecord"))
        })
    });
    cluster.kill_executors(Some("127.0.0.2"));
    eventually("the end", || running.has_ended());
    assert_eq!(running.end().code(), Some(0), "{}", lab.read("running.stderr"));
    assert_eq!(files(&lab.path("there")), files(&lab.path("here")), "no shard twice, none torn");
}

#[test]
#[ignore = "an application takes half a minute"]
fn a_speed_test_reads_everything_on_the_executors() {
    let Some((master, _in_use)) = super::shared() else { return };
    let lab = Lab::new();
    for number in 0..12_u8 {
        let pixels = vec![number; 40 * 30 * 3];
        let picture = crate::pictures::Picture { rows: 30, columns: 40, pixels };
        lab.write(&format!("photos/a/{number}.jpg"), picture.jpeg());
    }
    lab.expect(
        0,
        &["data", "prepare", "photos", "--out", "shards", "--size", "16", "--shards", "2"],
    );
    let words = [
        "data",
        "speedtest",
        "photos",
        "--records",
        "shards",
        "--size",
        "16",
        "--batch-size",
        "2,4",
        "--batch-number",
        "1,2",
        "--repetitions",
        "2",
        "--json",
    ];
    let reply = lab.json(&on(master, &words));
    let rows = reply["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 2 * 2 * 2);
    assert!(rows.iter().all(|row| row["images_per_s"].as_f64() > Some(0.0)));
    assert!(!reply["cluster"]["tasks"].as_array().unwrap().is_empty());
    let refused = lab.expect(2, &on(master, &["data", "speedtest", "photos"]));
    refused.says(&["--records"]);
}
