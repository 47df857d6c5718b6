//! Reading of reference vectors and shared comparisons.

use std::fs::{self, File};
use std::path::PathBuf;

use serde_json::Value;
use trainwright_analysis::{Analysis, AnovaLine, AnovaType, Table};

pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The measurements of field report D, which are an example for users too.
pub(crate) fn report_d_results() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/field-report-d/results.csv")
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path(name)).unwrap()).unwrap()
}

pub(crate) fn table(name: &str, categorical: &[String]) -> Table {
    Table::from_csv(File::open(path(name)).unwrap(), categorical).unwrap()
}

pub(crate) fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

/// Fails unless `found` is within a relative tolerance of `expected`.
#[track_caller]
pub(crate) fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let gap = (found - expected).abs();
    assert!(gap <= tolerance * expected.abs(), "{what}: {found} where {expected} is expected");
}

pub(crate) fn rows(analysis: &Analysis, kind: AnovaType) -> &[AnovaLine] {
    &analysis.anova.iter().find(|t| t.kind == kind).unwrap().rows
}

/// Text of a finding, if it was made.
pub(crate) fn finding<'a>(analysis: &'a Analysis, id: &str) -> Option<&'a str> {
    analysis.findings.iter().find(|f| f.id == id).map(|f| f.text.as_str())
}

/// Compares a table with expected rows; `same` translates expected term names.
#[track_caller]
pub(crate) fn check_table(
    found: &[AnovaLine],
    expected: &Value,
    tolerance: [f64; 2],
    same: impl Fn(&str) -> String,
) {
    let expected = expected.as_array().unwrap();
    assert_eq!(found.len(), expected.len());
    for (row, want) in found.iter().zip(expected) {
        let term = same(want["term"].as_str().unwrap());
        assert_eq!(row.term, term);
        assert_eq!(row.df as f64, want["df"].as_f64().unwrap(), "{term}");
        match want["ss"].as_f64() {
            Some(ss) => close(&term, row.sum_sq.unwrap(), ss, tolerance[0]),
            None => assert!(row.aliased && row.sum_sq.is_none(), "{term}"),
        }
        match want["p"].as_f64() {
            Some(p) => {
                close(&term, row.f.unwrap(), want["F"].as_f64().unwrap(), tolerance[0]);
                close(&term, row.p.unwrap(), p, tolerance[1]);
            }
            None => assert_eq!((row.f, row.p), (None, None), "{term}"),
        }
        if let Some(percent) = want.get("pct").and_then(Value::as_f64) {
            close(&term, row.percent.unwrap(), percent, tolerance[0]);
        }
    }
}
