//! Reading of the reference vectors.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use trainwright_stats::Columns;

/// A CSV file as named columns of text.
pub(crate) struct Csv {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Csv {
    pub(crate) fn text(&self, name: &str) -> Vec<String> {
        let at = self.names.iter().position(|n| n == name).unwrap();
        self.rows.iter().map(|r| r[at].clone()).collect()
    }

    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        self.text(name).iter().map(|v| v.parse().unwrap()).collect()
    }

    /// Column of a term such as `a:b` or `I(x^2)`.
    fn term(&self, term: &str) -> Vec<f64> {
        if term == "(Intercept)" {
            return vec![1.0; self.rows.len()];
        }
        if let Some(power) = term.strip_prefix("I(").and_then(|t| t.strip_suffix(')')) {
            let (name, exponent) = power.split_once('^').unwrap();
            let exponent = exponent.parse().unwrap();
            return self.numbers(name).iter().map(|v| v.powi(exponent)).collect();
        }
        let factors: Vec<Vec<f64>> = term.split(':').map(|f| self.numbers(f)).collect();
        (0..self.rows.len()).map(|i| factors.iter().map(|f| f[i]).product()).collect()
    }

    pub(crate) fn matrix<'a>(&self, terms: impl IntoIterator<Item = &'a str>) -> Columns {
        Columns::new(terms.into_iter().map(|t| self.term(t)).collect()).unwrap()
    }

    /// Values of column `y`, grouped by column `g` in order of appearance.
    pub(crate) fn groups(&self) -> Vec<Vec<f64>> {
        let mut found: Vec<(String, Vec<f64>)> = Vec::new();
        for (name, value) in self.text("g").into_iter().zip(self.numbers("y")) {
            match found.iter_mut().find(|(n, _)| *n == name) {
                Some((_, values)) => values.push(value),
                None => found.push((name, vec![value])),
            }
        }
        found.into_iter().map(|(_, values)| values).collect()
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

pub(crate) fn csv(name: &str) -> Csv {
    let mut reader = csv::Reader::from_path(folder().join(name)).unwrap();
    let names = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
    Csv { names, rows }
}

pub(crate) fn cases(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

pub(crate) fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap_or_else(|| panic!("{key} is not a number"))
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    cases(value).iter().map(|v| v.as_f64().unwrap()).collect()
}

/// Fails unless `found` is within a relative tolerance of `expected`.
#[track_caller]
pub(crate) fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let gap = (found - expected).abs();
    assert!(
        gap <= tolerance * expected.abs(),
        "{what}: {found} where {expected} is expected (relative gap {:e})",
        gap / expected.abs()
    );
}
