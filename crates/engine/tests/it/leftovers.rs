//! What a runner that was killed left behind. Each test runs such a runner as a process of its own:
//! this very test program, asked for the one test that plays it.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use trainwright_engine::{Engine, LocalEngine, LocalPlace};

use crate::lab::{ACC, HANGS, Lab, end, is_gone, pid_in};

/// Names the lab's folder to the runner that is to be killed.
const LAB: &str = "TRAINWRIGHT_TEST_LAB";

/// Plays the runner: starts trial 1 in the folder that the variable names and waits for its end.
#[test]
fn play_the_runner() {
    let Some(folder) = std::env::var_os(LAB) else { return };
    let lab = Lab::at(Path::new(&folder));
    let mut engine = lab.engine(1);
    engine.submit(lab.order(1)).unwrap();
    end(&mut engine);
}

/// Starts a runner for the lab in a process of its own.
fn runner(lab: &Lab) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["leftovers::play_the_runner", "--exact", "--test-threads", "1"])
        .env(LAB, lab.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[track_caller]
fn until(mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < HANGS, "nothing happens");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs the script as a trial, kills its runner once `ready` is there, starts an engine in its
/// place, and gives the processes that the script noted as `pid*`.
#[track_caller]
fn left_by(script: &str, pids: &[&str]) -> Vec<u32> {
    let lab = Lab::new(script, "", ACC);
    assert!(Command::new("mkfifo").arg(lab.path("pipe")).status().unwrap().success());
    let mut runner = runner(&lab);
    until(|| lab.path("ready").exists());
    runner.kill().unwrap();
    runner.wait().unwrap();
    let pids: Vec<u32> = pids.iter().map(|file| pid_in(&lab.path(file))).collect();
    for pid in &pids {
        assert!(!is_gone(*pid), "it died with its runner");
    }
    drop(lab.engine(1));
    pids
}

#[test]
fn the_processes_of_a_dead_runner_end_before_another_begins() {
    let script = "trap '' TERM; echo $$ > pid1
                  env -i /bin/sh -c 'echo $$ > pid2; touch ready; read x < pipe' &
                  read x < pipe";
    for pid in left_by(script, &["pid1", "pid2"]) {
        assert!(is_gone(pid));
    }
}

#[test]
fn a_process_without_environment_and_session_is_known_by_its_output() {
    let script = "setsid env -i /bin/sh -c 'echo $$ > pid1; touch ready; read x < pipe' &
                  read x < pipe";
    assert!(left_by(script, &["pid1"]).into_iter().all(is_gone));
}

#[test]
fn a_process_that_lost_its_parents_and_its_session_is_found() {
    let script = "(setsid sh -c 'sh -c \"echo \\$\\$ > young; mv young pid1; exec sleep 600\" \
                  > /dev/null 2>&1 & while [ ! -e pid1 ]; do :; done; touch ready' &)
                  read x < pipe";
    assert!(left_by(script, &["pid1"]).into_iter().all(is_gone));
}

#[test]
fn a_shell_that_has_the_variable_of_a_trial_is_left_alone() {
    let lab = Lab::new("echo $$ > pid1; touch ready; read x < pipe", "", ACC);
    assert!(Command::new("mkfifo").arg(lab.path("pipe")).status().unwrap().success());
    let mut killed = runner(&lab);
    until(|| lab.path("ready").exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    // The next runner's parent is a shell in which someone looks into that trial.
    let folder = fs::canonicalize(lab.trial_folder(1)).unwrap();
    let test = std::env::current_exe().unwrap();
    let script = format!(
        "setsid --wait {} leftovers::play_the_next_runner --exact --test-threads 1; echo alive > shell",
        test.display()
    );
    let status = Command::new("sh")
        .args(["-c", &script])
        .current_dir(lab.path(""))
        .env("TRAINWRIGHT_DIR", folder)
        .env(LAB, lab.path(""))
        .stdout(Stdio::null())
        .process_group(0)
        .status()
        .unwrap();
    assert_eq!(status.signal(), None, "the shell was killed");
    assert!(lab.path("shell").exists());
    assert!(is_gone(pid_in(&lab.path("pid1"))), "the real leftover has ended");
}

/// Plays a runner that finds leftovers.
#[test]
fn play_the_next_runner() {
    let Some(folder) = std::env::var_os(LAB) else { return };
    drop(Lab::at(Path::new(&folder)).engine(1));
}

#[test]
fn trials_of_another_study_live_on() {
    let lab = Lab::new("echo $$ > pid1; touch ready; read x < pipe", "", ACC);
    assert!(Command::new("mkfifo").arg(lab.path("pipe")).status().unwrap().success());
    let mut killed = runner(&lab);
    until(|| lab.path("ready").exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let other = LocalPlace { trials: lab.path("trials-2"), program: "/bin/sh".into(), slots: 1 };
    drop(LocalEngine::new(other).unwrap());
    let left = pid_in(&lab.path("pid1"));
    assert!(!is_gone(left));
    drop(lab.engine(1));
    assert!(is_gone(left));
}
