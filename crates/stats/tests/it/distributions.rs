//! Tails and quantiles against 50-digit values; tolerance 1e-9 relative, but for the studentised
//! range, whose reference is itself a quadrature.

use serde_json::Value;
use trainwright_stats::{ChiSquared, FisherF, Normal, StudentT, StudentisedRange};

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

#[test]
fn studentised_range_tails_and_quantiles_match() {
    let table = json("distributions.json");
    let range = |c: &Value| {
        let groups = c["k"].as_u64().unwrap() as usize;
        StudentisedRange::new(groups, number(c, "df")).unwrap()
    };
    for case in cases(&table["studentized_range_sf"]) {
        let found = range(case).upper_tail(number(case, "q"));
        let gap = (found - number(case, "sf_scipy")).abs();
        assert!(gap < 1e-9, "{case}: {found}");
    }
    for case in cases(&table["studentized_range_quantile"]) {
        let found = range(case).quantile(number(case, "p")).unwrap();
        close(&case.to_string(), found, number(case, "q"), 1e-7);
    }
}
