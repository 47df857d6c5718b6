//! What happens where the program meets a terminal or a pipe: closed ends, and escapes in what
//! trials print.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use nix::fcntl::OFlag;
use nix::libc;
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::{SigHandler, Signal, signal};

use crate::program::{Lab, shell_study, until};

/// Starts a command as a shell in a terminal window would; gives the window's side.
fn in_terminal(command: Command) -> (Child, PtyMaster) {
    in_terminal_of(command, 80)
}

fn in_terminal_of(mut command: Command, columns: u16) -> (Child, PtyMaster) {
    // No other test's child may inherit the window, or it would stay open.
    let window = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
    grantpt(&window).unwrap();
    unlockpt(&window).unwrap();
    let terminal = File::options()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY)
        .open(ptsname_r(&window).unwrap())
        .unwrap();
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the size is valid for the whole call.
    assert_eq!(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &size) }, 0);
    let end = || Stdio::from(terminal.try_clone().unwrap());
    command.stdin(end()).stdout(end()).stderr(end());
    // SAFETY: only system calls that may follow a fork.
    unsafe {
        command.pre_exec(|| {
            signal(Signal::SIGHUP, SigHandler::SigDfl)?;
            nix::unistd::setsid()?;
            match libc::ioctl(0, libc::TIOCSCTTY, 0) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
    }
    (command.spawn().unwrap(), window)
}

/// All that a command shows in a terminal.
fn shown(command: Command) -> String {
    shown_at(command, 80)
}

/// The same in a terminal of some columns.
fn shown_at(command: Command, columns: u16) -> String {
    let (mut child, mut window) = in_terminal_of(command, columns);
    let mut seen = Vec::new();
    // The last writer's end is told as an error.
    let _ = window.read_to_end(&mut seen);
    assert!(child.wait().unwrap().success());
    String::from_utf8(seen).unwrap()
}

/// A terminal's title is set, and the screen cleared.
const LOUD: &str = "printf '\\033]0;owned\\007\\033[2Jhello\\n'";

#[test]
fn a_closed_terminal_ends_a_run_with_130_and_keeps_what_is_finished() {
    let script = "test $x = 1 && exit; touch began; sleep 60";
    let lab = Lab::with_study(&shell_study("[1, 2]", script, ""));
    let study =
        lab.read("study.toml").replace("type = \"full\"", "type = \"full\"\norder = \"standard\"");
    lab.write("study.toml", study);
    let (mut child, window) = in_terminal(lab.command(&["run", "study.toml"]));
    until("the second trial runs", || lab.path("began").exists());
    drop(window);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let states = lab.states();
    assert_eq!((states.get("finished"), states.get("running")), (Some(&1), None), "{states:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let lab = Lab::new();
    lab.write("runs.csv", "y\n1\n2\n4\n5\n");
    for words in [
        &["schema"][..],
        &["completions", "bash"],
        &["findings"],
        &["stats", "shapiro-wilk", "--data", "runs.csv", "--column", "y", "--json"],
        &["design", "full", "--factors", "12"],
    ] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut command = lab.command(words);
        let end = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let end = end.wait_with_output().unwrap();
        assert_eq!((end.status.code(), end.stderr.as_slice()), (Some(0), &b""[..]), "{words:?}");
    }
}

#[test]
fn escapes_of_a_trial_do_not_reach_the_terminal() {
    let script = format!("{LOUD}; {LOUD} >&2; exit 1");
    let lab = Lab::with_study(&shell_study("[1, 2]", &script, ""));
    lab.expect(1, &["run", "study.toml"]);
    for words in [
        &["logs", "study.toml", "1"][..],
        &["logs", "study.toml", "1", "--stderr"],
        &["status", "study.toml"],
    ] {
        let seen = shown(lab.command(words));
        assert!(!seen.contains("\x1b]") && !seen.contains("\x1b[2J"), "{words:?}: {seen:?}");
    }
    let seen = shown(lab.command(&["logs", "study.toml", "1"]));
    assert!(seen.contains("\\e]0;owned\\x07\\e[2Jhello"), "{seen:?}");
    // Whoever asks for the bytes, or reads them with a program, gets them.
    let loud = "\x1b]0;owned\x07\x1b[2Jhello\n";
    assert_eq!(lab.expect(0, &["logs", "study.toml", "1"]).stdout, loud);
    let seen = shown(lab.command(&["logs", "study.toml", "1", "--raw"]));
    assert_eq!(seen, loud.replace('\n', "\r\n"));
}

#[test]
fn a_run_in_a_terminal_shows_failures_without_their_escapes() {
    let lab = Lab::with_study(&shell_study("[1, 2]", &format!("{LOUD}; exit 1"), ""));
    let (mut child, mut window) = in_terminal(lab.command(&["run", "study.toml"]));
    let mut seen = Vec::new();
    let _ = window.read_to_end(&mut seen);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let seen = String::from_utf8_lossy(&seen);
    assert!(seen.contains("Failed trials") && !seen.contains("\x1b]0;owned"), "{seen:?}");
}

#[test]
fn cells_that_a_spreadsheet_would_run_are_quoted_on_request() {
    let study = shell_study("[\"=1+2\", \"plain\"]", "true", "");
    let lab = Lab::with_study(&study);
    lab.expect(0, &["run", "study.toml"]);
    let words = ["export", "study.toml"];
    assert!(lab.expect(0, &words).stdout.contains(",=1+2,"));
    let safe = lab.expect(0, &[&words[..], &["--spreadsheet-safe"]].concat()).stdout;
    assert!(safe.contains(",'=1+2,") && safe.contains(",plain,"), "{safe}");
    let json = ["--format", "json", "--spreadsheet-safe"];
    lab.expect(2, &[&words[..], &json].concat()).says(&["about CSV"]);
}

/// A text without colours.
fn plain(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |own| own.1))
}

