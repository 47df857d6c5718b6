//! What may change in a study file after trials have run.

use crate::program::{Lab, shell_study, until};

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
    check_refused("[1, 2, 3]", "[1, 2, 4]", &["the factor `x` no longer has the level 3"]);
    check_refused(
        "\"full\"",
        "\"table\"\nrows = [[1], [2]]",
        &["the design is now `table`", "no row left", "x=3"],
    );
    check_refused(
        "echo $TRAINWRIGHT_TRIAL",
        "echo  $TRAINWRIGHT_TRIAL",
        &["the command is now", "it was"],
    );
    check_refused(
        "env.x = \"{x}\"",
        "env.x = \"0{x}\"",
        &["the variable `x` is no longer the same"],
    );
    check_refused("seed = 5", "seed = 6", &["the seed is now 6; it was 5"]);
}

#[test]
fn values_whose_outputs_are_gone_come_back_with_their_rule() {
    let lab = lab_with_results();
    let before = lab.rows();
    // Of one trial the whole folder is gone, of another the text that the rule reads.
    std::fs::remove_dir_all(lab.path("trainwright.trials/demo/00001")).unwrap();
    std::fs::remove_file(lab.path("trainwright.trials/demo/00002/stdout")).unwrap();
    lab.write("study.toml", study().replace("key = \"y\"", "key = \"y\"\npick = \"max\""));
    let end = lab.expect(1, &["run", "study.toml"]);
    end.says(&["could not read again trial 1", "could not read again trial 2", "of 4 trials"]);
    assert_eq!(lab.lines("ran").len(), 6);
    lab.write("study.toml", study());
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!((lab.rows(), lab.lines("ran").len()), (before, 6));
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

/// What a changed study means is told before anything runs, by `check` as well.
#[test]
fn check_tells_what_has_changed_and_what_it_means() {
    let lab = lab_with_results();
    lab.expect(0, &["check", "study.toml"]);
    let unchanged = lab.json(&["check", "study.toml", "--json"]);
    assert_eq!(unchanged["changes"].as_array().unwrap().len(), 0);
    let changed = study()
        .replace("[1, 2, 3]", "[1, 2, 3, 4]")
        .replace("echo $TRAINWRIGHT_TRIAL", "echo  $TRAINWRIGHT_TRIAL");
    lab.write("study.toml", changed);
    let end = lab.expect(0, &["check", "study.toml"]);
    assert!(end.stdout.contains("the factor `x` has the new level 4"), "{}", end.stdout);
    let changes = lab.json(&["check", "study.toml", "--json"])["changes"].clone();
    let meanings: Vec<&str> =
        changes.as_array().unwrap().iter().map(|own| own["meaning"].as_str().unwrap()).collect();
    assert_eq!(meanings, ["grows", "needs-acceptance"], "{changes}");
}

#[test]
fn a_changed_command_is_accepted_by_name_and_told_in_the_analysis() {
    let lab = lab_with_results();
    let changed = study()
        .replace("replications = 2", "replications = 3")
        .replace("echo $TRAINWRIGHT_TRIAL", "echo  $TRAINWRIGHT_TRIAL");
    lab.write("study.toml", changed);
    lab.expect(2, &["run", "study.toml"]).says(&["--accept command"]);
    assert_eq!(lab.lines("ran").len(), 6);
    let end = lab.expect(0, &["run", "study.toml", "--accept", "command"]);
    end.says(&["the command is now"]);
    assert_eq!(lab.lines("ran").len(), 9);
    let findings = lab.json(&["analyze", "study.toml", "--json"])["findings"].clone();
    let told = findings.as_array().unwrap().iter().find(|own| own["id"] == "command-changed");
    let text = told.unwrap()["text"].as_str().unwrap();
    assert!(text.contains("6 of 9 trials"), "{text}");
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.lines("ran").len(), 9, "what was accepted once is accepted");
}

#[test]
fn a_factor_joins_with_the_value_that_earlier_trials_had() {
    let lab = lab_with_results();
    let grown = study()
        .replace("[design]", "[factors.threads]\nlevels = [1, 2]\nbefore = 1\n[design]")
        .replace("env.x = \"{x}\"", "env.x = \"{x}\"\nenv.t = \"{threads}\"");
    let without = grown.replace("before = 1\n", "");
    lab.write("study.toml", without);
    lab.expect(2, &["run", "study.toml", "--accept", "command"]).says(&["`threads`", "before"]);
    lab.write("study.toml", grown);
    lab.expect(0, &["run", "study.toml", "--accept", "command"]);
    let rows = lab.rows();
    assert_eq!(rows.len(), 12);
    assert_eq!(rows.iter().filter(|row| row["threads"] == 1).count(), 6);
    assert_eq!(lab.lines("ran").len(), 12, "the trials of one thread have run already");
}

/// A name of a factor was once taken for a key of the design.
#[test]
fn a_table_with_a_factor_named_blocks_can_grow() {
    let table = |rows: &str| {
        study()
            .replace("[factors.x]", "[factors.blocks]\nlevels = [1, 2]\n[factors.x]")
            .replace("\"full\"", &format!("\"table\"\nrows = {rows}"))
            .replace("env.x = \"{x}\"", "env.x = \"{x}\"\nenv.b = \"{blocks}\"")
    };
    let lab = Lab::with_study(&table("[[1, 1], [2, 2]]"));
    lab.expect(0, &["run", "study.toml"]);
    lab.write("study.toml", table("[[1, 1], [2, 2], [1, 3]]"));
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.lines("ran").len(), 6);
}

