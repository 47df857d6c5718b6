//! Designs of every kind in study files: checked, run, augmented and analysed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::program::Lab;

const TWO_LEVEL: &str = "[factors.a]\nlevels = [1, 3]\n[factors.b]\nlevels = [10.0, 20.0]\n\
    [factors.c]\nlevels = [4, 16]\nscale = \"log2\"\n[factors.d]\nlevels = [0.5, 1.5]\n";

/// A study whose response is computed from its factors and the trial's number.
fn study(factors: &str, design: &str, rest: &str) -> String {
    let script = r#"echo "::metric {\"y\": $(awk "BEGIN { print $a * $b + 3 * $c + $d + ($TRAINWRIGHT_TRIAL * 7919 % 13) / 10 }")}"; echo $TRAINWRIGHT_TRIAL >> ran"#;
    format!(
        "schema = 1\n[study]\nname = \"demo\"\nseed = 5\n{factors}[design]\n{design}\n\
         [run]\nenv.a = \"{{a}}\"\nenv.b = \"{{b}}\"\nenv.c = \"{{c}}\"\nenv.d = \"{{d}}\"\n\
         command = [\"sh\", \"-c\", '''{script}''']\n[metrics.y]\nobjective = \"minimize\"\n{rest}"
    )
}

fn lab(design: &str) -> Lab {
    Lab::with_study(&study(TWO_LEVEL, design, ""))
}

fn configurations(check: &Value) -> Vec<String> {
    let trials = check["trials"].as_array().unwrap();
    trials.iter().map(|trial| trial["configuration"].to_string()).collect()
}

#[track_caller]
fn check_text(design: &str, parts: &[&str]) {
    let end = lab(design).expect(0, &["check", "study.toml"]);
    for part in parts {
        assert!(end.stdout.contains(part), "no `{part}` in {}", end.stdout);
    }
}

#[test]
fn every_kind_of_design_is_previewed_with_power_and_confounding() {
    check_text("type = \"plackett-burman\"", &["8 trials", "power", "a contains parts of "]);
    check_text("type = \"plackett-burman\"\nfoldover = true", &["16 trials"]);
    check_text(
        "type = \"central-composite\"\nface = \"face-centred\"\ncenter_points = 3",
        &["27 trials", "axial points lie 1.0000", "a^2 and", "coefficients"],
    );
    check_text("type = \"box-behnken\"", &["27 trials", "can be fixed"]);
    check_text("type = \"latin-hypercube\"\nruns = 10", &["10 trials", "runs at its levels only"]);
    check_text("type = \"sobol\"\nruns = 12", &["12 trials", "not a power of two"]);
    check_text("type = \"d-optimal\"\nruns = 12", &["12 trials", "D-efficiency"]);
    check_text("type = \"mixed\"", &["8 trials", "orthogonal array L8"]);
    check_text(
        "type = \"fractional\"\nruns = 8\nfoldover = \"d\"",
        &["16 trials", "from resolution 4 to no aliases at all"],
    );
    check_text(
        "type = \"full\"\nblocks = 4\ncenter_points = 4",
        &["20 trials", "4 blocks a replicate", "cannot be told apart from them: "],
    );
}

