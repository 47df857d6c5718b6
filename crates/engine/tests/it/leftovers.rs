use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use trainwright_engine::{LocalEngine, LocalPlace};

use crate::lab::{is_gone, pid_in};

/// What an engine does first.
fn end_leftovers(trials: &Path) {
    let place = LocalPlace { trials: trials.to_owned(), program: "/bin/sh".into(), slots: 1 };
    drop(LocalEngine::new(place).unwrap());
}

/// What a dead runner leaves: a shell in its own group, with a child that dropped its environment.
fn leftover(trial: &Path) -> Child {
    fs::create_dir_all(trial).unwrap();
    let script = "trap '' TERM; env -i /bin/sh -c 'echo $$ > child; echo ready; read x < pipe' &
                  read x < pipe";
    assert!(Command::new("mkfifo").arg(trial.join("pipe")).status().unwrap().success());
    let mut child = Command::new("sh")
        .args(["-c", script])
        .current_dir(trial)
        .env("TRAINWRIGHT_DIR", trial)
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}

#[test]
fn a_leftover_without_environment_is_known_by_its_output() {
    let folder = tempfile::tempdir().unwrap();
    let trial = fs::canonicalize(folder.path()).unwrap().join("1");
    fs::create_dir_all(&trial).unwrap();
    assert!(Command::new("mkfifo").arg(trial.join("pipe")).status().unwrap().success());
    let mut left = Command::new("sh")
        .args(["-c", "read x < pipe"])
        .current_dir(&trial)
        .env_clear()
        .stdout(fs::File::create(trial.join("stdout")).unwrap())
        .process_group(0)
        .spawn()
        .unwrap();
    end_leftovers(folder.path());
    assert_eq!(left.wait().unwrap().signal(), Some(9));
}

#[test]
fn leftovers_of_this_study_end_and_others_live_on() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let (mine, other) = (root.join("study"), root.join("study-2"));
    let mut left = leftover(&mine.join("trials/1"));
    let mut stranger = leftover(&other.join("trials/1"));
    end_leftovers(&mine);
    assert_eq!(left.wait().unwrap().signal(), Some(9));
    assert!(is_gone(pid_in(&mine.join("trials/1/child"))));
    assert!(stranger.try_wait().unwrap().is_none(), "another study's trial was touched");
    end_leftovers(&other);
    stranger.wait().unwrap();
}
