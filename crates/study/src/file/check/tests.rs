//! Rules about the study as a whole; the helpers serve the rules of its parts too.

use std::time::Duration;

use crate::{RunOptions, SourceFile, Study};

/// A study that needs nothing from outside and has one line for everything.
pub(super) const BASE: &str = "schema = 1\n[study]\nname = \"s\"\n[factors.a]\nlevels = [1, 2]\n\
                               [factors.b]\nlevels = [\"x\", \"y\"]\n[design]\ntype = \"full\"\n\
                               [metrics.m]\n";

/// The base study with one replacement.
#[track_caller]
pub(super) fn text_with(from: &str, to: &str) -> String {
    let text = BASE.replacen(from, to, 1);
    assert_ne!(text, BASE, "`{from}` is not in the study");
    text
}

/// What is said of a study, as `line:column: message (help)`; nothing where it is taken.
pub(super) fn faults_of(text: &str) -> Vec<String> {
    match Study::from_text(text) {
        Ok(_) => Vec::new(),
        Err(faulty) => {
            let lines = faulty.to_string();
            lines.lines().map(|line| line.trim_start_matches("study.toml:").to_owned()).collect()
        }
    }
}

#[track_caller]
pub(super) fn check(from: &str, to: &str, expected: &[&str]) {
    assert_eq!(faults_of(&text_with(from, to)), expected, "{from} -> {to}");
}

/// The base study with one replacement, which must be taken.
#[track_caller]
pub(super) fn taken(from: &str, to: &str) -> Study {
    Study::from_text(&text_with(from, to)).unwrap_or_else(|faulty| panic!("{faulty}"))
}

/// The base study with one replacement, in a folder that holds one file.
pub(super) fn with_file(from: &str, to: &str, name: &str, content: &str) -> Result<Study, String> {
    let file = SourceFile { path: "study.toml".into(), text: text_with(from, to) };
    let read = |path: &std::path::Path| match path.to_str() {
        Some(own) if own == name => Ok(content.to_owned()),
        _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    };
    Study::parse(file, &read).map_err(|faulty| faulty.to_string())
}

#[test]
fn the_base_study_is_taken() {
    assert_eq!(faults_of(BASE), Vec::<String>::new());
}

#[test]
fn a_study_name_names_a_folder() {
    for good in ["A.b-c_9", "7", "-", "a..b", "Größe-学習率"] {
        assert_eq!(taken("\"s\"", &format!("{good:?}")).name, good);
    }
    for bad in ["", ".hidden", "..", "a b", "a/b", "☃"] {
        let words = format!(
            "3:8: bad study name `{bad}` \
             (use letters, digits, dots, dashes and underscores: it names a folder)"
        );
        check("\"s\"", &format!("{bad:?}"), &[&words]);
    }
}

