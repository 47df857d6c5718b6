//! `stats`: every test against the reference vectors of the crate `stats`, and what is refused.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::program::Lab;

fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../stats/tests/data")
}

/// The cases of a file of vectors.
fn cases(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(vectors().join(name)).unwrap();
    serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone()
}

fn csv(case: &Value) -> String {
    vectors().join(case["data"].as_str().unwrap()).display().to_string()
}

/// A table of one column.
fn column(name: &str, values: &Value) -> String {
    let lines = values.as_array().unwrap().iter().map(Value::to_string);
    std::iter::once(name.to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Asks for a test in JSON.
#[track_caller]
fn ask(lab: &Lab, words: &str, options: &[&str]) -> Value {
    let words: Vec<&str> = words.split(' ').collect();
    let found = lab.json(&[&["stats"], words.as_slice(), options, &["--json"]].concat());
    assert_eq!(
        (&found["schema"], &found["test"]),
        (&"trainwright/stats/1".into(), &words[0].into())
    );
    found
}

/// Fails unless two numbers agree to a share of the second.
#[track_caller]
fn close(found: &Value, expected: &Value, tolerance: f64) {
    let (Some(found), Some(expected)) = (found.as_f64(), expected.as_f64()) else {
        panic!("{found} where {expected} is expected");
    };
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} {expected}");
}

#[test]
fn tests_of_groups_agree_with_r() {
    let lab = Lab::new();
    // Thirty cells have 435 pairs, which the crate `stats` tests alone.
    for case in cases("oneway.json").iter().filter(|case| case["k"].as_u64() < Some(30)) {
        let file = csv(case);
        let of = |test: &str| ask(&lab, test, &["--data", &file, "--column", "y", "--by", "g"]);
        for (test, key, statistic, tolerance) in [
            ("bartlett", "bartlett", "stat", 1e-9),
            ("levene", "levene_mean", "F", 1e-9),
            ("brown-forsythe", "brown_forsythe", "F", 1e-9),
            ("fligner", "fligner", "stat", 1e-5),
            ("kruskal", "kruskal", "H", 1e-9),
            ("welch", "welch", "F", 1e-9),
            ("anova", "anova", "F", 1e-9),
        ] {
            let (found, expected) = (of(test), &case[key]);
            close(&found["statistic"], &expected[statistic], tolerance);
            close(&found["p"], &expected["p"], tolerance);
            for df in ["df", "df1", "df2"].into_iter().filter(|df| expected[df].is_number()) {
                close(&found[df], &expected[df], 1e-9);
            }
            assert_eq!(
                (&found["n"], &found["left_out_lines"]),
                (&case["n"], &Value::Array(vec![]))
            );
        }
        let found = of("tukey");
        let (pairs, expected) = (found["pairs"].as_array().unwrap(), case["tukey"].as_array());
        assert_eq!(pairs.len(), expected.unwrap().len());
        for (pair, expected) in pairs.iter().zip(expected.unwrap()) {
            let name = [&pair["a"], &pair["b"]].map(|name| name.as_str().unwrap()).join("-");
            assert_eq!(Value::from(name), expected["pair"]);
            close(&pair["diff"], &expected["diff"], 1e-9);
            close(&pair["low"], &expected["lo"], 1e-6);
            close(&pair["high"], &expected["hi"], 1e-6);
            let gap = pair["p"].as_f64().unwrap() - expected["p_adj"].as_f64().unwrap();
            assert!(gap.abs() < 1e-6, "{pair}");
        }
    }
}

#[test]
fn tests_of_normality_agree_with_r_and_scipy() {
    let lab = Lab::new();
    for case in cases("normality.json").iter().filter(|case| case["ad_A2"].is_number()) {
        lab.write("x.csv", column("x", &case["x"]));
        let of = |test: &str| ask(&lab, test, &["--data", "x.csv", "--column", "x"]);
        let found = of("shapiro-wilk");
        close(&found["statistic"], &case["shapiro_W"], 1e-7);
        close(&found["p"], &case["shapiro_p"], 1e-5);
        let found = of("anderson-darling");
        close(&found["statistic"], &case["ad_A2"], 1e-9);
        close(&found["p"], &case["ad_p"], 1e-6);
        let found = of("lilliefors");
        close(&found["statistic"], &case["lilliefors_D"], 1e-9);
        close(&found["p"], &case["lilliefors_p"], 1e-5);
        let found = of("jarque-bera");
        close(&found["statistic"], &case["jarque_bera"], 1e-9);
        close(&found["p"], &case["jarque_bera_p"], 1e-9);
        assert!(of("dagostino")["skewness"].is_number());
    }
}

#[test]
fn correlations_agree_with_r() {
    let lab = Lab::new();
    for case in &cases("correlation.json") {
        let file = csv(case);
        let of = |test: &str| ask(&lab, test, &["--data", &file, "--column", "x", "--with", "y"]);
        let found = of("pearson");
        for (field, key) in [
            ("statistic", "pearson_r"),
            ("t", "pearson_t"),
            ("p", "pearson_p"),
            ("ci_low", "ci95_lo"),
            ("ci_high", "ci95_hi"),
        ] {
            close(&found[field], &case[key], 1e-9);
        }
        let found = of("spearman");
        close(&found["statistic"], &case["spearman_rho"], 1e-9);
        if found["p_method"] == "t approximation" {
            close(&found["p"], &case["spearman_p_t_approx"], 1e-9);
        }
        let found = of("kendall");
        close(&found["statistic"], &case["kendall_tau_b"], 1e-9);
        if found["p_method"] == "normal approximation" {
            close(&found["p"], &case["kendall_p_normal_ties"], 1e-9);
        }
        assert!(of("paired-t")["ci_low"].is_number() && of("wilcoxon")["p_method"].is_string());
    }
}

#[test]
fn powers_adjustments_and_margins_agree_with_the_vectors() {
    let lab = Lab::new();
    for case in cases("boxcox.json").iter().filter(|case| case["id"] != "warpbreaks") {
        let (file, formula) = (csv(case), case["formula"].as_str().unwrap());
        let found = ask(&lab, "box-cox", &["--data", &file, "--formula", formula]);
        for (field, key) in [("lambda", "lambda_mle"), ("low", "ci95_lo"), ("high", "ci95_hi")] {
            let gap = found[field].as_f64().unwrap() - case[key].as_f64().unwrap();
            assert!(gap.abs() < 1e-5, "{formula}: {found}");
        }
        if let Some(response) = formula.strip_suffix(" ~ 1") {
            assert_eq!(found, ask(&lab, "box-cox", &["--data", &file, "--column", response]));
        }
    }
    for case in &cases("padjust.json") {
        lab.write("p.csv", column("p", &case["p"]));
        for method in ["bonferroni", "holm", "hochberg", "hommel", "bh", "by"] {
            let options = ["--data", "p.csv", "--column", "p", "--method", method];
            let found = ask(&lab, "p-adjust", &options);
            let (found, expected) = (found["adjusted"].as_array(), case[method].as_array());
            for (found, expected) in found.unwrap().iter().zip(expected.unwrap()) {
                close(found, expected, 1e-12);
            }
        }
    }
    for case in &cases("effects_lenth.json") {
        lab.write("y.csv", column("y", &case["y"]));
        let found = ask(&lab, "lenth", &["--data", "y.csv", "--column", "y"]);
        for (name, effect) in case["effects"].as_object().unwrap() {
            let gap = found["effects"][name].as_f64().unwrap() - effect.as_f64().unwrap();
            assert!(gap.abs() < 1e-12, "{name}: {found}");
        }
        for margin in ["pse", "me", "sme"] {
            close(&found[margin], &case["lenth"][margin], 1e-9);
        }
    }
}

const TABLE: &str = "y,g,x\n1,a,2\n2,a,3.5\n4,b,4\n,b,5\n7,b,6\n";

#[test]
fn two_groups_are_compared_and_empty_cells_are_told() {
    let lab = Lab::new();
    lab.write("t.csv", TABLE);
    let options = ["--data", "t.csv", "--column", "y", "--by", "g"];
    let found = ask(&lab, "mann-whitney", &options);
    // All of b is larger: one order of 6, either way.
    assert_eq!((&found["statistic"], &found["p_method"]), (&0.0.into(), &"exact".into()));
    close(&found["p"], &(1.0 / 3.0).into(), 1e-12);
    assert_eq!((&found["n"], &found["left_out_lines"]), (&4.into(), &serde_json::json!([5])));
    let found = ask(&lab, "welch-t", &options);
    assert_eq!(found["difference"], -4.0);
    let text = lab.expect(0, &[&["stats", "kruskal"], options.as_slice()].concat()).stdout;
    for words in
        ["if all groups had the same distribution of `y`", "1 row has no value", "left out"]
    {
        assert!(text.contains(words), "{text}");
    }
}

/// The request is refused with these words.
#[track_caller]
fn refused(table: &str, words: &str, says: &[&str]) {
    let lab = Lab::new();
    lab.write("t.csv", table);
    let words: Vec<&str> = words.split(' ').collect();
    lab.expect(2, &[&["stats"], words.as_slice(), &["--data", "t.csv"]].concat()).says(says);
}

#[test]
fn what_cannot_be_tested_is_refused_with_its_place() {
    refused(TABLE, "shapiro-wilk --column g", &["t.csv", "line 2, column `g`", "`a`"]);
    refused(TABLE, "shapiro-wilk --column z", &["t.csv", "no column `z`", "`y`, `g`, `x`"]);
    refused(TABLE, "anderson-darling --column x", &["column `x`", "at least 8", "has 5"]);
    refused(TABLE, "shapiro-wilk --column y --by g", &["makes no use of --by"]);
    refused(TABLE, "kruskal --column y", &["needs --by NAME"]);
    refused(TABLE, "pearson --column y", &["needs --with NAME"]);
    refused(TABLE, "box-cox", &["needs --column NAME", "--formula"]);
    refused(TABLE, "box-cox --formula y~nope", &["nope"]);
    refused(TABLE, "lenth --column y", &["line 5, column `y`", "empty"]);
    refused(TABLE, "lenth --column x", &["is 5", "powers of two"]);
    refused(TABLE, "p-adjust --column x", &["line 2, column `x`", "2 is no p-value"]);
    refused(TABLE, "welch-t --column x --by y", &["line 5, column `y`", "no group"]);
    refused(
        "y,g\n1,a\n1,a\n2,b\n3,b\n",
        "welch --column y --by g",
        &["group `a`", "zero variance"],
    );
    refused("y,g\n1,a\n2,b\n3,b\n", "bartlett --column y --by g", &["group `a`", "at least 2"]);
    refused("y,g\n1,a\n2,b\n3,c\n", "welch-t --column y --by g", &["two groups", "names 3"]);
    refused("y,g\n1,a\nx\n", "welch-t --column y --by g", &["t.csv", "line: 3"]);
    refused("y\n1\n-2\n3\n", "box-cox --column y", &["line 3 holds -2"]);
    refused(TABLE, "student --column y", &["student", "shapiro-wilk"]);
    Lab::new()
        .expect(2, &["stats", "anova", "--data", "no.csv", "--column", "y", "--by", "g"])
        .says(&["no.csv"]);
}
