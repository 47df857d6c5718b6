//! Results measured elsewhere: `init --from`, `import`, `analyze`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::program::Lab;

/// 2 x 3 cells with three results each: y = 10 a + 5 for big, with a spread known by heart.
fn results() -> String {
    let mut csv = "learning rate,size,run,y\n".to_owned();
    for (a, row) in (1..).zip([0.1, 0.2]) {
        for (b, size) in ["small", "mid", "big"].iter().enumerate() {
            for (rep, noise) in (1..).zip([-0.25, 0.0, 0.25]) {
                let y = 10.0 * f64::from(a) + 5.0 * b as f64 + noise + 0.01 * f64::from(rep * a);
                writeln!(csv, "{row},{size},{rep},{y}").unwrap();
            }
        }
    }
    csv
}

#[test]
fn a_table_becomes_a_study_that_takes_it_and_is_analysed() {
    let lab = Lab::new();
    lab.write("results.csv", results());
    lab.expect(0, &["init", "my sweep.toml", "--from", "results.csv"]);
    let written = lab.read("my sweep.toml");
    assert!(written.contains("--column 'learning_rate=learning rate'"), "{written}");
    lab.expect(0, &["check", "my sweep.toml"]);
    let import = ["import", "results.csv", "--study", "my sweep.toml"];
    lab.expect(2, &import).says(&["learning_rate", "--column"]);
    let with_column = [import.as_slice(), &["--column", "learning_rate=learning rate"]].concat();
    let kept = lab.json(&[with_column.as_slice(), &["--json"]].concat());
    assert_eq!((&kept["schema"], &kept["kept"]), (&"trainwright/import/1".into(), &18.into()));
    assert!(kept["missing_rows"].as_array().unwrap().is_empty());
    lab.expect(2, &with_column).says(&["already has results"]);
    let analysis = lab.json(&["analyze", "my sweep.toml", "--json"]);
    assert_eq!(analysis["n"], 18);
    assert!(analysis["fit"]["r2"].as_f64().unwrap() > 0.99, "{}", analysis["fit"]);
    lab.expect(2, &["run", "my sweep.toml"]).says(&["no [job] and no command"]);
}

#[test]
fn a_table_gets_a_page_with_its_plots() {
    let lab = Lab::new();
    lab.write("results.csv", results());
    let words =
        ["analyze", "--data", "results.csv", "--formula", "y ~ size", "--report", "page.html"];
    lab.expect(0, &words);
    let page = lab.read("page.html");
    for part in ["results.csv", "y ~ size", "level-differences-1", "residuals-histogram", "Tukey"] {
        assert!(page.contains(part), "{part}");
    }
    lab.expect(3, &[&words[..6], &["no/such/page.html"]].concat()).says(&["no/such/page.html"]);
}

/// A study is made of the table, takes it, and has these factors.
#[track_caller]
fn check_short(csv: &str, factors: &[&str]) {
    let lab = Lab::new();
    lab.write("t.csv", csv);
    lab.expect(0, &["init", "study.toml", "--from", "t.csv"]);
    let kept = lab.json(&["import", "t.csv", "--study", "study.toml", "--json"]);
    assert_eq!(kept["kept"], csv.lines().count() - 1, "{csv}");
    assert!(kept["outside_design"].as_array().unwrap().is_empty(), "{csv}");
    let check = lab.json(&["check", "study.toml", "--json"]);
    assert_eq!(check["design"]["factors"], serde_json::json!(factors), "{csv}");
}

#[test]
fn a_short_table_becomes_a_study_too() {
    check_short("a,b,y\n1,x,3.5\n2,x,4.5\n1,z,5.5\n2,z,6.5\n", &["a", "b"]);
    check_short("lr,y\n0.1,3\n0.01,4\n0.001,5\n", &["lr"]);
    check_short("optimizer,seconds\nsgd,3\nadam,4\n", &["optimizer"]);
    check_short("a,y\n1,0.9\n2,0.9\n1,0.8\n2,0.7\n", &["a"]);
    let eight: String =
        (0..8).map(|i| format!("{},{},{},{}\n", i & 1, i >> 1 & 1, i >> 2, 10 * i + 3)).collect();
    check_short(&format!("a,b,c,y\n{eight}"), &["a", "b", "c"]);
}

#[test]
fn a_table_without_a_metric_is_refused() {
    let lab = Lab::new();
    for csv in ["a\n1\n2\n", "a,b\nx,y\nz,y\n", "a,b\n"] {
        lab.write("t.csv", csv);
        lab.expect(2, &["init", "study.toml", "--from", "t.csv"]).says(&["t.csv", "metric"]);
    }
}

