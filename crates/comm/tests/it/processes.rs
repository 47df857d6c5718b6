//! Ranks that are processes: killed, stopped, and stopped for too long.

use std::io::{BufRead, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// A process of the example `rank`, ended with the test.
struct Rank {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Rank {
    fn start(words: &[String]) -> Self {
        let mut child = Command::new(program()).args(words).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The rest of the first line that begins so; panics where the process ends before.
    fn wait_for(&mut self, word: &str) -> String {
        let mut seen = Vec::new();
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            if let Some(rest) = line.strip_prefix(word) {
                return rest.trim().to_owned();
            }
            seen.push(line);
        }
        panic!("no `{word}` but {seen:?}");
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where cargo puts the example, which it builds with the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/rank");
    assert!(program.exists(), "build the example `rank`: cargo build --release --examples");
    program
}

/// Starts ranks, and waits until all have joined and made some steps.
fn start(size: usize, steps: usize, patience: Duration, last: &[&str]) -> (TempDir, Vec<Rank>) {
    let folder = TempDir::new().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "a secret of tests\n").unwrap();
    let words = |address: &str, rank: usize| -> Vec<String> {
        let numbers = [rank.to_string(), size.to_string()];
        let rest = [steps.to_string(), patience.as_millis().to_string()];
        let secret = secret.to_str().unwrap().to_owned();
        let mut words = vec![address.to_owned()];
        words.extend(numbers);
        words.push(secret);
        words.extend(rest);
        words.extend(last.iter().map(|word| (*word).to_owned()));
        words
    };
    let mut ranks = vec![Rank::start(&words("127.0.0.1:0", 0))];
    let address = ranks[0].wait_for("listening ");
    ranks.extend((1..size).map(|rank| Rank::start(&words(&address, rank))));
    for rank in &mut ranks {
        rank.wait_for("step 3");
    }
    (folder, ranks)
}

const MANY: usize = 1_000_000;

#[test]
fn a_killed_rank_is_named_by_all_others_at_once() {
    let (_folder, mut ranks) = start(3, MANY, Duration::from_secs(20), &[]);
    let killed = Instant::now();
    ranks[2].signal(Signal::SIGKILL);
    for rank in &mut ranks[..2] {
        let error = rank.wait_for("error ");
        assert_eq!(error, "rank 2 is lost: its connection closed, so its process has ended");
    }
    assert!(killed.elapsed() < Duration::from_secs(15), "{:?}", killed.elapsed());
}

#[test]
fn a_rank_stopped_for_less_than_the_patience_breaks_nothing() {
    let (_folder, mut ranks) = start(3, 60, Duration::from_secs(4), &[]);
    ranks[1].signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_millis(700));
    ranks[1].signal(Signal::SIGCONT);
    for rank in &mut ranks {
        rank.wait_for("done");
    }
}

#[test]
fn a_rank_stopped_for_longer_is_named_and_learns_it_when_it_wakes() {
    let (_folder, mut ranks) = start(3, MANY, Duration::from_millis(500), &[]);
    ranks[1].signal(Signal::SIGSTOP);
    for at in [0, 2] {
        let error = ranks[at].wait_for("error ");
        assert!(error.starts_with("rank 1 is lost: nothing was heard of it"), "{error}");
    }
    ranks[1].signal(Signal::SIGCONT);
    let error = ranks[1].wait_for("error ");
    assert!(error.contains("gave this rank up as lost"), "{error}");
}

#[test]
fn survivors_of_a_kill_go_on_as_a_smaller_group() {
    let (_folder, mut ranks) = start(4, 60, Duration::from_secs(5), &["elastic"]);
    ranks[1].signal(Signal::SIGKILL);
    for (at, expected) in [(0, "0 3"), (2, "1 3"), (3, "2 3")] {
        assert_eq!(ranks[at].wait_for("regrouped "), expected);
        ranks[at].wait_for("done");
    }
}

#[test]
fn without_rank_0_the_group_ends() {
    let (_folder, mut ranks) = start(3, MANY, Duration::from_secs(5), &["elastic"]);
    ranks[0].signal(Signal::SIGKILL);
    for rank in &mut ranks[1..] {
        let error = rank.wait_for("error ");
        assert!(error.starts_with("rank 0, where survivors would meet, is lost"), "{error}");
    }
}
