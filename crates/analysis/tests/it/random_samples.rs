//! Every test by name, and tables of variance, on thirty random samples (with and without ties, of
//! 5 to 30 values, balanced or not) against R; `tests/data/random_samples.R` has the calls.

use serde_json::Value;
use trainwright_analysis::{
    AnovaType, Formula, StatsTest, Table, TableOptions, TermOrder, TestQuestion, analyze_table,
};

use crate::support::{json, rows};

/// Relative gap that is allowed, and what counts as zero beside sums of rounded squares.
const TOLERANCE: f64 = 1e-6;
const ZERO: f64 = 1e-9;

#[track_caller]
fn near(what: &str, found: f64, expected: f64) {
    let gap = (found - expected).abs();
    assert!(gap <= TOLERANCE * expected.abs().max(ZERO), "{what}: {found}, not {expected}");
}

fn check_test(table: &Table, expected: &Value) {
    let name = expected["test"].as_str().unwrap();
    let key = expected["key"].as_str().unwrap();
    let question = TestQuestion {
        test: name.parse::<StatsTest>().unwrap(),
        column: Some("y"),
        by: Some(key).filter(|key| ["g", "h"].contains(key)),
        with: Some(key).filter(|key| *key == "x"),
        formula: None,
        method: None,
        statistic: None,
        ratio: false,
        seed: None,
    };
    let found = question.answer(table).unwrap().fields;
    for (field, value) in expected.as_object().unwrap() {
        let Some(value) = value.as_f64() else { continue };
        // R has only the approximation of Kruskal and Wallis; ours is exact for tiny groups.
        let own = match field.as_str() {
            "p_chi" if found["p_method"] == "exact" => continue,
            "p_chi" => "p",
            own => own,
        };
        near(&format!("{name} by {key}, {own}"), found[own].as_f64().unwrap(), value);
    }
}

fn check_tables(table: &Table, expected: &Value) {
    let text = expected["key"].as_str().unwrap();
    let formula = Formula::parse(text, TermOrder::Formula).unwrap();
    let found = analyze_table(table, &formula, &TableOptions::default()).unwrap();
    for (kind, number) in [(AnovaType::One, 1), (AnovaType::Two, 2), (AnovaType::Three, 3)] {
        let squares = expected[format!("ss{number}")].as_array().unwrap();
        let tails = expected[format!("p{number}")].as_array().unwrap();
        let terms = rows(&found, kind);
        let terms = terms.iter().filter(|row| !["(Intercept)", "Residuals"].contains(&&*row.term));
        for ((row, square), p) in terms.zip(squares).zip(tails) {
            let what = format!("{text}, type {number}, {}", row.term);
            near(&what, row.sum_sq.unwrap(), square.as_f64().unwrap());
            near(&what, row.p.unwrap(), p.as_f64().unwrap());
        }
    }
}

#[test]
fn every_test_agrees_with_r_on_random_samples() {
    let samples = json("random_samples.json");
    let mut compared = 0;
    for sample in samples.as_array().unwrap() {
        let table = Table::from_csv(sample["csv"].as_str().unwrap().as_bytes(), &[]).unwrap();
        for expected in sample["results"].as_array().unwrap() {
            match expected["test"].as_str().unwrap() {
                "anova123" => check_tables(&table, expected),
                _ => check_test(&table, expected),
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 499);
}

fn answer(table: &Table, test: &str, formula: Option<&str>) -> Value {
    let question = TestQuestion {
        test: test.parse::<StatsTest>().unwrap(),
        column: formula.is_none().then_some("y"),
        by: None,
        with: None,
        formula,
        method: None,
        statistic: None,
        ratio: false,
        seed: None,
    };
    Value::Object(question.answer(table).unwrap().fields)
}

/// `tests/data/r_samples.R` has the calls.
#[test]
fn normality_powers_margins_and_level_differences_agree_with_r() {
    let number = |value: &Value| value.as_f64().unwrap();
    let mut compared = 0;
    for sample in json("r_samples.json").as_array().unwrap() {
        let table = Table::from_csv(sample["csv"].as_str().unwrap().as_bytes(), &[]).unwrap();
        compared += 1;
        if sample["lenth"].is_object() {
            let found = answer(&table, "lenth", None);
            for (name, value) in sample["lenth"].as_object().unwrap() {
                near(name, number(&found[name.as_str()]), number(value));
            }
            for (name, value) in sample["effects"].as_object().unwrap() {
                near(name, number(&found["effects"][name.as_str()]), number(value));
            }
            continue;
        }
        for test in ["anderson-darling", "lilliefors"] {
            let found = answer(&table, test, None);
            near(test, number(&found["statistic"]), number(&sample[test][0]));
            near(test, number(&found["p"]), number(&sample[test][1]));
        }
        let found = answer(&table, "box-cox", Some("y ~ g + x"));
        for (name, value) in sample["box-cox"].as_object().unwrap() {
            // R's optimiser stops at about 1e-5 of the power.
            let gap = (number(&found[name.as_str()]) - number(value)).abs();
            assert!(gap < 1e-4, "{name}: {found}, not {value}");
        }
        let formula = Formula::parse("y ~ g + h + x", TermOrder::Formula).unwrap();
        let fit = analyze_table(&table, &formula, &TableOptions::default()).unwrap().fit;
        for pair in sample["emmeans"].as_array().unwrap() {
            let name = format!("g{}", pair["level"].as_str().unwrap());
            let own = fit.coefficients.iter().find(|own| own.name == name).unwrap();
            near(&name, own.estimate.unwrap(), number(&pair["difference"]));
            near(&name, own.std_error.unwrap(), number(&pair["error"]));
            near(&name, own.p.unwrap(), number(&pair["p"]));
        }
    }
    assert_eq!(compared, 11);
}
