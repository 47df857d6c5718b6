//! What a trial starts ends with it, wherever it went.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use trainwright_engine::{Engine, LocalEngine, LocalPlace, Stop, Which};
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

/// Names the lab's folder to a process of its own that runs trials, and nothing else.
const ALONE: &str = "TRAINWRIGHT_TEST_ALONE";

/// Plays a runner whose children all come from trials: it is the program that jobs would be.
#[test]
fn play_the_program() {
    let Some(folder) = std::env::var_os(ALONE) else { return };
    let lab = Lab::at(std::path::Path::new(&folder));
    let program = std::env::current_exe().unwrap();
    let place = LocalPlace { trials: lab.path("trials"), program, slots: 2 };
    let mut engine = LocalEngine::new(place).unwrap();
    for number in 1..=2 {
        engine.submit(lab.order(number)).unwrap();
        if number == 1 {
            take_until(&mut engine, |_| lab.path("ready").exists());
        }
    }
    for number in 1..=2 {
        end(&mut engine);
        fs::write(lab.path(&format!("ended{number}")), "").unwrap();
    }
    // What waits for these tells them apart from processes that the engine has reaped.
    let left = nix::sys::wait::waitpid(None, Some(nix::sys::wait::WaitPidFlag::WNOHANG));
    assert_eq!(left, Err(nix::errno::Errno::ECHILD), "a child is left");
}

/// Runs trials 1 and 2 at the same time in a program of their own; trial 2 begins when the first
/// one says that it is ready.
#[track_caller]
fn run_two_alone(script: &str) -> Lab {
    let lab = with_pipe(script, "");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["families::play_the_program", "--exact", "--test-threads", "1"])
        .env(ALONE, lab.path(""))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    lab
}

#[test]
fn a_stray_without_environment_output_and_session_ends_with_its_trial() {
    let script = "if [ $TRAINWRIGHT_TRIAL = 1 ]; then
                    setsid env -i PATH=$PATH sh -c 'setsid sh -c \"echo \\$\\$ > young; mv young pid
                    exec sleep 600\" < /dev/null > /dev/null 2>&1 &' > /dev/null 2>&1
                    while [ ! -e pid ]; do sleep 0.01; done; sleep 0.05; touch ready
                    while [ ! -e began ]; do sleep 0.01; done
                  else
                    touch began
                    while [ ! -e ended1 ]; do sleep 0.01; done
                    kill -0 $(cat pid) 2> /dev/null && touch outlived
                  fi
                  echo '::metric {\"acc\": 1}'";
    let lab = run_two_alone(script);
    assert!(is_gone(pid_in(&lab.path("pid"))));
    assert!(!lab.path("outlived").exists(), "it ran beside the next trial");
}

#[test]
fn adopted_processes_that_died_are_reaped_while_their_trial_goes_on() {
    // Trial 1 leaves a process that dies at once, and waits until the kernel knows it no more.
    let script = "if [ $TRAINWRIGHT_TRIAL = 1 ]; then
                    setsid sh -c 'setsid sh -c \"echo \\$\\$ > young; mv young pid\" &'
                    while [ ! -e pid ]; do sleep 0.01; done
                    for i in $(seq 1000); do
                      [ -e /proc/$(cat pid) ] || { touch reaped; break; }; sleep 0.01
                    done
                    touch ready; while [ ! -e began ]; do sleep 0.01; done
                  else
                    touch began
                  fi
                  echo '::metric {\"acc\": 1}'";
    assert!(run_two_alone(script).path("reaped").exists(), "a zombie is left");
}

#[test]
fn children_of_the_program_around_an_engine_are_left_to_it() {
    use std::os::unix::process::CommandExt;
    let mut own = Command::new("sh");
    own.args(["-c", "exit 7"]);
    // SAFETY: setsid is a system call alone.
    unsafe { own.pre_exec(|| Ok(nix::unistd::setsid().map(drop)?)) };
    let mut own = own.spawn().unwrap();
    let mut living = Command::new("setsid").args(["sleep", "600"]).spawn().unwrap();
    // It outlives the first one, which has died by then and was not reaped.
    let lab = with_pipe(&format!("{STRAY}echo '::metric {{\"acc\": 1}}'"), "");
    assert_eq!(lab.run().outcome, Outcome::Finished);
    assert_eq!(own.wait().unwrap().code(), Some(7));
    assert!(living.try_wait().unwrap().is_none(), "it was killed");
    living.kill().unwrap();
    living.wait().unwrap();
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
    let script = "tr -d '\\0' < $TRAINWRIGHT_DIR/../.process | grep . > seen
                  echo '::metric {\"acc\": 1}'";
    let lab = Lab::new(script, "", ACC);
    assert_eq!(lab.run().outcome, Outcome::Finished);
    let noted = fs::read_to_string(lab.path("seen")).unwrap();
    assert_eq!(noted.lines().count(), 2, "{noted}");
    assert!(noted.lines().nth(1).unwrap().starts_with("1 "), "{noted}");
    assert!(!lab.path("trials/.process").exists());
}
