//! `trainwright cloud` as users meet it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::Lab;

fn example(lab: &Lab) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cloud");
    for name in ["runs.csv", "job.sh", "aws-us-east-1-2017.csv", "study.toml"] {
        lab.write(name, std::fs::read(folder.join(name)).unwrap());
    }
}

const RECOMMEND: [&str; 10] = [
    "cloud",
    "recommend",
    "job.json",
    "--catalog",
    "aws-us-east-1-2017.csv",
    "--nodes",
    "1,2,4",
    "--objective",
    "cost",
    "--json",
];

#[test]
fn a_search_by_hand_goes_the_way_of_one_by_a_command() {
    let (by_hand, by_command) = (Lab::new(), Lab::new());
    example(&by_hand);
    example(&by_command);
    let words = [&RECOMMEND[..], &["--command", "sh job.sh {vm_type} {nodes}"]].concat();
    let whole = by_command.json(&words);
    assert!(whole["stop"].is_object() && whole["next"].is_null(), "{whole:#}");
    let mut reply = by_hand.json(&RECOMMEND);
    for run in whole["runs"].as_array().unwrap() {
        assert_eq!(reply["next"]["vm_type"], run["vm_type"]);
        assert_eq!(reply["next"]["nodes"], run["nodes"]);
        let (nodes, time) = (run["nodes"].to_string(), run["elapsed_s"].to_string());
        let name = run["vm_type"].as_str().unwrap();
        let told =
            ["cloud", "tell", "job.json", "--vm-type", name, "--nodes", &nodes, "--time", &time];
        by_hand.json(&[&told[..], &["--json"]].concat());
        // Another process reads the file again.
        reply = by_hand.json(&RECOMMEND);
    }
    assert_eq!(reply["best"], whole["best"]);
    assert_eq!(reply["stop"], whole["stop"]);
}

#[test]
fn what_ran_is_kept_and_never_proposed_again() {
    let lab = Lab::new();
    example(&lab);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let words =
            [&RECOMMEND[..], &["--command", "sh job.sh {vm_type} {nodes}", "--max-runs", "1"]];
        let reply = lab.json(&words.concat());
        let runs = reply["runs"].as_array().unwrap().clone();
        assert_eq!(runs[..runs.len() - 1], seen[..]);
        let last = &runs[runs.len() - 1];
        let same = |own: &Value| own["vm_type"] == last["vm_type"] && own["nodes"] == last["nodes"];
        assert!(!seen.iter().any(same), "{last}");
        seen = runs;
    }
    let told = ["cloud", "tell", "job.json", "--vm-type", seen[0]["vm_type"].as_str().unwrap()];
    let nodes = seen[0]["nodes"].to_string();
    let end = lab.expect(2, &[&told[..], &["--nodes", &nodes, "--time", "5"]].concat());
    end.says(&["was told before"]);
}

#[test]
fn a_study_says_which_machines_and_what_runs_on_them() {
    let lab = Lab::new();
    example(&lab);
    let words = ["cloud", "recommend", "s.json", "--catalog", "aws-us-east-1-2017.csv"];
    let by_study = lab.json(&[&words[..], &["--study", "study.toml", "--json"]].concat());
    assert_eq!(by_study["candidates"], 18);
    assert!(by_study["stop"].is_object(), "{by_study:#}");
    let count = by_study["runs"].as_array().unwrap().len();
    assert!(lab.path(&format!("s.json.runs/{count:05}")).is_dir());
    let unknown = lab.read("study.toml").replace("r4.large", "z9.large");
    lab.write("unknown.toml", unknown);
    let other = ["cloud", "recommend", "o.json", "--study", "unknown.toml"];
    lab.expect(2, &other).says(&["is not in the catalogue"]);
}

#[test]
fn a_job_that_cannot_start_is_not_tried_everywhere() {
    let lab = Lab::new();
    example(&lab);
    let words = [&RECOMMEND[..7], &["--command", "nosuchprogram {vm_type} {nodes}"]].concat();
    assert!(lab.expect(1, &words).stdout.contains("all 3 runs failed"));
    // Whoever has looked goes on.
    assert!(lab.expect(1, &words).stdout.contains("all 6 runs failed"));
    let none = [&RECOMMEND[..7], &["--command", "sh job.sh {vm_type}"]].concat();
    lab.expect(2, &none).says(&["does not use {nodes}"]);
}

#[test]
fn a_failed_run_is_paid_for_and_never_the_best() {
    let lab = Lab::new();
    example(&lab);
    lab.json(&RECOMMEND);
    let told = ["cloud", "tell", "job.json", "--vm-type", "c4.large", "--nodes", "4"];
    let reply = lab.json(&[&told[..], &["--time", "1h", "--failed", "--json"]].concat());
    assert!(reply["best"].is_null() && reply["next"].is_object(), "{reply:#}");
    assert!((reply["spent_usd"].as_f64().unwrap() - 0.4).abs() < 1e-9);
}

