//! Every study in `examples/` does what its first lines promise.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::data::speedtest::write_pictures;
use crate::program::{End, Lab};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A lab with a copy of one example folder.
fn lab(name: &str) -> Lab {
    let lab = Lab::new();
    for entry in fs::read_dir(examples().join(name)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let file = path.file_name().unwrap().to_str().unwrap().to_owned();
            lab.write(&file, fs::read(&path).unwrap());
        }
    }
    lab
}

/// Runs the example and gives `run --json`'s object.
fn run(lab: &Lab) -> Value {
    let found = lab.json(&["run", "study.toml", "--json"]);
    assert_eq!(found["end"], "complete");
    assert_eq!(found["trials"]["finished"], found["trials"]["total"]);
    found
}

fn ids(analysis: &Value) -> Vec<&str> {
    let findings = analysis["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["id"].as_str().unwrap()).collect()
}

#[test]
fn every_example_has_a_test_here() {
    let mut names: Vec<String> = fs::read_dir(examples())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "ask-tell",
            "cloud",
            "field-report-a",
            "field-report-b",
            "field-report-c",
            "field-report-d",
            "field-report-e",
            "one-factor",
            "own-script",
            "plan",
            "pytorch",
            "quickstart",
            "read-speed",
            "runs",
            "search",
            "search-fashion-mnist",
            "spark-cache",
        ]
    );
}

#[test]
fn the_machine_and_the_graph_of_the_example_are_planned() {
    let words = ["plan", "perceptron.json", "--machine", "2x4-p100.toml"];
    let found = lab("plan").json(&[&words[..], &["--proposals", "50", "--json"]].concat());
    assert_eq!(found["schema"], "trainwright/plan/1");
    assert!(found["chosen"]["step_time_s"].as_f64().unwrap() > 0.0, "{found}");
}

#[test]
fn the_experiment_on_caching_and_partitions_is_ready_to_run() {
    let found = lab("spark-cache").json(&["check", "study.toml", "--json"]);
    assert_eq!(found["trials"].as_array().unwrap().len(), 12, "{found}");
}

#[test]
fn recorded_runs_on_machines_are_replayed() {
    let lab = lab("cloud");
    let words = "cloud replay --runs runs.csv --method default --objective cost --json";
    let found = lab.json(&words.split(' ').collect::<Vec<_>>());
    assert!(!found["results"].as_array().unwrap().is_empty(), "{found}");
    assert!(found["summary"]["ratio_at_stop"]["median"].as_f64().unwrap() >= 1.0, "{found}");
}

#[test]
fn a_search_comes_near_the_least_loss() {
    let lab = lab("search");
    let found = lab.json(&["search", "study.toml", "--json"]);
    assert!(found["trials"]["total"].as_u64().unwrap() <= 24);
    let best = &found["best"];
    assert_eq!(best["configuration"]["optimizer"], "adam");
    assert!(best["values"]["loss"].as_f64().unwrap() < 0.115, "{best}");
}

#[test]
fn a_search_from_outside_hears_and_asks() {
    let lab = lab("ask-tell");
    lab.expect(0, &["ask", "study.toml", "--count", "2"]);
    lab.expect(
        0,
        &["tell", "study.toml", "--trial", "1", "--value", "loss=0.25", "--seconds", "12"],
    );
    lab.expect(0, &["tell", "study.toml", "--trial", "2", "--failed", "out of memory"]);
    let found = lab.json(&["search", "study.toml", "--explain", "--json"]);
    assert_eq!(found["best"]["values"]["loss"], 0.25);
}

#[test]
fn hyperband_tunes_a_real_training() {
    let lab = lab("search-fashion-mnist");
    let found = lab.json(&["search", "study.toml", "--json"]);
    assert_eq!(found["trials"]["total"], 24);
    assert!(found["trials"]["finished"].as_u64().unwrap() >= 2, "{found}");
    assert!(found["best"]["values"]["cost"].as_f64().unwrap() > 0.0, "{found}");
}

#[test]
fn strategies_are_compared_by_real_trainings() {
    let lab = lab("field-report-b");
    let found = run(&lab);
    assert_eq!(found["trials"]["total"], 45);
    let cell = lab.rows().into_iter().find(|row| row["strategy"] == "multi-worker");
    assert!(cell.is_some_and(|row| row["train_time"].as_f64().is_some_and(|time| time > 0.0)));
    // Trials of the built-in trainer have accounts of their ranks, not bounds.
    let bottlenecks = found["analysis"]["bottlenecks"].as_array().unwrap();
    assert_eq!(bottlenecks.len(), 15);
    assert!(bottlenecks.iter().all(|own| own["attribution"]["at_most"] == false));
    assert!(ids(&found["analysis"]).contains(&"bottleneck"));
}