/// A lab with a study of one factor that has run, whose trials differ a little.
fn measured_lab(levels: &str) -> Lab {
    let script = "echo \"::metric {\\\"y\\\": $x.$((TRAINWRIGHT_SEED % 9))}\"";
    let more =
        "[metrics.y]\nfrom = \"stdout\"\nobjective = \"minimize\"\n[analysis]\nresponse = \"y\"";
    let study = shell_study(levels, script, more)
        .replace("type = \"full\"", "type = \"full\"\nreplications = 4");
    let lab = Lab::with_study(&study);
    lab.expect(0, &["run", "study.toml"]);
    lab
}

#[test]
fn no_line_of_a_result_is_wider_than_the_terminal() {
    let lab = measured_lab("[1, 2, 3]");
    for words in [
        &["analyze", "study.toml"][..],
        &["compare", "study.toml", "study.toml"],
        &["check", "study.toml"],
        &["findings"],
        &["doctor"],
        &["status", "study.toml"],
    ] {
        for columns in [60, 100] {
            let seen = plain(&shown_at(lab.command(words), columns));
            let wide = |line: &&str| line.chars().count() > usize::from(columns);
            let wide: Vec<&str> = seen.lines().filter(wide).collect();
            assert!(wide.is_empty(), "{words:?} at {columns}: {wide:#?}");
        }
    }
    // Programs find lines as they are.
    let piped = lab.expect(0, &["analyze", "study.toml"]).stdout;
    assert!(piped.lines().any(|line| line.chars().count() > 100), "{piped}");
}

#[test]
fn an_analysis_begins_with_its_verdict_and_shows_one_table_unless_asked() {
    let lab = measured_lab("[1, 2]");
    let tables = |words: &[&str]| {
        let text = lab.expect(0, &[&["analyze", "study.toml"], words].concat()).stdout;
        let best = text.find("Best configuration measured").unwrap();
        assert!(best < text.find("Coefficients").unwrap(), "{text}");
        text.matches("Analysis of variance, type").count()
    };
    assert_eq!((tables(&[]), tables(&["--all"]), tables(&["--type", "1,3"])), (1, 3, 2));
    let json = lab.json(&["analyze", "study.toml", "--json"]);
    assert_eq!(json["anova"].as_array().unwrap().len(), 3);
}