#[test]
fn a_time_limit_rules_out_what_is_cheap_and_slow() {
    let lab = Lab::new();
    example(&lab);
    let words =
        [&RECOMMEND[..], &["--max-time", "10m", "--command", "sh job.sh {vm_type} {nodes}"]];
    let reply = lab.json(&words.concat());
    assert!(reply["best"]["elapsed_s"].as_f64().unwrap() <= 600.0, "{reply:#}");
}

#[test]
fn faults_are_told_with_what_to_do() {
    let lab = Lab::new();
    example(&lab);
    let none = ["cloud", "tell", "job.json", "--vm-type", "c4.large", "--time", "5"];
    lab.expect(2, &none).says(&["job.json is not there", "cloud recommend"]);
    lab.json(&RECOMMEND);
    let foreign = ["cloud", "tell", "job.json", "--vm-type", "z9.huge", "--time", "5"];
    lab.expect(2, &foreign).says(&["1 x z9.huge is not among the candidates", "c4.large"]);
    let timeless = ["cloud", "tell", "job.json", "--vm-type", "c4.large"];
    lab.expect(2, &timeless).says(&["needs its --time"]);
    let method = ["cloud", "replay", "--runs", "runs.csv", "--method", "gradient"];
    lab.expect(2, &method).says(&["no method is called `gradient`", "cherrypick"]);
    let workload = ["cloud", "replay", "--runs", "runs.csv", "--workload", "none"];
    lab.expect(2, &workload).says(&["runs.csv", "no workload `none`"]);
    lab.write("other.json", "{}");
    lab.expect(2, &["cloud", "recommend", "other.json"]).says(&["other.json", "missing field"]);
}

#[test]
fn a_replay_keeps_its_contract_and_repeats_itself() {
    let lab = Lab::new();
    example(&lab);
    let words = [
        "cloud",
        "replay",
        "--runs",
        "runs.csv",
        "--history",
        "runs.csv",
        "--objective",
        "cost",
        "--method",
        "cherrypick",
        "--seeds",
        "2",
        "--workload",
        "sort-1",
        "--json",
    ];
    let reply = lab.json(&words);
    assert_eq!(reply, lab.json(&words));
    let results = reply["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for own in results {
        let (best, optimum) = (own["best"].as_f64().unwrap(), own["optimum"].as_f64().unwrap());
        assert!((own["ratio"].as_f64().unwrap() - best / optimum).abs() < 1e-12);
        let tried = own["tried"].as_array().unwrap();
        let stopped = own["stopped_after"].as_u64().unwrap() as usize;
        let before = tried[..stopped].iter().filter(|own| own["completed"] == true);
        let least = before.map(|own| own["objective"].as_f64().unwrap()).fold(f64::MAX, f64::min);
        assert_eq!(least, best);
    }
    let starts: Vec<&Value> = results.iter().map(|own| &own["tried"][0]).collect();
    assert_ne!(starts[0], starts[1], "start points vary by seed");
}

fn recorded() -> Option<PathBuf> {
    let named = std::env::var_os("TRAINWRIGHT_TEST_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = named.unwrap_or(beside).join("cloud");
    if folder.join("scout_single.csv").exists() {
        return Some(folder);
    }
    eprintln!("SKIPPED: {} has no scout_single.csv; set TRAINWRIGHT_TEST_DATA", folder.display());
    None
}

/// Runs to 5 % and ratio at the stop, at the median and the 90th percentile.
#[test]
fn our_method_keeps_within_its_bars_on_recorded_runs() {
    let Some(folder) = recorded() else { return };
    let bars = [
        ("single", "time", [2.0, 4.0], 1.05),
        ("single", "cost", [3.0, 5.0], 1.05),
        ("multi", "time", [5.0, 10.0], 1.10),
        ("multi", "cost", [7.0, 15.0], 1.10),
    ];
    for (setting, objective, runs, ratio) in bars {
        let file = folder.join(format!("scout_{setting}.csv"));
        let file = file.to_str().unwrap();
        let mut words = vec!["cloud", "replay", "--runs", file, "--history", file, "--objective"];
        words.extend([objective, "--json"]);
        if setting == "single" {
            words.push("--complete-only");
        }
        let reply = Lab::new().json(&words);
        let figure = |name: &str, which: &str| reply["summary"][name][which].as_f64().unwrap();
        let case = format!("{setting} {objective}: {:#}", reply["summary"]);
        assert!(figure("n_to_5pct", "median") <= runs[0], "{case}");
        assert!(figure("n_to_5pct", "p90") <= runs[1], "{case}");
        assert!(figure("ratio_at_stop", "p90") <= ratio, "{case}");
    }
}
