//! What may change in a study file after trials have run.

use crate::program::{Lab, shell_study};

fn study() -> String {
    let more = "[metrics.y]\nobjective = \"minimize\"\nkey = \"y\"";
    let script =
        "echo $TRAINWRIGHT_TRIAL >> ran; echo \"::metric {\\\"y\\\": $x$TRAINWRIGHT_REPLICATE}\"";
    shell_study("[1, 2, 3]", script, more)
        .replace("type = \"full\"", "type = \"full\"\nreplications = 2")
}

fn lab_with_results() -> Lab {
    let lab = Lab::with_study(&study());
    lab.expect(0, &["run", "study.toml"]);
    lab
}

/// The changed study is refused with these parts of a diff, and runs nothing.
#[track_caller]
fn check_refused(from: &str, to: &str, diff: &[&str]) {
    let lab = lab_with_results();
    let text = study().replace(from, to);
    assert_ne!(text, study());
    lab.write("study.toml", text);
    let end = lab.expect(2, &["run", "study.toml"]);
    end.says(&["has changed since its trials ran"]);
    end.says(diff);
    assert_eq!(lab.lines("ran").len(), 6);
    lab.write("study.toml", study());
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.lines("ran").len(), 6);
}

#[test]
fn a_changed_factor_design_command_or_seed_is_refused_with_a_diff() {
    check_refused("[1, 2, 3]", "[1, 2, 4]", &["factors[x].levels[2]: 3 -> 4"]);
    check_refused(
        "\"full\"",
        "\"table\"\nrows = [[1], [2]]",
        &["design.kind", "no row left", "x=3"],
    );
    check_refused("echo $TRAINWRIGHT_TRIAL", "echo  $TRAINWRIGHT_TRIAL", &["task.command"]);
    check_refused("env.x = \"{x}\"", "env.x = \"0{x}\"", &["task.command", "0{x}"]);
    check_refused("seed = 5", "seed = 6", &["study.seed: 5 -> 6"]);
}

#[test]
fn more_replications_run_only_the_new_trials() {
    let lab = lab_with_results();
    let before = lab.rows();
    lab.write("study.toml", study().replace("replications = 2", "replications = 4"));
    lab.expect(0, &["run", "study.toml"]).says(&["12 trials planned, 6 to run"]);
    let ran = lab.lines("ran").concat();
    let mut new: Vec<&str> = ran[6..].iter().map(String::as_str).collect();
    new.sort_unstable_by_key(|trial| trial.parse::<u32>().unwrap());
    assert_eq!(new, ["7", "8", "9", "10", "11", "12"]);
    let after = lab.rows();
    assert_eq!(after[..6], before, "trials that had finished are as they were");
    for x in [1, 2, 3] {
        let same = after.iter().filter(|row| row["x"] == x);
        let mut replicates: Vec<u64> = same.map(|row| row["replicate"].as_u64().unwrap()).collect();
        replicates.sort_unstable();
        assert_eq!(replicates, [1, 2, 3, 4]);
    }
    // Fewer again: finished trials stay.
    lab.write("study.toml", study());
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.rows().len(), 12);
}

#[test]
fn a_changed_analysis_is_accepted_and_runs_nothing() {
    let lab = lab_with_results();
    let text = study() + "[analysis]\nresponse = \"time\"\nterms = \"main\"\nalpha = 0.1\n";
    lab.write("study.toml", text);
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.lines("ran").len(), 6);
    let analysis = lab.json(&["analyze", "study.toml", "--json"]);
    assert_eq!(analysis["n"], 6);
}

#[test]
fn a_study_changed_before_its_first_trial_is_planned_anew() {
    let lab = Lab::with_study(&(study() + "[budget]\nmax_hours = 0\n"));
    lab.expect(0, &["run", "study.toml"]);
    lab.write("study.toml", study().replace("[1, 2, 3]", "[1, 2]"));
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.states(), [("finished".to_owned(), 4)].into());
}

#[test]
fn a_budget_of_nothing_runs_nothing_and_a_larger_one_goes_on() {
    let text = study().replace("[run]", "[run]\nwarmup = 1") + "[budget]\nmax_hours = 0\n";
    let lab = Lab::with_study(&text);
    let end = lab.json(&["run", "study.toml", "--json"]);
    assert_eq!(end["end"], "budget-spent");
    assert_eq!(end["trials"]["planned"], 6);
    assert_eq!(lab.read("ran"), "");
    lab.write("study.toml", text.replace("max_hours = 0", "max_hours = 1"));
    let end = lab.json(&["run", "study.toml", "--json"]);
    assert_eq!(end["end"], "complete");
    assert_eq!(end["schema"], "trainwright/run/1");
    assert_eq!(lab.states(), [("finished".to_owned(), 6)].into());
}

#[test]
fn another_store_begins_anew() {
    let lab = lab_with_results();
    lab.write("study.toml", study().replace("[1, 2, 3]", "[1, 2]"));
    lab.expect(0, &["run", "study.toml", "--store", "second.v1"]);
    lab.expect(0, &["run", "study.toml", "--store", "second.v2"]);
    assert_eq!(lab.lines("ran").len(), 6 + 4 + 4);
    assert!(lab.path("second.v1.trials/demo/00004").is_dir());
    assert!(lab.path("second.v2.trials/demo/00004").is_dir());
}
