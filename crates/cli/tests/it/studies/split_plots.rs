//! A factor that is hard to change, from the study file to its test.

use serde_json::Value;

use crate::program::Lab;

/// Every setting of `a` made anew has an error of its own, every run another.
const STUDY: &str = r#"schema = 1
[study]
name = "split"
seed = 11
[factors.a]
levels = [1, 3]
hard_to_change = true
[factors.b]
levels = [10, 20]
[design]
type = "full"
replications = 3
[run]
env.a = "{a}"
env.b = "{b}"
env.r = "{replicate}"
command = ["sh", "-c", '''echo "::metric {\"y\": $(awk "BEGIN { print 5 + 2 * $a + 0.3 * $b + 3 * sin(7 * $a + 5 * $r) + 0.2 * sin(13 * $a + 3 * $b + 29 * $r) }")}"''']
[metrics.y]
objective = "minimize"
"#;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean of `y` over the rows that match.
fn mean_where(rows: &[Value], matches: impl Fn(&Value) -> bool) -> f64 {
    let chosen: Vec<f64> =
        rows.iter().filter(|row| matches(row)).map(|row| row["y"].as_f64().unwrap()).collect();
    mean(&chosen)
}

#[test]
fn a_hard_to_change_factor_is_tested_against_the_error_of_whole_plots() {
    let lab = Lab::with_study(STUDY);
    lab.expect(0, &["run", "study.toml"]);
    let rows = lab.rows();
    assert_eq!(rows.len(), 12);
    // The balanced split plot by hand: 2 levels of a, made 3 times each, 2 levels of b in each.
    let grand = mean_where(&rows, |_| true);
    let of_a = |a: &Value| mean_where(&rows, |row| row["a"] == *a);
    let of_b = |b: &Value| mean_where(&rows, |row| row["b"] == *b);
    let of_both = |a: &Value, b: &Value| mean_where(&rows, |row| row["a"] == *a && row["b"] == *b);
    let of_plot = |plot: &Value| mean_where(&rows, |row| row["whole_plot"] == *plot);
    let sum = |part: &dyn Fn(&Value) -> f64| rows.iter().map(|row| part(row).powi(2)).sum::<f64>();
    let ss_a = sum(&|row| of_a(&row["a"]) - grand);
    let ss_plots = sum(&|row| of_plot(&row["whole_plot"]) - of_a(&row["a"]));
    let ss_b = sum(&|row| of_b(&row["b"]) - grand);
    let ss_ab =
        sum(&|row| of_both(&row["a"], &row["b"]) - of_a(&row["a"]) - of_b(&row["b"]) + grand);
    let ss_runs = sum(&|row| {
        row["y"].as_f64().unwrap() - of_plot(&row["whole_plot"]) - of_both(&row["a"], &row["b"])
            + of_a(&row["a"])
    });
    let f_a = ss_a / (ss_plots / 4.0);
    let noise = ss_runs / 4.0;
    let expected = [("a", f_a), ("b", ss_b / noise), ("a:b", ss_ab / noise)];
    let analysis = lab.json(&["analyze", "study.toml", "--json"]);
    for table in analysis["anova"].as_array().unwrap() {
        for (term, f) in expected {
            let row = row_of(&table["rows"], term);
            let found = row["f"].as_f64().unwrap();
            assert!((found / f - 1.0).abs() < 1e-8, "{term}: {found} where {f} is expected");
        }
    }
    // The tail of t on 4 degrees of freedom has a closed form.
    let s = (f_a / (1.0 + f_a / 4.0)).sqrt();
    let p = row_of(&analysis["anova"][0]["rows"], "a")["p"].as_f64().unwrap();
    assert!((p - (1.0 - 0.75 * s * (1.0 - s * s / 12.0))).abs() < 1e-10, "{p}");
    let outer = row_of(&analysis["strata"][0]["rows"], "Residuals");
    assert_eq!(
        (&analysis["strata"][0]["stratum"], &outer["df"]),
        (&"whole plot".into(), &4.into())
    );
    assert!((outer["sum_sq"].as_f64().unwrap() / ss_plots - 1.0).abs() < 1e-8);
    // Against the error of single runs it would look far surer.
    assert!(ss_a / (ss_runs / 4.0) > 20.0 * f_a);
}

#[track_caller]
fn row_of<'a>(rows: &'a Value, term: &str) -> &'a Value {
    let mut rows = rows.as_array().unwrap().iter();
    rows.find(|row| row["term"] == term).unwrap_or_else(|| panic!("no line of {term}"))
}
