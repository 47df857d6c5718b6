//! Ctrl-C, `stop`, and a second runner.

use std::process::Stdio;

use nix::sys::signal::Signal;

use crate::program::{Lab, is_alive, send, shell_study, until};

/// Trials hang until `go` is there; one that is asked to stop notes it.
fn patient(trap: &str, more: &str) -> Lab {
    let script = format!(
        "{trap}; echo $$ >> pids; [ -e go ] && exit 0; while :; do sleep 600 & wait $!; done"
    );
    Lab::with_study(&shell_study("[1, 2, 3]", &script, more))
}

const POLITE: &str = "trap \"[ -e $TRAINWRIGHT_STOP_FILE ] && echo asked >> asked; exit 0\" TERM";
const DEAF: &str = "trap \"echo asked >> asked\" TERM";

fn hanging_pid(lab: &Lab) -> u32 {
    until("a trial hangs", || !lab.lines("pids").is_empty());
    lab.lines("pids")[0][0].parse().unwrap()
}

/// After the trouble the study must end as if there had been none.
#[track_caller]
fn check_it_goes_on(lab: &Lab) {
    assert_eq!(lab.states(), [("planned".to_owned(), 2), ("stopped".to_owned(), 1)].into());
    lab.write("go", "");
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.states(), [("finished".to_owned(), 3)].into());
    assert_eq!(lab.rows()[0]["attempts"], 2);
}

#[test]
fn ctrl_c_asks_trials_to_end_and_exits_130_with_everything_saved() {
    let lab = patient(POLITE, "");
    let mut runner = lab.start(&["run", "study.toml"]);
    let pid = hanging_pid(&lab);
    runner.signal(Signal::SIGINT);
    assert_eq!(runner.end().code(), Some(130));
    assert_eq!(lab.read("asked"), "asked\n", "the stop file comes before the signal");
    assert!(!is_alive(pid));
    check_it_goes_on(&lab);
}

#[test]
fn a_second_ctrl_c_kills_a_trial_that_does_not_listen() {
    let lab = patient(DEAF, "grace = \"10m\"");
    let mut runner = lab.start(&["run", "study.toml"]);
    let pid = hanging_pid(&lab);
    runner.signal(Signal::SIGINT);
    until("the trial is asked", || !lab.read("asked").is_empty());
    assert!(!runner.has_ended());
    runner.signal(Signal::SIGINT);
    assert_eq!(runner.end().code(), Some(130));
    assert!(!is_alive(pid));
    check_it_goes_on(&lab);
}

#[test]
fn a_trial_that_does_not_listen_is_killed_after_its_grace() {
    let lab = patient(DEAF, "grace = \"50ms\"");
    let mut runner = lab.start(&["run", "study.toml"]);
    let pid = hanging_pid(&lab);
    runner.signal(Signal::SIGTERM);
    assert_eq!(runner.end().code(), Some(130));
    assert!(!is_alive(pid));
    check_it_goes_on(&lab);
}

#[test]
fn stop_asks_and_stop_now_kills() {
    let lab = patient(DEAF, "grace = \"10m\"");
    let mut runner = lab.start(&["run", "study.toml"]);
    let pid = hanging_pid(&lab);
    let asked = lab.json(&["stop", "study.toml", "--json"]);
    assert_eq!(asked["schema"], "trainwright/stop/1");
    assert_eq!(asked["pid"], runner.pid());
    until("the trial is asked", || !lab.read("asked").is_empty());
    assert!(!runner.has_ended());
    lab.expect(0, &["stop", "study.toml", "--now"]);
    assert_eq!(runner.end().code(), Some(130));
    assert!(!is_alive(pid));
    lab.expect(3, &["stop", "study.toml"]).says(&["no runner", "demo"]);
    check_it_goes_on(&lab);
}

#[test]
fn a_hangup_stops_the_study_unless_it_was_started_to_outlive_its_terminal() {
    let lab = patient(POLITE, "");
    let mut runner = lab.start(&["run", "study.toml"]);
    hanging_pid(&lab);
    runner.signal(Signal::SIGHUP);
    assert_eq!(runner.end().code(), Some(130));
    let mut command = lab.limited("trap '' HUP", &["run", "study.toml"]);
    let mut runner = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("a trial hangs again", || lab.lines("pids").len() == 2);
    send(runner.id(), Signal::SIGHUP);
    lab.write("go", "");
    send(lab.lines("pids")[1][0].parse().unwrap(), Signal::SIGKILL);
    // The trial that was killed has failed, and the others went on.
    assert_eq!(runner.wait().unwrap().code(), Some(1));
    assert_eq!(lab.states(), [("failed".to_owned(), 1), ("finished".to_owned(), 2)].into());
}