/// The fit of the report's own times, as it was computed by hand: milliseconds a step and the rest
/// in seconds of each strategy.
#[test]
fn field_report_b_is_a_cost_a_step_and_the_rest() {
    let lab = lab("field-report-b");
    let words = "overhead --data as-printed.csv --column time --steps steps --by strategy --json";
    let found = lab.json(&words.split(' ').collect::<Vec<_>>());
    let lines = found["lines"].as_array().unwrap();
    for (strategy, per_step_ms, constant) in [
        ("not-distributed", 131.33, 11.07),
        ("one-device", 9.706, 341.8),
        ("mirrored", 44.07, 134.74),
        ("multi-worker", 137.5, 59.32),
    ] {
        let line = lines.iter().find(|line| line["group"] == strategy).unwrap();
        let (a, c) = (line["per_step"].as_f64().unwrap(), line["constant"].as_f64().unwrap());
        assert!((1e3 * a / per_step_ms - 1.0).abs() < 0.01, "{line}");
        assert!((c / constant - 1.0).abs() < 0.01, "{line}");
    }
}

#[test]
fn field_report_a_trains_on_pictures_with_and_without_the_scaling_rule() {
    let lab = lab("field-report-a");
    for study in ["study.toml", "scaled.toml"] {
        let quick = lab.read(study).replace("epochs = 8", "epochs = 1");
        lab.write(study, quick.replace("replications = 3", "replications = 1"));
        let found = lab.json(&["run", study, "--json"]);
        assert_eq!((&found["end"], &found["trials"]["finished"]), (&"complete".into(), &6.into()));
    }
}

#[test]
fn the_quick_start_trains_for_real_and_finds_that_the_optimizer_matters() {
    let lab = lab("quickstart");
    let found = run(&lab);
    assert_eq!(found["trials"]["total"], 48);
    let effects = found["analysis"]["effects"].as_array().unwrap();
    let optimizer = effects.iter().find(|effect| effect["term"] == "optimizer").unwrap();
    assert!(optimizer["percent"].as_f64().unwrap() > 20.0, "{optimizer}");
    let best = &found["analysis"]["best"];
    assert_eq!(best["configuration"]["optimizer"], "adam");
    assert!(best["mean"].as_f64().unwrap() > 0.75, "{best}");
    lab.expect(0, &["report", "study.toml", "-o", "report.html"]);
    let size = lab.read("report.html").len();
    assert!((200_000..1_500_000).contains(&size), "the report has {size} bytes");
}

#[test]
fn field_report_c_comes_out_of_one_study_and_tells_of_too_many_threads() {
    let lab = lab("field-report-c");
    let found = run(&lab);
    // The baseline, and 3 + 3 + 2 + 3 levels besides, three times each.
    assert_eq!(found["trials"]["total"], 36);
    let cores = std::thread::available_parallelism().unwrap().get();
    assert_eq!(ids(&found["analysis"]).contains(&"oversubscribed"), cores < 4);
}

#[test]
fn the_starter_study_is_the_quick_start() {
    let lab = Lab::new();
    lab.expect(0, &["init", "study.toml"]);
    let quick_start = fs::read_to_string(examples().join("quickstart/study.toml")).unwrap();
    let expected = quick_start.replace("name = \"quickstart\"", "name = \"first-study\"");
    assert_eq!(lab.read("study.toml"), expected);
}

#[test]
fn the_read_speed_study_finds_that_the_format_matters() {
    let lab = lab("read-speed");
    write_pictures(&lab, (240, 320));
    lab.expect(0, &["data", "prepare", "photos", "--out", "shards", "--size", "32"]);
    // The study calls the program by its name, as a user would.
    let program = Path::new(env!("CARGO_BIN_EXE_trainwright"));
    let paths = std::env::var("PATH").unwrap();
    let path = format!("{}:{paths}", program.parent().unwrap().display());
    let mut command = lab.command(&["run", "study.toml", "--json"]);
    command.env("PATH", path);
    let found: Value = serde_json::from_str(&End::of(command).stdout).unwrap();
    assert_eq!((&found["end"], &found["trials"]["finished"]), (&"complete".into(), &54.into()));
    // Pictures of a hundredth of the pixels: no noise of a busy machine hides that.
    assert_eq!(found["analysis"]["best"]["configuration"]["format"], "records");
    let effects = found["analysis"]["effects"].as_array().unwrap();
    let format = effects.iter().find(|effect| effect["term"] == "format").unwrap();
    assert!(format["p"].as_f64().unwrap() < 0.05, "{format}");
}

