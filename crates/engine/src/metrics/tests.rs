use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;
use trainwright_study::{Expression, Pattern, Pick, TextFile};

use super::*;

/// A trial's folder with these files.
fn trial(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn metric(name: &str, source: MetricSource) -> Metric {
    Metric {
        name: name.to_owned(),
        source,
        pick: Pick::Last,
        unit: None,
        range: Some((0.0, 1.0)),
        objective: None,
    }
}

fn reported(key: &str) -> MetricSource {
    MetricSource::Reported { key: key.to_owned() }
}

fn matching(pattern: &str) -> MetricSource {
    MetricSource::Regex { file: TextFile::Stdout, pattern: Pattern::parse(pattern).unwrap() }
}

fn formula(text: &str) -> MetricSource {
    MetricSource::Expr { expr: Expression::parse(text).unwrap() }
}

fn gathered(folder: &TempDir, metrics: &[Metric]) -> Gathered {
    gather(metrics, &Output::of_past_trial(folder.path()), 90.0)
}

/// Checks the only metric `m` of a trial with these files.
#[track_caller]
fn check(files: &[(&str, &str)], source: MetricSource, expected: f64) {
    let gathered = gathered(&trial(files), &[metric("m", source)]);
    assert_eq!((gathered.diverged, gathered.missing), (None, vec![]));
    assert_eq!(gathered.measurements[0].value, expected);
}

/// Checks that metric `m` is missing, and that each part stands in the explanation.
#[track_caller]
fn check_missing(files: &[(&str, &str)], source: MetricSource, parts: &[&str]) {
    let gathered = gathered(&trial(files), &[metric("m", source)]);
    let [MissingMetric { metric, explanation }] = &gathered.missing[..] else {
        panic!("{gathered:?}")
    };
    assert_eq!(metric, "m");
    for part in parts {
        assert!(explanation.contains(part), "`{part}` not in:\n{explanation}");
    }
}

#[test]
fn reported_values_come_from_the_file_before_the_output() {
    let file = ("metrics.jsonl", "{\"acc\": 0.5, \"step\": 1}\n\n{\"acc\": 0.7, \"step\": 2}\n");
    let stdout = ("stdout", "hello\n::metric {\"acc\": 0.9}\n");
    check(&[file, stdout], reported("acc"), 0.7);
    check(&[stdout], reported("acc"), 0.9);
    check(&[file, stdout], MetricSource::Stdout { key: "acc".into() }, 0.9);
    check(&[file, stdout], MetricSource::Jsonl { key: "acc".into() }, 0.7);
}

#[test]
fn a_last_line_that_was_cut_off_fails_the_trial_and_is_shown() {
    let text = "{\"m\": 0.5, \"step\": 1}\n{\"m\": 0.";
    let parts = ["line 2 of metrics.jsonl", "it was cut off: `{\"m\": 0.`"];
    check_missing(&[("metrics.jsonl", text)], reported("m"), &parts);
    let marked = "::metric {\"m\": 0.5}\n::metric {\"m\"";
    check_missing(&[("stdout", marked)], reported("m"), &["cut off", "::metric {\"m\"`"]);
    check_missing(&[("metrics.jsonl", "{\"m\": 0.5")], reported("m"), &["cut off"]);
}

#[test]
fn a_cut_off_line_before_the_last_value_changes_nothing() {
    let text = "{\"m\": 0.5}\n{\"m\": 0.\n{\"m\": 0.25}\n";
    check(&[("metrics.jsonl", text)], reported("m"), 0.25);
    // A whole last line needs no line end.
    check(&[("metrics.jsonl", "{\"m\": 0.5}\n{\"m\": 0.75}")], reported("m"), 0.75);
}

#[test]
fn the_first_value_is_known_whatever_was_cut_off_later() {
    let folder = trial(&[("metrics.jsonl", "{\"m\": 0.5}\n{\"m\": 0.")]);
    let first = Metric { pick: Pick::First, ..metric("m", reported("m")) };
    assert_eq!(gathered(&folder, &[first]).measurements[0].value, 0.5);
}

#[test]
fn a_printed_line_that_was_cut_off_is_no_earlier_value() {
    let acc = || matching("acc=(?<value>[0-9.]+)");
    check_missing(&[("stdout", "epoch 1 acc=0.5\nepoch 2 ac")], acc(), &["cut off: `epoch 2 ac`"]);
    check_missing(&[("stdout", "epoch 1 acc=0.5\nepoch 2 acc=0.")], acc(), &["acc=0.`"]);
    check(&[("stdout", "epoch 1 acc=0.5\nepoch 2 acc=0.75")], acc(), 0.75);
    check(&[("stdout", "epoch 1 acc=0.5\ndone")], acc(), 0.5);
    check(&[("stdout", "epoch 1 acc=0.5\nepoch 2 ac\n")], acc(), 0.5);
}

#[test]
fn a_row_that_was_cut_off_before_its_column_fails_the_trial() {
    let column = || MetricSource::Csv { file: "log.csv".into(), column: "m".into() };
    let cut = "epoch,loss,m\n1,0.5,0.25\n2,0.";
    check_missing(&[("log.csv", cut)], column(), &["line 3 of log.csv was cut off: `2,0.`"]);
    check(&[("log.csv", "epoch,loss,m\n1,0.5,0.25\n2,0.4\n")], column(), 0.25);
    check(&[("log.csv", "epoch,loss,m\n1,0.5,0.25\n2,0.4,0.75")], column(), 0.75);
}

#[test]
fn a_program_that_says_it_diverged_keeps_its_measurements() {
    let text = "{\"m\": 0.5}\n{\"m\": 0.25, \"diverged\": \"the loss exploded\"}\n";
    let found = gathered(&trial(&[("metrics.jsonl", text)]), &[metric("m", reported("m"))]);
    assert_eq!(found.measurements[0].value, 0.25);
    let words = "the program says that it diverged (line 2 of metrics.jsonl): the loss exploded";
    assert_eq!(found.diverged.as_deref(), Some(words));
    let plain = gathered(&trial(&[("stdout", "::metric {\"m\": 1, \"diverged\": true}\n")]), &[]);
    assert!(plain.diverged.is_some());
    // A number under that key is a metric like any other.
    check(&[("metrics.jsonl", "{\"diverged\": 0}\n")], reported("diverged"), 0.0);
}

#[test]
fn a_line_that_does_not_read_is_not_passed_over() {
    let parts = ["has values that do not read", "line 2 of metrics.jsonl: expected"];
    check_missing(&[("metrics.jsonl", "{\"acc\": 0.5}\n{\"acc\": x}\n")], reported("acc"), &parts);
    let parts = ["line 2 of metrics.jsonl: `acc` is \"0.9\", which is no number"];
    let text = "{\"acc\": 0.5}\n{\"acc\": \"0.9\"}\n";
    check_missing(&[("metrics.jsonl", text)], reported("acc"), &parts);
    check(&[("metrics.jsonl", "{\"acc\": 0.5}\n{\"acc\": null}\n")], reported("acc"), 0.5);
}

#[test]
fn text_that_looks_like_a_number_is_told() {
    let parts = ["line 1 of metrics.jsonl: `acc` is \"0.9\", which is no number"];
    check_missing(&[("metrics.jsonl", "{\"acc\": \"0.9\"}")], reported("acc"), &parts);
}

#[test]
fn every_matching_line_counts() {
    let log = "epoch 1 acc=0.25\nnoise\nepoch 2 acc=0.75\n";
    let pattern = r"epoch (?P<step>\d+) acc=(?P<value>\S+)";
    check(&[("stdout", log)], matching(pattern), 0.75);
    let folder = trial(&[("stdout", log)]);
    for (pick, expected) in [
        (Pick::First, 0.25),
        (Pick::Last, 0.75),
        (Pick::Min, 0.25),
        (Pick::Max, 0.75),
        (Pick::Mean, 0.5),
    ] {
        let metric = Metric { pick, ..metric("m", matching(pattern)) };
        let gathered = gathered(&folder, &[metric]);
        assert_eq!(gathered.measurements[0].value, expected, "{pick:?}");
        assert_eq!((&gathered.curves[0].at, &*gathered.curves[0].axis), (&vec![1.0, 2.0], "step"));
    }
}

#[test]
fn a_pattern_that_finds_nothing_shows_near_lines() {
    let log = "start\nAccuracy = 0.91\nend\n";
    let parts = ["lines of the standard output that match", "near: line 2 of stdout: Accuracy"];
    check_missing(&[("stdout", log)], matching(r"accuracy: (?P<value>[\d.]+)"), &parts);
    check_missing(
        &[("stdout", "accuracy: 1,5\n")],
        matching(r"accuracy: (?P<value>\S+)"),
        &["line 1 of stdout: `1,5` is no number"],
    );
}

#[test]
fn json_files_are_read_by_pointer() {
    let source = |pointer: &str| MetricSource::Json {
        file: "eval.json".to_owned(),
        pointer: pointer.to_owned(),
    };
    let file = ("eval.json", r#"{"eval": {"acc": [0.1, 0.9], "text": "0.5"}}"#);
    check(&[file], source("/eval/acc/1"), 0.9);
    check_missing(&[file], source("/eval/none"), &["has no `/eval/none`"]);
    check_missing(&[file], source("/eval/text"), &["`/eval/text`", "\"0.5\", which is no number"]);
    check_missing(&[], source("/a"), &["there is no file", "eval.json"]);
    check_missing(&[("eval.json", "{")], source("/a"), &["eval.json: EOF"]);
}

#[test]
fn csv_columns_are_read_by_name() {
    let source = |column: &str| MetricSource::Csv { file: "log.csv".into(), column: column.into() };
    let file = ("log.csv", "epoch, acc,loss\n1,0.5,\n2,0.6,x\n");
    check(&[file], source("acc"), 0.6);
    check_missing(&[file], source("accuracy"), &["no column `accuracy`", "epoch, acc, loss"]);
    check_missing(&[file], source("loss"), &["line 3 of log.csv: `x` is no number"]);
    let curves = gathered(&trial(&[file]), &[metric("m", source("acc"))]).curves;
    assert_eq!((&curves[0].at, &curves[0].values), (&vec![1.0, 2.0], &vec![0.5, 0.6]));
}

#[test]
fn wall_time_is_told_in_the_unit_of_the_metric() {
    let minutes = Metric { unit: Some("min".into()), ..metric("time", MetricSource::Wall) };
    let gathered = gathered(&trial(&[]), &[minutes]);
    let time = &gathered.measurements[0];
    assert_eq!((time.value, time.in_range), (1.5, false));
}

#[test]
fn formulas_are_left_to_whoever_reads_the_measurements() {
    let metrics = [metric("cost", formula("1 / acc")), metric("acc", reported("acc"))];
    let zero = gathered(&trial(&[("metrics.jsonl", "{\"acc\": 0}")]), &metrics);
    let names: Vec<&str> = zero.measurements.iter().map(|m| m.metric.as_str()).collect();
    assert_eq!((names, zero.missing, zero.diverged), (vec!["acc"], vec![], None));
}

#[test]
fn what_is_not_finite_has_diverged() {
    let files = [("metrics.jsonl", "{\"m\": 0.5, \"step\": 1}\n{\"m\": NaN, \"step\": 2}\n")];
    let nan = gathered(&trial(&files), &[metric("m", reported("m"))]);
    let words = "metric `m` was NaN at step 2 (line 2 of metrics.jsonl)";
    assert_eq!(nan.diverged.as_deref(), Some(words));
    assert!(nan.missing.is_empty() && nan.measurements.is_empty());
}

#[test]
fn other_reported_keys_become_curves() {
    let text = "{\"loss\": 3, \"acc\": 0.1, \"step\": 10}\n{\"loss\": 2, \"step\": 20}\n\
                {\"loss\": NaN, \"step\": 30}\n{\"once\": 1}\n";
    let gathered = gathered(&trial(&[("metrics.jsonl", text)]), &[metric("acc", reported("acc"))]);
    let [loss] = &gathered.curves[..] else { panic!("{:?}", gathered.curves) };
    assert_eq!((&*loss.name, &*loss.axis), ("metric.loss", "step"));
    assert_eq!((&loss.at, &loss.values), (&vec![10.0, 20.0], &vec![3.0, 2.0]));
    assert_eq!(gathered.diverged, None, "only metrics of the study decide");
}

#[test]
fn values_without_steps_are_counted() {
    let folder = trial(&[("stdout", "acc=0.1\nacc=0.2\n")]);
    let curves = gathered(&folder, &[metric("acc", matching("acc=(?P<value>.*)"))]).curves;
    assert_eq!((&curves[0].at, &*curves[0].axis), (&vec![1.0, 2.0], "report"));
}

proptest! {
    // Each case writes five files.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_a_channel_panic(text in "(?s)[\\x00-\\x7f\u{e9}]{0,120}") {
        let names = ["metrics.jsonl", "stdout", "f.json", "f.csv", "events.tfevents.1"];
        let folder = trial(&names.map(|name| (name, text.as_str())));
        let file = |name: &str| PathBuf::from(name).to_string_lossy().into_owned();
        let sources = [
            reported("a"),
            matching("(?P<value>.*)"),
            MetricSource::Json { file: file("f.json"), pointer: "/a".into() },
            MetricSource::Csv { file: file("f.csv"), column: "a".into() },
            MetricSource::Tensorboard { file: file("."), tag: "a".into() },
        ];
        for source in sources {
            let _ = gathered(&folder, &[metric("a", source)]);
        }
    }
}