#[test]
fn designs_that_cannot_be_are_refused_at_their_place() {
    let check = |factors: &str, design: &str, parts: &[&str]| {
        let end = Lab::with_study(&study(factors, design, "")).expect(2, &["check", "study.toml"]);
        end.says(parts);
    };
    let texts = TWO_LEVEL.replace("[0.5, 1.5]", "[\"x\", \"y\"]");
    check(
        &texts,
        "type = \"box-behnken\"",
        &["study.toml:13:10", "`d` has levels without numbers"],
    );
    let narrow = TWO_LEVEL.replace("[1, 3]", "[1, 2]");
    check(&narrow, "type = \"full\"\ncenter_points = 2", &["would run as 2", "decimal point"]);
    let inscribed = "type = \"central-composite\"\nface = \"inscribed\"";
    check(TWO_LEVEL, inscribed, &["study.toml:6:10", "both 1.5 and 2 would run as 2"]);
    check(TWO_LEVEL, "type = \"central-composite\"", &["at 0, though its levels are above 0"]);
    check(TWO_LEVEL, "type = \"full\"\nblocks = 3", &["3 blocks are not a power of two"]);
    check(TWO_LEVEL, "type = \"fractional\"\nruns = 8\nfoldover = true", &["the same rows again"]);
    check(TWO_LEVEL, "type = \"d-optimal\"\nruns = 4", &["too few for the 11 coefficients"]);
    check(
        TWO_LEVEL,
        "type = \"d-optimal\"\nruns = 8\nmodel = \"main + x\"",
        &["`x` in the terms", "study.toml:17:9"],
    );
    let most = u32::MAX;
    for centred in ["full", "plackett-burman", "central-composite", "box-behnken"] {
        let design = format!("type = \"{centred}\"\ncenter_points = {most}");
        check(TWO_LEVEL, &design, &["study.toml:16:17", "4294967295 centre points", "1000000"]);
    }
    let optimal = format!("type = \"d-optimal\"\nruns = {most}");
    check(TWO_LEVEL, &optimal, &["study.toml:16:8", "4294967295 runs", "1000000"]);
    let started = format!("type = \"d-optimal\"\nruns = 12\nstarts = {most}");
    check(TWO_LEVEL, &started, &["study.toml:17:10", "4294967295 starts", "use at most"]);
    let repeated = format!("type = \"full\"\nreplications = {most}");
    check(TWO_LEVEL, &repeated, &["study.toml:16:16", "use at most 62500 replications"]);
    check(TWO_LEVEL, "type = \"mixed\"\nruns = 9", &["9 runs have no orthogonal array", "use 8"]);
}

#[test]
fn constraints_drop_points_and_candidates() {
    let constraint = "[[constraint]]\nexpr = \"a + d < 4\"\n";
    for design in ["type = \"box-behnken\"", "type = \"d-optimal\"\nruns = 10\nmodel = \"main\""] {
        let lab = Lab::with_study(&study(TWO_LEVEL, design, constraint));
        let check = lab.json(&["check", "study.toml", "--json"]);
        let allowed = |own: &String| !own.contains("\"a\":3") || !own.contains("1.5");
        assert!(configurations(&check).iter().all(allowed));
        assert!(check["notes"].to_string().contains("dropped by constraint"));
    }
}

#[test]
fn a_response_surface_runs_and_is_analysed() {
    let lab = lab("type = \"central-composite\"\nface = \"face-centred\"\ncenter_points = 3");
    lab.expect(0, &["run", "study.toml"]);
    let analysis = lab.json(&["analyze", "study.toml", "--json"]);
    assert_eq!(analysis["n"], 27);
    assert!(analysis["effects"].to_string().contains("\"a:b\""));
    // Results measured elsewhere may have levels that only the design knows.
    lab.write("results.csv", lab.expect(0, &["export", "study.toml"]).stdout);
    lab.expect(0, &["import", "results.csv", "--study", "study.toml", "--store", "second.db"]);
}

#[test]
fn hard_to_change_factors_run_in_whole_plots() {
    let factors = TWO_LEVEL.replace("levels = [1, 3]", "levels = [1, 3]\nhard_to_change = true");
    let lab = Lab::with_study(&study(&factors, "type = \"full\"\nreplications = 2", ""));
    let text = lab.expect(0, &["check", "study.toml"]).stdout;
    assert!(text.contains("runs of the same `a` stay together, in 4 whole plots"), "{text}");
    lab.expect(0, &["run", "study.toml"]);
    let rows = lab.rows();
    let plots: Vec<u64> = rows.iter().map(|row| row["whole_plot"].as_u64().unwrap()).collect();
    assert_eq!(plots, (1..=4).flat_map(|plot| [plot; 8]).collect::<Vec<u64>>());
    for plot in rows.chunks(8) {
        assert!(plot.iter().all(|row| row["a"] == plot[0]["a"]));
    }
    lab.expect(0, &["analyze", "study.toml"]);
}