#[test]
fn faults_of_all_parts_come_in_the_order_of_the_file() {
    let text = text_with("type = \"full\"", "type = \"full\"\nreplications = 0")
        .replace("\"s\"", "\"s s\"")
        .replace("schema = 1", "schema = 3")
        .replace("[1, 2]", "[1]");
    let places: Vec<String> = faults_of(&text)
        .iter()
        .map(|fault| fault.split(": ").next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(places, ["1:10", "3:8", "5:10", "10:16"]);
}

#[test]
fn a_faulty_metric_brings_no_faults_in_its_wake() {
    check(
        "[metrics.m]\n",
        "[metrics.m]\nfrom = \"csv\"\n[analysis]\nresponse = \"n\"\n",
        &["10:10: `m` needs `file` (such as \"results.csv\")"],
    );
}

#[test]
fn trials_at_a_time_are_the_smaller_of_engine_and_study() {
    let of = |tables: &str| taken("[metrics.m]", &format!("{tables}[metrics.m]")).run.slots;
    assert_eq!(of("[run]\nretries = 0\n"), 1);
    assert_eq!(of("[engine]\nslots = 3\n"), 3);
    assert_eq!(of("[run]\nparallel = 2\n"), 2);
    assert_eq!(of("[engine]\nslots = 3\n[run]\nparallel = 2\n"), 2);
    assert_eq!(of("[engine]\nslots = 2\n[run]\nparallel = 3\n"), 2);
}

#[test]
fn nothing_runs_on_no_slots() {
    check(
        "[metrics.m]",
        "[engine]\nslots = 0\n[run]\nparallel = 0\n[metrics.m]",
        &["11:9: slots must be at least 1", "13:12: parallel must be at least 1"],
    );
}

#[test]
fn what_a_study_leaves_open_about_running_has_usual_values() {
    let run = taken("[metrics.m]", "[run]\n[metrics.m]").run;
    let usual = RunOptions {
        timeout: None,
        grace: Duration::from_secs(5),
        retries: 0,
        retry_on: vec![137, 143],
        slots: 1,
        warmup: 0,
        prepare: None,
        sample_every: None,
        mlflow: false,
    };
    assert_eq!(run, usual);
}

#[test]
fn durations_are_refused_where_they_stand() {
    let words = "is not a duration (write a number and ms, s, m or h, such as \"20m\")";
    check(
        "[metrics.m]",
        "[run]\ntimeout = \"20\"\ngrace = \"soon\"\n[telemetry]\nsample_every = \"0s\"\n[metrics.m]",
        &[
            &format!("11:11: `20` {words}"),
            &format!("12:9: `soon` {words}"),
            &format!("14:16: `0s` {words}"),
        ],
    );
}

#[test]
fn retries_need_a_reason() {
    check(
        "[metrics.m]",
        "[run]\nretries = 1\nretry_on = []\n[metrics.m]",
        &[
            "12:12: `retries` without exit codes (name the exit codes that deserve another attempt, \
           such as [137, 143])",
        ],
    );
    assert!(taken("[metrics.m]", "[run]\nretry_on = []\n[metrics.m]").run.retry_on.is_empty());
}

#[test]
fn the_response_is_the_metric_with_an_objective_or_the_only_one() {
    assert_eq!(taken("\"s\"", "\"t\"").analysis.response, "m");
    let two = "[metrics.n]\nobjective = \"maximize\"\n[metrics.m]";
    assert_eq!(taken("[metrics.m]", two).analysis.response, "n");
    let named = "[analysis]\nresponse = \"m\"\n[metrics.n]\nobjective = \"maximize\"\n[metrics.m]";
    assert_eq!(taken("[metrics.m]", named).analysis.response, "m");
    check(
        "[metrics.m]",
        "[analysis]\n[metrics.n]\nobjective = \"maximize\"\n[metrics.m]\nobjective = \"minimize\"",
        &["10:2: `analysis.response` is missing (name one of n, m)"],
    );
}

#[test]
fn the_limit_for_evidence_lies_between_0_and_a_half() {
    let of = |alpha: &str| text_with("[metrics.m]", &format!("[analysis]\n{alpha}\n[metrics.m]"));
    for good in ["0.0001", "0.1", "0.49"] {
        assert_eq!(faults_of(&of(&format!("alpha = {good}"))), Vec::<String>::new());
    }
    for (bad, shown) in [("0", "0"), ("0.5", "0.5"), ("-0.1", "-0.1"), ("nan", "NaN")] {
        let words = format!("11:9: alpha is {shown} (choose between 0 and 0.5)");
        assert_eq!(faults_of(&of(&format!("alpha = {bad}"))), [words]);
    }
}

#[test]
fn designs_for_surfaces_are_fitted_with_squares_unless_the_study_says_otherwise() {
    let terms = |design: &str| taken("type = \"full\"", design).analysis.terms;
    assert_eq!(terms("type = \"central-composite\""), "quadratic");
    assert_eq!(terms("type = \"box-behnken\""), "quadratic");
    assert_eq!(terms("type = \"sobol\"\nruns = 4"), "main + 2fi");
    assert_eq!(terms("type = \"box-behnken\"\n[analysis]\nterms = \"main\""), "main");
}

#[test]
fn a_condition_speaks_of_factors_and_is_true_or_false() {
    let of = |constraint: &str, expected: &[&str]| {
        check("[metrics.m]", &format!("[[constraint]]\n{constraint}\n[metrics.m]"), expected);
    };
    of("expr = \"a < 2 or b == 'x'\"", &[]);
    of("expr = \"a\"", &["11:8: `the whole` in `a` wants a condition (write a comparison)"]);
    of("expr = \"c < 2\"", &["11:8: `c` is no factor (there are a, b)"]);
    of(
        "expr = \"a < 2\"\n[[constraint]]\nexpr = 'a <'",
        &["13:12: bad expression: a value is missing at the end (expressions know + - * / ^, \
           comparisons, and or not, log exp sqrt abs min max)"],
    );
}

#[test]
fn amounts_of_a_budget_are_not_negative() {
    let of = |line: &str, expected: &[&str]| {
        check("[metrics.m]", &format!("[budget]\n{line}\n[metrics.m]"), expected);
    };
    of("max_hours = 0\nprice_per_hour = 0.5", &[]);
    of("max_hours = -1", &["11:13: `max_hours` is -1 (write a number that is not negative)"]);
    of(
        "price_per_hour = inf",
        &["11:18: `price_per_hour` is inf (write a number that is not negative)"],
    );
    of("max_hours = nan", &["11:13: `max_hours` is NaN (write a number that is not negative)"]);
}