#[test]
fn a_study_without_a_design_has_nothing_to_run_and_takes_recorded_trials() {
    let lab = lab_with_results();
    let open = study().replace("[design]\ntype = \"full\"\nreplications = 2\n", "");
    lab.write("open.toml", open);
    lab.expect(2, &["run", "open.toml", "--store", "open.db"]).says(&["no [design]"]);
    lab.expect(0, &["run", "open.toml", "--store", "open.db", "--replay", "trainwright.db"]);
    assert_eq!(lab.lines("ran").len(), 6, "nothing ran again");
    let read = |words: &[&str]| -> Vec<(String, String)> {
        let rows = lab.json(words)["rows"].as_array().unwrap().clone();
        let mut cells: Vec<_> =
            rows.iter().map(|row| (row["x"].to_string(), row["y"].to_string())).collect();
        cells.sort_unstable();
        cells
    };
    let here = ["export", "open.toml", "--store", "open.db", "--format", "json"];
    assert_eq!(read(&here), read(&["export", "study.toml", "--format", "json"]));
}

#[test]
fn recorded_trials_fill_the_design_and_the_rest_runs() {
    let lab = lab_with_results();
    lab.write("study.toml", study().replace("replications = 2", "replications = 3"));
    lab.expect(0, &["run", "study.toml", "--store", "new.db", "--replay", "trainwright.db"]);
    let counts =
        lab.json(&["status", "study.toml", "--store", "new.db", "--json"])["counts"].clone();
    assert_eq!((&counts["finished"], &counts["planned"]), (&6.into(), &3.into()), "{counts}");
    lab.expect(0, &["run", "study.toml", "--store", "new.db"]);
    assert_eq!(lab.lines("ran").len(), 9);
}

#[test]
fn recorded_trials_that_the_design_does_not_have_are_told() {
    let lab = lab_with_results();
    lab.write("study.toml", study().replace("[1, 2, 3]", "[1, 2]"));
    let words = ["run", "study.toml", "--store", "new.db", "--replay", "trainwright.db"];
    lab.expect(0, &words).says(&["2 recorded trials have no row in the design"]);
    assert_eq!(lab.lines("ran").len(), 6, "nothing runs again");
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let lab = Lab::with_study(&study());
    let other = rusqlite::Connection::open(lab.path("trainwright.db")).unwrap();
    other.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    drop(other);
    for verb in ["run", "status"] {
        lab.expect(3, &[verb, "study.toml"]).says(&["a database of another program"]);
    }
}

#[test]
fn values_of_variables_are_not_kept_unless_the_study_says_so() {
    let secret = "hunter2-hunter2";
    let text = study().replace("env.x =", &format!("env.TOKEN = \"{secret}\"\nenv.x ="));
    let lab = Lab::with_study(&text);
    lab.expect(0, &["run", "study.toml", "--report", "report.html"]);
    let holds = |name: &str, what: &str| {
        let bytes = std::fs::read(lab.path(name)).unwrap();
        bytes.windows(what.len()).any(|window| window == what.as_bytes())
    };
    assert!(!holds("trainwright.db", secret) && !holds("report.html", secret));
    assert!(holds("trainwright.db", "TOKEN"), "the name is kept");
    lab.write("study.toml", text.replace("[run]", "[run]\nkeep_env = [\"TOKEN\"]"));
    lab.expect(0, &["run", "study.toml", "--store", "kept.db"]);
    assert!(holds("kept.db", secret));
}

#[test]
fn store_and_trials_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let lab = lab_with_results();
    let mode = |name: &str| std::fs::metadata(lab.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("trainwright.db"), 0o600);
    assert_eq!(mode("trainwright.trials/demo"), 0o700);
    assert_eq!(mode("trainwright.trials/demo/00001"), 0o700);
}

#[test]
fn what_a_running_trial_reports_is_seen_by_others() {
    let script = "echo '::metric {\"y\": 41, \"step\": 1}'; while [ ! -e go ]; do sleep 0.05; done; \
                  echo '::metric {\"y\": 42, \"step\": 2}'";
    let lab =
        Lab::with_study(&shell_study("[1, 2]", script, "[metrics.y]\nobjective = \"minimize\""));
    let mut runner = lab.start(&["run", "study.toml"]);
    let status = || lab.run(&["status", "study.toml", "--json"]).stdout;
    until("the trial has reported", || {
        status().contains("\"y\":41") || status().contains("\"y\": 41")
    });
    let before = lab.json(&["status", "study.toml", "--json"]);
    assert_eq!(before["progress"][0]["number"], 1);
    lab.write("go", "");
    assert!(runner.end().success());
    let after = lab.json(&["status", "study.toml", "--json"]);
    assert_eq!(after["progress"].as_array().unwrap().len(), 0);
    assert!(after["change"].as_i64() > before["change"].as_i64());
}
