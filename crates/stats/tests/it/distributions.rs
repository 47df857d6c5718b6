//! Tails and quantiles against 50-digit values; tolerance 1e-9 relative throughout.

use serde_json::Value;
use trainwright_stats::{ChiSquared, FisherF, Normal, StudentT};

use crate::vectors::{cases, close, json, number};

const TOLERANCE: f64 = 1e-9;

#[track_caller]
fn check(table: &str, expected: &str, found: impl Fn(&Value) -> f64) {
    for case in cases(&json("distributions.json")[table]) {
        close(&format!("{table} {case}"), found(case), number(case, expected), TOLERANCE);
    }
}

#[test]
fn normal_tails_and_quantiles_match() {
    check("normal_sf", "sf", |c| Normal.upper_tail(number(c, "x")));
    check("normal_quantile", "z", |c| Normal.quantile(number(c, "p")).unwrap());
}

#[test]
fn t_tails_and_quantiles_match() {
    let t = |c: &Value| StudentT::new(number(c, "df")).unwrap();
    check("t_sf", "sf", |c| t(c).upper_tail(number(c, "t")));
    check("t_quantile", "t", |c| t(c).quantile(number(c, "p")).unwrap());
}

#[test]
fn f_tails_and_quantiles_match() {
    let f = |c: &Value| FisherF::new(number(c, "df1"), number(c, "df2")).unwrap();
    check("f_sf", "sf", |c| f(c).upper_tail(number(c, "x")));
    check("f_quantile", "x", |c| f(c).quantile(number(c, "p")).unwrap());
}

#[test]
fn chi_squared_tails_match() {
    check("chi2_sf", "sf", |c| {
        ChiSquared::new(number(c, "df")).unwrap().upper_tail(number(c, "x"))
    });
}
