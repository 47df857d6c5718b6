//! Whatever is killed, whenever: no finished trial is lost or repeated.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::program::{Dice, Lab, Running, is_alive, send, shell_study, until};

/// Twelve rows in two replications; each trial notes its start, its process and its end.
fn journal_study(slots: u32) -> String {
    let script = "echo start $TRAINWRIGHT_TRIAL $$ >> journal; sleep 0.01; \
                  echo end $TRAINWRIGHT_TRIAL $$ >> journal; echo \"::metric {\\\"y\\\": $x}\"";
    let more = format!(
        "retries = 1000000\nretry_on = [137]\n[engine]\nslots = {slots}\n[metrics.y]\n\
         from = \"stdout\"\n[analysis]\nresponse = \"y\""
    );
    shell_study("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]", script, &more)
        .replace("type = \"full\"", "type = \"full\"\nreplications = 2")
}

/// How often each trial started, as the trials themselves tell.
fn starts(lab: &Lab) -> BTreeMap<String, usize> {
    let mut starts = BTreeMap::new();
    for words in lab.lines("journal").iter().filter(|words| words[0] == "start") {
        *starts.entry(words[1].clone()).or_default() += 1;
    }
    starts
}

fn kill_last_trial(lab: &Lab) {
    if let Some(words) = lab.lines("journal").iter().rfind(|words| words[0] == "start")
        && let Some(pid) = words.get(2).and_then(|pid| pid.parse().ok())
        && is_alive(pid)
    {
        send(pid, Signal::SIGKILL);
    }
}

/// Remembers how often trials had started once the store called them finished.
fn note_finished(lab: &Lab, finished: &mut BTreeMap<String, usize>) {
    if lab.run(&["status", "study.toml"]).code != Some(0) {
        return;
    }
    let rows = lab.rows();
    let starts = starts(lab);
    for row in rows.iter().filter(|row| row["state"] == "finished") {
        let trial = row["trial"].to_string();
        let count = starts[&trial];
        finished.entry(trial).or_insert(count);
    }
}

#[track_caller]
fn check_all_finished_once(lab: &Lab, finished: &BTreeMap<String, usize>, history: &str) {
    let starts = starts(lab);
    for (trial, count) in finished {
        assert_eq!(starts[trial], *count, "finished trial {trial} ran again; {history}");
    }
    let rows = lab.rows();
    assert_eq!(rows.len(), 24);
    for row in rows {
        assert_eq!(row["state"], "finished", "{row}; {history}");
        assert_eq!(row["y"].as_f64(), row["x"].as_f64(), "{row}");
        let started = starts[&row["trial"].to_string()] as u64;
        // A crash between the note in the store and the start counts an attempt that never ran.
        assert!(row["attempts"].as_u64().unwrap() >= started, "{row}, started {started}");
    }
}

/// Kills at random moments until the study is done.
fn survive(slots: u32, seed: u64) {
    let lab = Lab::with_study(&journal_study(slots));
    let mut dice = Dice(seed);
    let mut finished = BTreeMap::new();
    let mut history = format!("seed {seed}, slots {slots}:");
    for round in 0..200 {
        let mut runner = lab.start(&["run", "study.toml"]);
        // Later rounds last longer, so that the slowest machine gets to the end.
        let moment = Duration::from_micros(dice.below(150_000 + 10_000 * round));
        if runner.ends_within(moment) {
            let code = runner.end().code();
            assert_eq!(code, Some(0), "{history} {}", lab.read("running.stderr"));
            check_all_finished_once(&lab, &finished, &history);
            return;
        }
        let victim = ["runner", "trial", "both"][dice.below(3) as usize];
        write!(history, " {victim} at {moment:?}").unwrap();
        if victim != "runner" {
            kill_last_trial(&lab);
        }
        if victim == "trial" && round < 190 {
            runner.ends_within(Duration::from_micros(dice.below(50_000)));
        }
        runner.crash();
        note_finished(&lab, &mut finished);
    }
    panic!("never done: {history}");
}

