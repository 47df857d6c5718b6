use std::process::Command;

use trainwright_engine::{Engine, Stop, Which};
use trainwright_study::{Outcome, TrialRecord};

use crate::lab::{ACC, Lab, end, is_gone, pid_in, take_until};

/// A pipe with a name, on which scripts wait without using the processor.
fn with_pipe(script: &str, run: &str) -> Lab {
    let lab = Lab::new(script, run, ACC);
    assert!(Command::new("mkfifo").arg(lab.path("pipe")).status().unwrap().success());
    lab
}

/// Starts trial 1, waits until its script made the file `ready`, and stops it.
fn stop_when_ready(lab: &Lab, how: Stop) -> TrialRecord {
    let mut engine = lab.engine(1);
    engine.submit(lab.order(1)).unwrap();
    take_until(&mut engine, |_| lab.path("ready").exists());
    engine.stop(Which::All, how);
    let record = end(&mut engine).1;
    assert!(engine.submit(lab.order(2)).is_err(), "no more trials after a stop");
    record
}

const STUBBORN: &str = "trap '' TERM; touch ready; while :; do read x < pipe; done";

#[test]
fn a_trial_ends_at_the_signal() {
    let lab = with_pipe("touch ready; read x < pipe", "grace = \"60s\"");
    let record = stop_when_ready(&lab, Stop::Politely);
    assert_eq!(record.outcome, Outcome::Stopped);
    assert_eq!(record.usage.unwrap().signal, Some(15));
    assert!(lab.trial_folder(1).join("stop").exists());
}

#[test]
fn a_trial_that_sees_the_stop_file_ends_by_itself() {
    let script = "trap '' TERM; touch ready; while [ ! -e $TRAINWRIGHT_STOP_FILE ]; do :; done
                  echo saved; exit 0";
    let lab = with_pipe(script, "grace = \"60s\"");
    let record = stop_when_ready(&lab, Stop::Politely);
    assert_eq!(record.outcome, Outcome::Stopped);
    assert_eq!(record.usage.unwrap().exit_code, Some(0));
    assert_eq!(record.output_end, "saved");
}

#[test]
fn a_trial_that_ignores_the_signal_is_killed() {
    let record = stop_when_ready(&with_pipe(STUBBORN, "grace = \"50ms\""), Stop::Politely);
    assert_eq!(record.outcome, Outcome::Stopped);
    assert_eq!(record.usage.unwrap().signal, Some(9));
}

#[test]
fn stopping_now_does_not_wait() {
    let record = stop_when_ready(&with_pipe(STUBBORN, "grace = \"10h\""), Stop::Now);
    assert_eq!(record.outcome, Outcome::Stopped);
    assert_eq!(record.usage.unwrap().signal, Some(9));
}

#[test]
fn a_polite_stop_can_be_hastened() {
    let lab = with_pipe(STUBBORN, "grace = \"10h\"");
    let mut engine = lab.engine(1);
    engine.submit(lab.order(1)).unwrap();
    take_until(&mut engine, |_| lab.path("ready").exists());
    engine.stop(Which::All, Stop::Politely);
    take_until(&mut engine, |_| lab.trial_folder(1).join("stop").exists());
    engine.stop(Which::All, Stop::Now);
    assert_eq!(end(&mut engine).1.outcome, Outcome::Stopped);
}

#[test]
fn a_trial_that_takes_too_long_has_failed() {
    let record = with_pipe("read x < pipe", "timeout = \"50ms\"\ngrace = \"60s\"").run();
    let Outcome::Failed { reason } = record.outcome else { panic!("{:?}", record.outcome) };
    assert!(reason.starts_with("took longer than its timeout of 0.05 s"), "{reason}");
    assert_eq!(record.usage.unwrap().signal, Some(15));
    let lab = with_pipe(STUBBORN, "timeout = \"300ms\"\ngrace = \"50ms\"");
    let stubborn = lab.run();
    // On a machine so slow that the script had not begun, there was nobody to be stubborn.
    let expected = if lab.path("ready").exists() { 9 } else { 15 };
    assert_eq!(stubborn.usage.unwrap().signal, Some(expected));
}

#[test]
fn a_prepare_command_can_be_stopped() {
    let lab = with_pipe("true", "prepare = \"touch ready; read x < pipe\"\ngrace = \"60s\"");
    assert_eq!(stop_when_ready(&lab, Stop::Politely).outcome, Outcome::Stopped);
}

#[test]
fn grandchildren_end_with_their_trial() {
    let script = "sh -c 'trap \"\" TERM; echo $$ > young; mv young pid; read x < pipe' &
                  while [ ! -e pid ]; do :; done; echo '::metric {\"acc\": 1}'";
    let lab = with_pipe(script, "");
    assert_eq!(lab.run().outcome, Outcome::Finished);
    assert!(is_gone(pid_in(&lab.path("pid"))));
}

#[test]
fn dropping_the_engine_kills_what_runs() {
    let lab = with_pipe(&format!("echo $$ > pid; {STUBBORN}"), "grace = \"10h\"");
    let mut engine = lab.engine(1);
    engine.submit(lab.order(1)).unwrap();
    take_until(&mut engine, |_| lab.path("ready").exists());
    drop(engine);
    assert!(is_gone(pid_in(&lab.path("pid"))));
}