#[test]
fn one_factor_at_a_time_runs_from_its_baseline() {
    let lab = lab("one-factor");
    let found = run(&lab);
    // The baseline, two more levels of neurons and of layers, one more of epochs; three times.
    assert_eq!(found["trials"]["total"], 18);
}

#[test]
fn a_python_program_of_the_users_own_is_studied() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: examples/own-script needs python3, which is not installed here");
        return;
    }
    let lab = lab("own-script");
    let found = run(&lab);
    assert_eq!(found["trials"]["total"], 16);
    assert_eq!(found["analysis"]["response"], "accuracy");
}

/// Compares an analysis of variance with the expected one, whose rows name terms as the report does.
#[track_caller]
fn check_anova(found: &Value, kind: u64, expected: &Value) {
    let tables = found["anova"].as_array().unwrap();
    let table = tables.iter().find(|table| table["type"] == kind).unwrap();
    let rows = table["rows"].as_array().unwrap();
    let expected = expected.as_array().unwrap();
    assert_eq!(rows.len(), expected.len());
    for (row, right) in rows.iter().zip(expected) {
        for (ours, theirs) in [("sum_sq", "ss"), ("f", "F"), ("p", "p")] {
            let (Some(a), Some(b)) = (row[ours].as_f64(), right[theirs].as_f64()) else { continue };
            assert!(
                (a - b).abs() <= 1e-6 * b.abs(),
                "type {kind}, {}: {ours} {a}, not {b}",
                row["term"]
            );
        }
    }
}

#[track_caller]
fn check_report_d(column: &str, expected: &str) -> Value {
    let lab = lab("field-report-d");
    let column = format!("cost={column}");
    lab.expect(0, &["import", "results.csv", "--study", "study.toml", "--column", &column]);
    let vectors =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/data/report_d_expected.json");
    let vectors: Value = serde_json::from_str(&fs::read_to_string(vectors).unwrap()).unwrap();
    for coding in ["raw", "coded"] {
        let found = lab.json(&["analyze", "study.toml", "--json", "--coding", coding]);
        let expected = &vectors[format!("{expected}_{coding}").as_str()];
        for kind in 1..=3 {
            let name = format!("anova_type{kind}_patsy_order");
            check_anova(&found, kind, &expected[name.as_str()]);
        }
    }
    lab.json(&["analyze", "study.toml", "--json"])
}

#[test]
fn field_report_d_gives_its_own_table_and_what_it_missed() {
    let found = check_report_d("cost_exact", "authors_300");
    assert_eq!(found["n"], 300);
    let expected = [
        "missing-cells",
        "unbalanced",
        "residuals-not-normal",
        "unequal-variances",
        "log-scale",
        "collinearity-is-coding",
        "outlier",
        "lack-of-fit",
        "type-one-order",
    ];
    for id in expected {
        assert!(ids(&found).contains(&id), "{id} is not among {:?}", ids(&found));
    }
}

#[test]
fn the_whole_table_of_field_report_d_has_no_missing_cells() {
    let found = check_report_d("cost_printed", "table2_320");
    assert_eq!(found["n"], 320);
    for id in ["missing-cells", "unbalanced", "type-one-order", "sign-table-misprint"] {
        assert!(!ids(&found).contains(&id), "{id} is among {:?}", ids(&found));
    }
}

#[test]
fn the_printed_sign_table_is_found_to_be_misprinted() {
    let lab = lab("field-report-d");
    let note = "it is regular with D = +1 in row 11";
    assert!(lab.expect(0, &["check", "as-printed.toml"]).stdout.contains(note));
    let study = ["--study", "as-printed.toml", "--column", "cost=cost_printed"];
    lab.expect(0, &[&["import", "results.csv"], &study[..]].concat());
    let found = lab.json(&["analyze", "as-printed.toml", "--json"]);
    assert!(ids(&found).contains(&"sign-table-misprint"), "{:?}", ids(&found));
}

#[test]
fn the_pytorch_example_runs_where_pytorch_is() {
    let lab = lab("pytorch");
    let planned = lab.json(&["check", "study.toml", "--json"]);
    assert_eq!(planned["trials"].as_array().unwrap().len(), 16);
    let torch = Command::new("python3").args(["-c", "import torch"]).output();
    if !torch.is_ok_and(|own| own.status.success()) {
        println!("SKIPPED: examples/pytorch needs python3 with torch, which is not installed here");
        return;
    }
    let found = run(&lab);
    assert_eq!(found["trials"]["finished"], 16);
}
