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
