//! `compare`, `scaling`, `overhead`, `correlate`, `surface` and `findings` through the program.

use std::path::PathBuf;

use serde_json::Value;

use crate::program::Lab;

/// A file of test data of the crate `analysis`.
fn data(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/data");
    folder.join(name).display().to_string()
}

fn ids(found: &Value) -> Vec<&str> {
    let findings = found["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["id"].as_str().unwrap()).collect()
}

const CORES: &str = "cores,seed,time\n1,1,9.1\n1,2,10.4\n1,3,10.2\n1,4,10.9\n1,5,9.4\n2,1,10.1\n\
    2,2,11.9\n2,3,9.9\n2,4,12.0\n2,5,11.25\n";

#[test]
fn levels_are_compared_with_a_baseline_in_words() {
    let lab = Lab::new();
    lab.write("runs.csv", CORES);
    let words =
        ["compare", "--data", "runs.csv", "--column", "time", "--by", "cores", "--baseline", "1"];
    let text = lab.expect(0, &words).stdout;
    let sentence =
        "2 cores: 110.3 % of 1 core, 95 % interval 98 to 124 %: no evidence of a difference";
    assert!(text.contains(sentence) && text.contains("Holm"), "{text}");
    let found = lab.json(&[&words[..], &["--json"]].concat());
    assert_eq!(found["schema"], "trainwright/compare/1");
    let level = &found["comparisons"][0]["levels"][0];
    assert_eq!(
        (&level["verdict"], &level["level"], &level["n"]),
        (&"no-evidence".into(), &2.into(), &5.into())
    );
    let paired = lab.json(&[&words[..], &["--paired", "seed", "--json"]].concat());
    assert_eq!(paired["comparisons"][0]["levels"][0]["verdict"], "higher");
    lab.expect(2, &["compare", "--data", "runs.csv", "--column", "time", "--by", "nodes"]).says(&[
        "runs.csv",
        "no column `nodes`",
        "`cores`",
    ]);
    lab.expect(2, &[&words[..7], &["--baseline", "3"]].concat()).says(&["`3` is no level", "1, 2"]);
    lab.expect(2, &["compare", "--data", "runs.csv", "--column", "time"]).says(&["--by"]);
    lab.expect(2, &["compare"]).says(&["STUDY"]);
}

#[test]
fn a_single_value_a_level_is_told_to_mean_nothing() {
    let file = data("reports/c_cores.csv");
    let words = ["compare", "--data", &file, "--column", "time_percent", "--by", "cores"];
    let text = Lab::new().expect(0, &words).stdout;
    assert!(text.contains("no interval exists, and nothing follows"), "{text}");
    assert!(text.contains("warning  there is one value of time_percent a level"), "{text}");
}

const STUDY: &str = "schema = 1\n[study]\nname = \"one\"\n[factors.threads]\nlevels = [1, 2]\n\
    [factors.layers]\nlevels = [1, 4]\n[design]\ntype = \"one-factor\"\nreplications = 3\n\
    [metrics.time]\nunit = \"s\"\nobjective = \"minimize\"\n[analysis]\nresponse = \"time\"\n\
    terms = \"main\"\n";

#[test]
fn a_study_is_compared_and_its_analysis_says_the_same() {
    let lab = Lab::with_study(STUDY);
    let mut csv = "threads,layers,time\n".to_owned();
    for (cell, times) in
        [("1,1", [8.0, 8.2, 8.1]), ("2,1", [5.0, 5.1, 4.9]), ("1,4", [9.0, 7.4, 8.2])]
    {
        times.iter().for_each(|time| csv.push_str(&format!("{cell},{time}\n")));
    }
    lab.write("t.csv", csv);
    lab.expect(0, &["import", "t.csv", "--study", "study.toml"]);
    let text = lab.expect(0, &["compare", "study.toml"]).stdout;
    assert!(text.contains("2 threads: 61.7 % of 1 thread"), "{text}");
    assert!(text.contains("4 layers: 101.2 % of 1 layer"), "{text}");
    let analysis = lab.json(&["analyze", "study.toml", "--json"]);
    assert_eq!(analysis["comparisons"].as_array().unwrap().len(), 2);
    assert!(
        lab.expect(0, &["analyze", "study.toml"]).stdout.contains("2 threads: 61.7 % of 1 thread")
    );
    lab.expect(2, &["surface", "study.toml"])
        .says(&["do not support a quadratic surface", "3 levels"]);
    lab.expect(2, &["compare", "study.toml", "--by", "nodes"]).says(&["no column `nodes`"]);
}

#[test]
fn scaling_and_overhead_are_fitted_and_predict() {
    let lab = Lab::new();
    let file = data("scaling/strong.csv");
    let words = [
        "scaling",
        "--data",
        &file,
        "--column",
        "time",
        "--workers",
        "nodes",
        "--predict",
        "24,64",
    ];
    let found = lab.json(&[&words[..], &["--json"]].concat());
    assert_eq!(
        (&found["schema"], ids(&found)),
        (&"trainwright/scaling/1".into(), vec!["extrapolation", "low-efficiency"])
    );
    let laws: Vec<&Value> =
        found["fits"].as_array().unwrap().iter().map(|fit| &fit["law"]).collect();
    assert_eq!(laws, ["amdahl", "gustafson", "gunther", "ernest"]);
    let predicted = &found["fits"][2]["predictions"][1];
    assert!(predicted["low"].as_f64() < predicted["time"].as_f64(), "{predicted}");
    let text = lab.expect(0, &words).stdout;
    for part in [
        "speed-up",
        "Amdahl: does not describe",
        "Predicted",
        "laws that agree on the measurements part",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let file = data("reports/b_strategies.csv");
    let words = [
        "overhead",
        "--data",
        &file,
        "--column",
        "time_s",
        "--steps",
        "steps",
        "--by",
        "strategy",
        "--samples",
        "176160",
        "--unit",
        "s",
    ];
    let found = lab.json(&[&words[..], &["--json"]].concat());
    assert_eq!(found["lines"].as_array().unwrap().len(), 4);
    let text = lab.expect(0, &words).stdout;
    assert!(text.contains("131 ms a step and 11.1 s beside the steps"), "{text}");
    lab.expect(2, &["overhead", "--data", &file, "--column", "strategy", "--steps", "steps"])
        .says(&["b_strategies.csv", "`strategy` must hold numbers"]);
}

#[test]
fn correlations_and_surfaces_are_told_in_words() {
    let lab = Lab::new();
    let file = data("reports/b_strategies.csv");
    let words = ["correlate", "--data", &file, "--column", "time_s"];
    let found = lab.json(&[&words[..], &["--json"]].concat());
    assert_eq!(found["rows"][1]["name"], "steps");
    assert!(lab.expect(0, &words).stdout.contains("samples is left out"));
    let file = data("surfaces/myers_yield.csv");
    let words = [
        "surface",
        "--data",
        &file,
        "--column",
        "yield",
        "--factors",
        "time,temperature",
        "--objective",
        "maximize",
    ];
    let found = lab.json(&[&words[..], &["--json"]].concat());
    assert_eq!(
        (&found["schema"], &found["kind"]),
        (&"trainwright/surface/1".into(), &"maximum".into())
    );
    assert_eq!(found["contours"][0]["heights"].as_array().unwrap().len(), 21);
    assert!(lab.expect(0, &words).stdout.contains("is a maximum, 80.2 (79.9 to 80.5)"));
}

#[test]
fn findings_explain_themselves() {
    let lab = Lab::new();
    let all = lab.json(&["findings", "--json"]);
    assert_eq!(all["schema"], "trainwright/findings/1");
    assert!(
        all["groups"].as_array().unwrap().iter().all(|group| group["entries"][0]["id"].is_string())
    );
    let text = lab.expect(0, &["findings", "epoch-is-not-a-pass"]).stdout;
    assert!(
        text.contains("serious") && text.contains("What to do: ") && text.contains("Read: "),
        "{text}"
    );
    lab.expect(2, &["findings", "nothing-such"]).says(&["no finding `nothing-such`"]);
    assert!(lab.expect(0, &["findings"]).stdout.contains("no-replication"));
}
