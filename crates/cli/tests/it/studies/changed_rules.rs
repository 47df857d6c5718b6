//! Formulas and rules of metrics that change after trials have run.

use crate::program::{Lab, shell_study};

const RULE: &str = "[metrics.acc]\nobjective = \"maximize\"\nfrom = \"regex\"\n\
                    match = 'accuracy: (?P<value>[0-9.]+)'";

fn study(script: &str, more: &str) -> String {
    shell_study("[1, 2, 3]", script, more)
        .replace("type = \"full\"", "type = \"full\"\nreplications = 2")
}

fn column(lab: &Lab, name: &str) -> Vec<f64> {
    let mut rows = lab.rows();
    rows.sort_by_key(|row| (row["x"].as_i64(), row["replicate"].as_i64()));
    rows.iter().map(|row| row[name].as_f64().unwrap_or(f64::NAN)).collect()
}

const SCRIPT: &str = "echo $TRAINWRIGHT_TRIAL >> ran; echo \"accuracy: 0.$x\"; \
                      echo \"accuracy: 0.$x\"5; echo \"score=$x\"";

#[test]
fn a_changed_formula_takes_effect_at_once() {
    let formula = |expr: &str| format!("{RULE}\n[metrics.cost]\nexpr = \"{expr}\"\n");
    let lab = Lab::with_study(&study(SCRIPT, &formula("acc * 10")));
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(column(&lab, "cost"), [1.5, 1.5, 2.5, 2.5, 3.5, 3.5]);
    lab.write("study.toml", study(SCRIPT, &formula("acc * 100 + x")));
    assert_eq!(column(&lab, "cost"), [16.0, 16.0, 27.0, 27.0, 38.0, 38.0]);
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.lines("ran").len(), 6, "nothing runs for a formula");
}

/// The program's own advice, `expr = \"log(y)\"`, must work on a finished study.
#[test]
fn a_formula_can_join_a_finished_study() {
    let lab = Lab::with_study(&study(SCRIPT, RULE));
    lab.expect(0, &["run", "study.toml"]);
    let more = format!(
        "{RULE}\n[metrics.log_acc]\nexpr = \"log(acc)\"\n[analysis]\nresponse = \"log_acc\"\n"
    );
    lab.write("study.toml", study(SCRIPT, &more));
    let analysis = lab.json(&["analyze", "study.toml", "--json"]);
    assert_eq!(analysis["n"], 6);
    assert!((column(&lab, "log_acc")[0] - 0.15_f64.ln()).abs() < 1e-12);
}

#[test]
fn a_formula_without_a_value_is_told_and_a_better_one_mends_it() {
    let formula = |expr: &str| format!("{RULE}\n[metrics.cost]\nexpr = \"{expr}\"\n");
    let lab = Lab::with_study(&study(SCRIPT, &formula("1 / (x - 2)")));
    lab.expect(1, &["run", "study.toml"]);
    assert_eq!(lab.states(), [("failed".to_owned(), 2), ("finished".to_owned(), 4)].into());
    lab.write("study.toml", study(SCRIPT, &formula("1 / (x + 2)")));
    assert_eq!(lab.states(), [("finished".to_owned(), 6)].into());
    assert_eq!(lab.lines("ran").len(), 6);
}

#[test]
fn a_changed_rule_reads_the_kept_outputs_again() {
    let lab = Lab::with_study(&study(SCRIPT, RULE));
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(column(&lab, "acc")[0], 0.15);
    let first = format!("{RULE}\npick = \"first\"");
    lab.write("study.toml", study(SCRIPT, &first));
    assert_eq!(column(&lab, "acc")[0], 0.1, "readers see it before the next run");
    let end = lab.expect(0, &["run", "study.toml"]);
    end.says(&["the outputs of 6 trials were read again"]);
    assert_eq!(column(&lab, "acc"), [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]);
    assert_eq!(lab.lines("ran").len(), 6);
    let again = lab.expect(0, &["run", "study.toml"]);
    assert!(!again.stderr.contains("read again"), "{}", again.stderr);
}

#[test]
fn outputs_that_are_gone_are_named_and_old_values_are_not_believed() {
    let lab = Lab::with_study(&study(SCRIPT, RULE));
    lab.expect(0, &["run", "study.toml"]);
    std::fs::remove_dir_all(lab.path("trainwright.trials/demo/00002")).unwrap();
    lab.write("study.toml", study(SCRIPT, &format!("{RULE}\npick = \"first\"")));
    let end = lab.expect(1, &["run", "study.toml"]);
    end.says(&["could not read again trial 2"]);
    assert_eq!(lab.states(), [("failed".to_owned(), 1), ("finished".to_owned(), 5)].into());
}

/// A wrong pattern once cost every training again.
#[test]
fn the_first_trial_without_its_metric_stops_the_study_and_is_mended_without_running_again() {
    let wrong = RULE.replace("accuracy:", "precision:");
    let lab = Lab::with_study(&study(SCRIPT, &wrong));
    let end = lab.expect(1, &["run", "study.toml"]);
    end.says(&["precision:", "accuracy: 0.", "metrics test", "study.toml"]);
    assert_eq!(lab.lines("ran").len(), 1, "no other trial begins");
    let command = end.stderr.lines().find(|line| line.contains("metrics test")).unwrap();
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    lab.write("study.toml", study(SCRIPT, RULE));
    assert_ne!(lab.run(&words).stdout, "", "the command that was told works");
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.states(), [("finished".to_owned(), 6)].into());
    assert_eq!(lab.lines("ran").len(), 6, "the first one did not run again");
}