#[test]
fn a_study_survives_kills_with_one_slot() {
    (1..=4).for_each(|seed| survive(1, seed));
}

#[test]
fn a_study_survives_kills_with_three_slots() {
    (11..=15).for_each(|seed| survive(3, seed));
}

/// Trials that take no time, so that most kills hit the store as it writes.
fn survive_while_writing(flush: &[&str], rounds: u64) {
    let script = "echo $TRAINWRIGHT_TRIAL >> ended; echo \"::metric {\\\"y\\\": $x}\"";
    let study = shell_study("[1, 2, 3, 4]", script, "[metrics.y]\n[analysis]\nresponse = \"y\"")
        .replace("type = \"full\"", "type = \"full\"\nreplications = 60");
    let lab = Lab::with_study(&study);
    let words = [["run", "study.toml"].as_slice(), flush].concat();
    let mut dice = Dice(rounds);
    let mut last = 0;
    for _ in 0..rounds {
        let mut runner = lab.start(&words);
        if !runner.ends_within(Duration::from_micros(dice.below(40_000))) {
            runner.crash();
        }
        if lab.run(&["status", "study.toml"]).code == Some(0) {
            lab.check_store("trainwright.db");
            let now = lab.states().get("finished").copied().unwrap_or(0);
            assert!(now >= last, "{last} trials were finished, now {now}");
            last = now;
        }
    }
    lab.expect(0, &words);
    assert_eq!(lab.states(), [("finished".to_owned(), 240)].into());
    let attempts: u64 = lab.rows().iter().map(|row| row["attempts"].as_u64().unwrap()).sum();
    assert!(lab.lines("ended").len() as u64 <= attempts);
    assert!(attempts <= 240 + rounds, "one attempt is lost with each crash, not {attempts}");
}

#[test]
fn a_store_survives_kills_while_it_writes() {
    survive_while_writing(&[], 25);
}

#[test]
fn a_store_survives_kills_while_it_writes_without_flush() {
    survive_while_writing(&["--no-flush"], 25);
}

/// A trial that hangs, with a child and perhaps without environment, until `go` is there.
fn hanging_study(command: &str) -> String {
    let script = "echo $$ >> pids; [ -e go ] && exit 0; sleep 600 & echo $! >> pids; wait";
    shell_study("[1, 2]", script, "").replace("command = [", &format!("command = [{command}"))
}

fn pids(lab: &Lab) -> Vec<u32> {
    lab.lines("pids").iter().map(|words| words[0].parse().unwrap()).collect()
}

#[track_caller]
fn check_leftovers_end(command: &str) {
    let lab = Lab::with_study(&hanging_study(command));
    let runner: Running = lab.start(&["run", "study.toml"]);
    until("a trial hangs", || lab.lines("pids").len() == 2);
    runner.crash();
    let left = pids(&lab);
    assert!(left.iter().all(|pid| is_alive(*pid)), "a trial died with its runner");
    let status = lab.expect(0, &["status", "study.toml"]);
    assert!(status.stdout.contains("its runner died"), "{status:?}");
    lab.write("go", "");
    let end = lab.expect(0, &["run", "study.toml"]);
    end.says(&["1 left unfinished by a runner that died will run again"]);
    assert!(!left.iter().any(|pid| is_alive(*pid)), "a leftover lives on");
    let attempts: Vec<u64> =
        lab.rows().iter().map(|row| row["attempts"].as_u64().unwrap()).collect();
    assert_eq!(attempts, [2, 1]);
}

#[test]
fn processes_of_a_dead_runner_end_before_their_trial_runs_again() {
    check_leftovers_end("");
}

#[test]
fn processes_of_a_dead_runner_are_known_without_their_environment() {
    check_leftovers_end("\"env\", \"-i\", \"x={x}\", ");
}
