//! Studies whose executors, driver or runner are lost, and Ctrl-C.

use nix::sys::signal::Signal;

use super::cluster::{Cluster, kill, processes, working_folder};
use super::{check_nothing_is_left, eventually, on};
use crate::program::{Lab, shell_study};

/// Trials that note themselves and wait until `go` is there.
fn waiting(more: &str) -> Lab {
    let script = "echo $TRAINWRIGHT_TRIAL >> begun; while [ ! -e go ]; do sleep 0.05; done";
    Lab::with_study(&shell_study("[1, 2, 3, 4, 5, 6]", script, more))
}

fn run(cluster: &Cluster) -> Vec<&str> {
    on(&cluster.master, &["run", "study.toml", "--slots", "4"])
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
    let begun = lab.lines("begun");
    assert!(begun.len() > 6, "trials of the lost machine ran again: {begun:?}");
    let once =
        (1..=6).filter(|trial| begun.iter().filter(|own| own[0] == trial.to_string()).count() == 1);
    assert!(once.count() >= 4, "each is retried alone: {begun:?}");
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
    // The first two end at once.
    let script = "echo $TRAINWRIGHT_TRIAL >> begun; [ $TRAINWRIGHT_TRIAL -le 2 ] && exit; \
                  while [ ! -e go ]; do sleep 0.05; done";
    let lab = Lab::with_study(&shell_study("[1, 2, 3, 4, 5, 6]", script, ""));
    let cluster = Cluster::start(2);
    let mut running = lab.start(&run(&cluster));
    eventually("results are kept while others run", || {
        lab.lines("begun").len() == 6 && lab.states().get("finished") == Some(&2)
    });
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
    let of = |trial: &str| lab.lines("begun").iter().filter(|own| own[0] == trial).count();
    assert_eq!((of("1"), of("2"), of("3")), (1, 1, 2), "what was finished does not run again");
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
