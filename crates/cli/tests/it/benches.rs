//! Timing commands: what runs, how often, in which order, and what is said of it.

use std::process::Command;

use serde_json::Value;

use crate::program::Lab;

/// Writes its own name into the file `order`, and nothing that counts.
fn named(name: &str) -> String {
    format!("printf {name} >> order")
}

#[test]
fn a_slower_command_is_told_from_a_faster_one() {
    let lab = Lab::new();
    let words = ["bench", "--runs", "8", "--json", "--", "sleep", "0.005", "--", "sleep", "0.06"];
    let reply = lab.json(&words);
    let level = &reply["comparison"]["levels"][0];
    assert_eq!(
        (level["verdict"].as_str(), level["judgement"].as_str()),
        (Some("higher"), Some("worse"))
    );
    assert_eq!((reply["rounds"].as_u64(), &reply["shell"]), (Some(8), &Value::Null));
    let slow = &reply["results"][1];
    assert_eq!(slow["command"], "sleep 0.06");
    let mean = slow["mean"].as_f64().unwrap();
    assert!((0.06..0.5).contains(&mean), "{mean}");
    assert!(slow["ci_low"].as_f64().unwrap() <= mean && slow["min"].as_f64().unwrap() >= 0.06);
    let text = lab.expect(0, &["bench", "--runs", "3", "sleep 0.005", "sleep 0.03"]).stdout;
    for part in ["1  sleep 0.005", "user ", "system ", "memory ", "Verdict", "shell `sh`"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn every_round_runs_each_command_once_in_an_order_of_its_own() {
    let orders = |seed: &str| {
        let lab = Lab::new();
        let words = ["bench", "--runs", "12", "--seed", seed];
        let (a, b, c) = (named("a"), named("b"), named("c"));
        lab.expect(0, &[&words[..], &[&a, &b, &c]].concat());
        let order = lab.read("order");
        let rounds: Vec<String> =
            order.as_bytes().chunks(3).map(|own| String::from_utf8_lossy(own).into()).collect();
        assert_eq!(rounds.len(), 12);
        for round in &rounds {
            let mut letters: Vec<char> = round.chars().collect();
            letters.sort_unstable();
            assert_eq!(letters, ['a', 'b', 'c']);
        }
        rounds
    };
    let first = orders("1");
    assert!(first.iter().any(|own| *own != first[0]), "{first:?}");
    assert_eq!(first, orders("1"));
    assert_ne!(first, orders("2"));
}

#[test]
fn warm_up_preparation_setup_and_cleanup_run_as_often_as_asked() {
    let lab = Lab::new();
    let (own, other) = (named("r"), named("R"));
    let extra = [("--prepare", "p"), ("--setup", "s"), ("--cleanup", "c")];
    let extra: Vec<(&str, String)> = extra.map(|(flag, name)| (flag, named(name))).into();
    let mut words = vec!["bench", "--runs", "2", "--warmup", "1"];
    extra.iter().for_each(|(flag, text)| words.extend([*flag, text.as_str()]));
    words.extend([own.as_str(), other.as_str()]);
    lab.expect(0, &words);
    let order = lab.read("order");
    assert_eq!(order.matches('p').count(), 6, "{order}");
    assert_eq!((order.matches('r').count(), order.matches('R').count()), (3, 3), "{order}");
    assert!(order.starts_with("ssp") && order.ends_with("cc"), "{order}");
}

#[test]
fn a_number_that_commands_print_is_compared_instead_of_time() {
    let lab = Lab::new();
    let prints = |base: u32| {
        format!("echo \"::metric {{\\\"rate\\\": $(({base} + TRAINWRIGHT_REPLICATE % 3))}}\"")
    };
    let (low, high) = (prints(100), prints(200));
    let words = ["bench", "--runs", "6", "--metric", "rate", "--objective", "maximize", "--json"];
    let reply = lab.json(&[&words[..], &[&low, &high]].concat());
    assert_eq!(reply["results"][1]["values"][0], 201.0);
    assert_eq!(reply["results"][1]["mean"], 201.0);
    assert_eq!(reply["comparison"]["levels"][0]["judgement"], "better");
    let words = ["bench", "--runs", "2", "--metric", "n=took (?<value>[0-9]+)", "--json"];
    let reply = lab.json(&[&words[..], &["echo it took 7 s"]].concat());
    assert_eq!((&reply["metric"], &reply["results"][0]["mean"]), (&"n".into(), &7.0.into()));
    assert_eq!(reply["comparison"], Value::Null);
    lab.expect(2, &["bench", "--metric", "n=[0-9]+", "true"]).says(&["no group `(?P<value>...)`"]);
    lab.expect(1, &["bench", "--metric", "absent", "true"]).says(&["`true` failed in run 1"]);
}

#[test]
fn a_command_that_fails_ends_everything_unless_failures_are_ignored() {
    let lab = Lab::new();
    lab.expect(1, &["bench", "--runs", "3", "exit 3"]).says(&[
        "`exit 3` failed in run 1",
        "exit code 3",
        "--ignore-failure",
    ]);
    let words = ["bench", "--runs", "3", "--ignore-failure", "--json", "exit 3"];
    let end = lab.expect(1, &words);
    let reply: Value = serde_json::from_str(&end.stdout).unwrap();
    assert_eq!(reply["results"][0]["exit_codes"], serde_json::json!([3, 3, 3]));
    assert_eq!(reply["results"][0]["failed"], 3);
    lab.expect(1, &["bench", "-N", "no-such-program-anywhere"]).says(&["no-such-program"]);
    lab.expect(2, &["bench", "-N", "echo 'open"]).says(&["is not closed"]);
    lab.expect(2, &["bench", "--baseline", "3", "true"]).says(&["there are 1"]);
}

#[test]
fn parameters_fill_in_every_combination_and_reach_the_exported_files() {
    let lab = Lab::new();
    let words = ["bench", "--runs", "2", "-L", "a", "x,y", "-P", "n", "1", "2", "-N"];
    let files = ["--export-json", "b.json", "--export-csv", "b.csv", "--export-markdown", "b.md"];
    lab.expect(0, &[&words[..], &files[..], &["echo {a} {n}"]].concat());
    let exported: Value = serde_json::from_str(&lab.read("b.json")).unwrap();
    let results = exported["results"].as_array().unwrap();
    let commands: Vec<&str> = results.iter().map(|own| own["command"].as_str().unwrap()).collect();
    assert_eq!(commands, ["echo x 1", "echo x 2", "echo y 1", "echo y 2"]);
    assert_eq!(
        results[3]["parameters"],
        serde_json::json!({ "a": { "value": "y" }, "n": { "value": "2" } })
    );
    assert!(lab.read("b.csv").starts_with(
        "command,mean,stddev,median,user,system,min,max,parameter_a,parameter_n\necho x 1,"
    ));
    assert!(lab.read("b.md").contains("| `echo y 2` |"));
}

#[test]
fn no_run_begins_after_the_time_is_up() {
    let lab = Lab::new();
    let reply =
        lab.json(&["bench", "--runs", "100000", "--max-time", "300ms", "-N", "true", "--json"]);
    assert_eq!(reply["end"], "time-up");
    assert!(reply["rounds"].as_u64().unwrap() < 100_000);
}

#[test]
fn hyperfine_and_this_program_agree_and_write_the_same_fields() {
    let lab = Lab::new();
    let mut hyperfine = Command::new("hyperfine");
    let theirs = ["-N", "--runs", "20", "--style", "none", "--export-json", "theirs.json"];
    hyperfine.args(theirs).args(["sleep 0.05", "sleep 0.1"]).current_dir(lab.folder());
    match hyperfine.output() {
        Ok(end) => assert!(end.status.success(), "{end:?}"),
        Err(error) => {
            println!("SKIPPED: hyperfine is not installed ({error}); nothing to compare with");
            return;
        }
    }
    let ours = ["bench", "-N", "--runs", "20", "--export-json", "ours.json"];
    lab.expect(0, &[&ours[..], &["sleep 0.05", "sleep 0.1"]].concat());
    let read = |name: &str| serde_json::from_str::<Value>(&lab.read(name)).unwrap();
    let (ours, theirs) = (read("ours.json"), read("theirs.json"));
    for at in 0..2 {
        let (own, other) = (&ours["results"][at], &theirs["results"][at]);
        for (name, value) in other.as_object().unwrap() {
            let found = own.get(name).unwrap_or_else(|| panic!("no {name} in {own}"));
            assert_eq!(found.is_array(), value.is_array(), "{name}");
        }
        // Both time a process from its start to its end. Whatever else runs beside a test adds to
        // some runs; the quickest of twenty differ by what a scheduler adds, far below a tenth.
        let [a, b] = [own, other].map(|own| own["min"].as_f64().unwrap());
        assert!((a / b - 1.0).abs() < 0.1, "{a} and {b}");
    }
}