#[test]
fn of_many_runners_at_once_one_runs() {
    let script = "echo $TRAINWRIGHT_TRIAL >> ran; until [ -e go ]; do sleep 0.01; done";
    let lab = Lab::with_study(&shell_study("[1, 2, 3]", script, ""));
    let mut runners: Vec<_> = (0..6).map(|_| lab.start(&["run", "study.toml"])).collect();
    until("all but one give up", || {
        runners.iter_mut().map(|runner| usize::from(runner.has_ended())).sum::<usize>() == 5
    });
    lab.write("go", "");
    let mut codes: Vec<_> = runners.iter_mut().map(|runner| runner.end().code()).collect();
    codes.sort();
    assert_eq!(codes, [Some(0), Some(3), Some(3), Some(3), Some(3), Some(3)]);
    assert_eq!(lab.lines("ran").len(), 3);
}

#[test]
fn a_stop_during_the_warm_up_keeps_all_trials_planned() {
    let lab = patient(POLITE, "warmup = 2");
    let mut runner = lab.start(&["run", "study.toml"]);
    hanging_pid(&lab);
    runner.signal(Signal::SIGINT);
    assert_eq!(runner.end().code(), Some(130));
    assert_eq!(lab.states(), [("planned".to_owned(), 3)].into());
}

#[test]
fn a_second_runner_is_refused_and_readers_are_not() {
    let lab = patient(POLITE, "");
    let mut runner = lab.start(&["run", "study.toml"]);
    hanging_pid(&lab);
    let pid = format!("process {}", runner.pid());
    lab.expect(3, &["run", "study.toml"]).says(&["demo", &pid, "trainwright stop"]);
    lab.write("results.csv", "x,time\n1,2\n");
    lab.expect(3, &["import", "results.csv", "--study", "study.toml"]).says(&[&pid]);
    let status = lab.json(&["status", "study.toml", "--json"]);
    assert_eq!(status["runner"], runner.pid());
    assert_eq!(status["counts"]["running"], 1);
    assert!(lab.expect(0, &["status", "study.toml"]).stdout.contains(&pid));
    assert_eq!(lab.states(), [("planned".to_owned(), 2), ("running".to_owned(), 1)].into());
    lab.expect(2, &["analyze", "study.toml"]).says(&["none of the 3 observations"]);
    lab.expect(0, &["logs", "study.toml", "1"]);
    lab.expect(0, &["report", "study.toml", "-o", "now.html"]);
    assert!(!runner.has_ended());
    runner.signal(Signal::SIGINT);
    assert_eq!(runner.end().code(), Some(130));
}

#[test]
fn two_studies_of_one_store_run_side_by_side() {
    let lab = patient(POLITE, "");
    let mut runner = lab.start(&["run", "study.toml"]);
    hanging_pid(&lab);
    let other = shell_study("[1, 2]", "echo $x", "").replace("\"demo\"", "\"other\"");
    lab.write("other.toml", other);
    lab.expect(0, &["run", "other.toml"]);
    runner.signal(Signal::SIGINT);
    assert_eq!(runner.end().code(), Some(130));
    check_it_goes_on(&lab);
}

#[test]
fn a_finished_study_tells_its_verdict_again_and_runs_nothing() {
    let study = shell_study(
        "[1, 2]",
        "echo $x >> ran; echo '::metric {\"y\": '$x'}'",
        "[metrics.y]\nobjective = \"maximize\"",
    )
    .replace("type = \"full\"", "type = \"full\"\nreplications = 2");
    let lab = Lab::with_study(&study);
    let first = lab.expect(0, &["run", "study.toml"]);
    assert!(first.stdout.contains("4 finished"), "{first:?}");
    let again = lab.expect(0, &["run", "study.toml"]);
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(lab.lines("ran").len(), 4);
}

#[test]
fn a_reader_that_goes_away_does_not_end_the_study() {
    let lab = Lab::with_study(&shell_study("[1, 2, 3]", "echo $x >> ran", ""));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = lab.command(&["run", "study.toml"]);
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    assert_eq!(command.status().unwrap().code(), Some(0));
    assert_eq!(lab.states(), [("finished".to_owned(), 3)].into());
}
