//! What a trial starts ends with it, wherever it went.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use trainwright_engine::{Engine, Stop, Which};
use trainwright_study::Outcome;

use crate::lab::{ACC, Lab, end, is_gone, pid_in, take_until};

fn with_pipe(script: &str, run: &str) -> Lab {
    let lab = Lab::new(script, run, ACC);
    assert!(Command::new("mkfifo").arg(lab.path("pipe")).status().unwrap().success());
    lab
}

/// Starts a process that has lost its parents and its session and notes itself as `pid`.
const STRAY: &str = "(setsid sh -c '(setsid sh -c \"echo \\$\\$ > young; mv young pid
                     sleep 600\" > /dev/null 2>&1 &)' &)
                     while [ ! -e pid ]; do :; done\n";

#[test]
fn a_stray_descendant_ends_with_a_trial_that_finished() {
    let lab = with_pipe(&format!("{STRAY}echo '::metric {{\"acc\": 1}}'"), "");
    assert_eq!(lab.run().outcome, Outcome::Finished);
    assert!(is_gone(pid_in(&lab.path("pid"))));
}

#[test]
fn a_stray_descendant_ends_with_a_trial_that_was_killed() {
    let lab = with_pipe(&format!("{STRAY}touch ready; read x < pipe"), "");
    let mut engine = lab.engine(1);
    engine.submit(lab.order(1)).unwrap();
    take_until(&mut engine, |_| lab.path("ready").exists());
    engine.stop(Which::One(1), Stop::Now);
    assert_eq!(end(&mut engine).1.outcome, Outcome::Stopped);
    assert!(is_gone(pid_in(&lab.path("pid"))));
}

#[test]
fn strays_of_another_trial_live_on_while_it_runs() {
    let script = "cd $TRAINWRIGHT_DIR; (setsid sh -c 'echo $$ > young; mv young pid; sleep 600' &)
                  while [ ! -e pid ]; do :; done
                  [ $TRAINWRIGHT_TRIAL = 1 ] || { touch ../../ready; read x < ../../pipe; }
                  echo '::metric {\"acc\": 1}'";
    let lab = with_pipe(script, "");
    let mut engine = lab.engine(2);
    engine.submit(lab.order(2)).unwrap();
    take_until(&mut engine, |_| lab.path("ready").exists());
    engine.submit(lab.order(1)).unwrap();
    assert_eq!(end(&mut engine).0, 1);
    assert!(is_gone(pid_in(&lab.trial_folder(1).join("pid"))));
    let other = pid_in(&lab.trial_folder(2).join("pid"));
    assert!(!is_gone(other), "the other trial's");
    drop(OpenOptions::new().write(true).open(lab.path("pipe")).unwrap());
    assert_eq!(end(&mut engine).1.outcome, Outcome::Finished);
    assert!(is_gone(other));
}

#[test]
fn adopted_processes_that_died_are_reaped() {
    let script = "(setsid sh -c 'echo $$ > young; mv young pid' &)
                  while [ ! -e pid ]; do :; done; echo '::metric {\"acc\": 1}'";
    let lab = with_pipe(script, "");
    lab.run();
    let pid = pid_in(&lab.path("pid"));
    // What dies at the very moment when its trial ends shows no mark any more, and is reaped when
    // the next trial ends.
    Lab::new("echo '::metric {\"acc\": 1}'", "", ACC).run();
    let ours = |process: &trainwright_probe::ProcessStat| process.pid == pid;
    assert!(!trainwright_probe::process_stats().unwrap().iter().any(ours), "a zombie is left");
}

#[test]
fn a_trial_leads_a_session_without_a_terminal() {
    let script = "cat /proc/$$/stat > stat; (read x < /dev/tty) 2> /dev/null && echo tty > tty
                  echo '::metric {\"acc\": 1}'";
    let lab = Lab::new(script, "", ACC);
    assert_eq!(lab.run().outcome, Outcome::Finished);
    let stat = fs::read_to_string(lab.path("stat")).unwrap();
    let stat = trainwright_probe::parse_stat(&stat).unwrap();
    assert_eq!((stat.session, stat.group, stat.terminal), (stat.pid, stat.pid, 0));
    assert!(!lab.path("tty").exists());
}

#[test]
fn folders_and_files_of_trials_are_for_their_owner_alone() {
    let lab = Lab::new("echo hello", "", ACC);
    lab.run();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&lab.path("trials")), 0o700);
    assert_eq!(mode(&lab.trial_folder(1)), 0o700);
    for name in ["stdout", "stderr", "params.json"] {
        assert_eq!(mode(&lab.trial_folder(1).join(name)), 0o600, "{name}");
    }
}

#[test]
fn the_stop_file_follows_no_link() {
    let script = "ln -s $PWD/precious $TRAINWRIGHT_STOP_FILE; touch ready; read x < pipe";
    let lab = with_pipe(script, "grace = \"60s\"");
    let mut engine = lab.engine(1);
    engine.submit(lab.order(1)).unwrap();
    take_until(&mut engine, |_| lab.path("ready").exists());
    engine.stop(Which::All, Stop::Politely);
    assert_eq!(end(&mut engine).1.outcome, Outcome::Stopped);
    assert!(!lab.path("precious").exists(), "a file was made through a link");
}

#[test]
fn an_ignored_child_signal_is_not_inherited() {
    // A shell that ignores SIGCHLD hands that on to the runner, which could not wait for a trial.
    let lab = Lab::new("echo '::metric {\"acc\": 1}'; touch done", "", ACC);
    let test = std::env::current_exe().unwrap();
    let script = format!(
        "trap '' CHLD; exec {} leftovers::play_the_runner --exact --test-threads 1",
        test.display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("TRAINWRIGHT_TEST_LAB", lab.path(""));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(lab.path("done").exists());
}

#[test]
fn a_note_is_gone_when_nothing_is_left_to_find() {
    let lab = Lab::new("cp $TRAINWRIGHT_DIR/.process seen; echo '::metric {\"acc\": 1}'", "", ACC);
    assert_eq!(lab.run().outcome, Outcome::Finished);
    let noted = fs::read_to_string(lab.path("seen")).unwrap();
    assert_eq!(noted.lines().count(), 2, "{noted}");
    assert!(!lab.trial_folder(1).join(".process").exists());
    assert!(fs::metadata(lab.path("seen")).unwrap().size() < 1000);
}