#[test]
fn init_never_overwrites() {
    let lab = Lab::new();
    lab.write("study.toml", "mine");
    lab.expect(2, &["init"]).says(&["study.toml", "exists already"]);
    assert_eq!(lab.read("study.toml"), "mine");
}

const DESIGNED: &str = "schema = 1\n[study]\nname = \"paper\"\n[factors.a]\nlevels = [1, 2]\n\
    [factors.b]\nlevels = [\"x\", \"y\"]\n[design]\ntype = \"full\"\nreplications = 2\n[metrics.y]\n\
    unit = \"points\"\nobjective = \"maximize\"\n";

/// The table is refused with these words, and nothing of it is kept.
#[track_caller]
fn check_refused(csv: &str, words: &[&str]) {
    let lab = Lab::with_study(DESIGNED);
    lab.write("t.csv", csv);
    lab.expect(2, &["import", "t.csv", "--study", "study.toml"]).says(words);
    lab.write("t.csv", "a,b,y\n1,x,1\n");
    lab.expect(0, &["import", "t.csv", "--study", "study.toml"]);
}

#[test]
fn a_faulty_table_is_refused_with_its_line() {
    check_refused("a,b,y\n1,x,1\n3,x,2\n", &["t.csv", "line 3", "`3` is no level of `a`", "1, 2"]);
    check_refused("a,b,y\n1,x,fast\n", &["line 2", "`fast`", "`y`"]);
    check_refused("a,b,y\n1,x,NaN\n", &["line 2", "NaN"]);
    check_refused("a,y\n1,2\n", &["factor `b`", "--column b=COLUMN"]);
    check_refused("a,b\n1,x\n", &["metric `y`", "--column y=COLUMN"]);
    check_refused("a,b,y\n1,x,1\n1,x,2\n1,x,3\n", &["line 4", "replications"]);
    check_refused("a,b,y\n", &["no rows"]);
    check_refused("a,b,y\n1,x\n", &["t.csv"]);
}

#[test]
fn what_is_missing_from_a_table_is_told() {
    let lab = Lab::with_study(DESIGNED);
    lab.write("t.csv", "a,b,y\n1,x,1\n1,x,2\n2,x,3\n2,y,\n");
    let kept = lab.json(&["import", "t.csv", "--study", "study.toml", "--json"]);
    assert_eq!(kept["kept"], 3);
    assert_eq!(kept["lines_without_response"], serde_json::json!([5]));
    assert_eq!(kept["missing_rows"].as_array().unwrap().len(), 2);
    assert_eq!(kept["short_rows"].as_array().unwrap().len(), 1);
}

#[test]
fn an_analysis_has_the_fields_of_the_contract() {
    let lab = Lab::new();
    lab.write("results.csv", results().replace("learning rate", "learning.rate"));
    let formula = "y ~ learning.rate*size";
    let words =
        ["analyze", "--data", "results.csv", "--formula", formula, "--type", "1,3", "--json"];
    let analysis = lab.json(&words);
    assert_eq!(analysis["schema"], "trainwright/analyze/1");
    let has = |value: &Value, names: &str| {
        for name in names.split(' ') {
            assert!(value.get(name).is_some(), "no `{name}` in {value}");
        }
    };
    has(&analysis, "n fit anova checks box_cox findings");
    has(&analysis["fit"], "r2 adj_r2 sigma f p df_residual log_likelihood aic bic coefficients");
    has(&analysis["fit"]["coefficients"][1], "name estimate std_error t p ci_low ci_high vif");
    has(&analysis["checks"][0], "name statistic p holds verdict");
    has(&analysis["box_cox"], "lambda low high");
    has(&analysis["findings"][0], "id severity text");
    let types: Vec<&Value> =
        analysis["anova"].as_array().unwrap().iter().map(|table| &table["type"]).collect();
    assert_eq!(types.len(), 2, "{types:?}");
    let rows = |table: usize| analysis["anova"][table]["rows"].as_array().unwrap();
    let terms = |table: usize| -> Vec<&str> {
        rows(table).iter().map(|row| row["term"].as_str().unwrap()).collect()
    };
    assert_eq!(terms(0), ["learning.rate", "size", "learning.rate:size", "Residuals"]);
    assert_eq!(terms(1)[0], "(Intercept)");
    has(&rows(0)[0], "term df sum_sq mean_sq f p percent");
    lab.expect(2, &["analyze", "--data", "results.csv", "--formula", "y ~ nope"]).says(&["nope"]);
    lab.expect(2, &["analyze", "--data", "results.csv", "--formula", formula, "--type", "4"])
        .says(&["4"]);
}