#[test]
fn blocks_reach_the_runs_and_the_analysis() {
    let lab = lab("type = \"full\"\nblocks = 2\ncenter_points = 2\nreplications = 2");
    lab.expect(0, &["run", "study.toml"]);
    let rows = lab.rows();
    let blocks: Vec<u64> = rows.iter().map(|row| row["block"].as_u64().unwrap()).collect();
    let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
    blocks.iter().for_each(|block| *sizes.entry(*block).or_default() += 1);
    assert_eq!(sizes, (1..=4).map(|block| (block, 9)).collect());
    assert_eq!(blocks.chunk_by(|a, b| a == b).count(), 4, "a block runs in one go");
    let analysis = lab.json(&["analyze", "study.toml", "--json"]);
    let first = &analysis["anova"][0]["rows"][0];
    assert_eq!((first["term"].as_str(), first["df"].as_u64()), (Some("block"), Some(3)));
}

/// Runs a design, changes it to a larger one and checks that only the new trials run.
#[track_caller]
fn check_augmented(before: &str, after: &str, added: usize) {
    let lab = lab(before);
    lab.expect(0, &["run", "study.toml"]);
    let old = lab.rows();
    lab.write("study.toml", study(TWO_LEVEL, after, ""));
    lab.expect(0, &["analyze", "study.toml"]);
    lab.expect(0, &["run", "study.toml"]);
    assert_eq!(lab.lines("ran").len(), old.len() + added, "{before} -> {after}");
    let rows = lab.rows();
    assert_eq!(rows.len(), old.len() + added);
    for (old, new) in old.iter().zip(&rows) {
        assert_eq!((&old["trial"], &old["y"], &old["a"]), (&new["trial"], &new["y"], &new["a"]));
    }
    let cells: BTreeSet<String> =
        rows.iter().map(|row| format!("{} {}", row["row"], row["replicate"])).collect();
    assert_eq!(cells.len(), rows.len(), "every trial has a cell of its own");
    let planned = configurations(&lab.json(&["check", "study.toml", "--json"]));
    assert_eq!(planned.len(), rows.len());
    let findings = lab.json(&["analyze", "study.toml", "--json"])["findings"].to_string();
    assert!(!findings.contains("missing-cells"), "{findings}");
    assert!(!findings.contains("not-in-design"), "{findings}");
}

#[test]
fn a_finished_design_may_grow() {
    let half = "type = \"fractional\"\nruns = 8";
    check_augmented(half, "type = \"fractional\"\nruns = 8\nfoldover = \"a\"", 8);
    check_augmented(half, "type = \"fractional\"\nruns = 8\ncenter_points = 3", 3);
    check_augmented(half, "type = \"full\"\nreplications = 2", 24);
    check_augmented(
        "type = \"full\"",
        "type = \"central-composite\"\nface = \"face-centred\"\ncenter_points = 2",
        10,
    );
}

#[test]
fn a_design_that_loses_trials_is_refused() {
    let lab = lab("type = \"full\"");
    lab.expect(0, &["run", "study.toml"]);
    lab.write("study.toml", study(TWO_LEVEL, "type = \"fractional\"\nruns = 8", ""));
    let end = lab.expect(2, &["run", "study.toml"]);
    end.says(&["has changed since its trials ran", "a design may grow", "no row left for"]);
    lab.write("study.toml", study(TWO_LEVEL, "type = \"full\"\nblocks = 2", ""));
    lab.expect(2, &["run", "study.toml"]).says(&["has changed since its trials ran"]);
}

#[test]
fn an_unreplicated_factorial_is_judged_by_lenths_method_unasked() {
    let lab = lab("type = \"full\"");
    lab.expect(0, &["run", "study.toml"]);
    let analysis = lab.json(&["analyze", "study.toml", "--json"]);
    assert!(analysis["lenth"]["pse"].as_f64().unwrap() > 0.0);
    assert!(analysis["lenth"]["active"].to_string().contains("\"c\""));
    assert_eq!(analysis["half_normal"].as_array().unwrap().len(), 10);
    let text = lab.expect(0, &["analyze", "study.toml"]).stdout;
    assert!(text.contains("Lenth"), "{text}");
}
