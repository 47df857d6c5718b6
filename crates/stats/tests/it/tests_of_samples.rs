//! Tests on samples and groups, p adjustment, correlation and Lenth's method against R and scipy.

use serde_json::Value;
use trainwright_stats::{
    OneWay, PAdjustment, adjust, bartlett, brown_forsythe, lenth, levene, one_way, pearson,
    shapiro_wilk,
};

use crate::vectors::{cases, close, csv, json, number, numbers};

#[test]
fn shapiro_wilk_matches_r() {
    for case in cases(&json("normality.json")) {
        let id = case["id"].as_str().unwrap();
        let found = shapiro_wilk(&numbers(&case["x"])).unwrap();
        close(id, found.w, number(case, "shapiro_W"), 1e-7);
        let expected = number(case, "shapiro_p");
        let gap = (found.p - expected).abs();
        assert!(gap < 1e-5 * expected || gap < 1e-9, "{id}: {} {expected}", found.p);
    }
}

#[test]
fn comparisons_of_groups_match_r() {
    for case in cases(&json("oneway.json")) {
        let id = case["id"].as_str().unwrap();
        let groups = csv(case["data"].as_str().unwrap()).groups();
        let same = |found: OneWay, expected: &Value| {
            close(id, found.f, number(expected, "F"), 1e-9);
            close(id, found.p, number(expected, "p"), 1e-9);
            assert_eq!(found.df2 as f64, number(expected, "df2"), "{id}");
        };
        same(one_way(&groups).unwrap(), &case["anova"]);
        same(levene(&groups).unwrap(), &case["levene_mean"]);
        same(brown_forsythe(&groups).unwrap(), &case["brown_forsythe"]);
        let found = bartlett(&groups).unwrap();
        close(id, found.statistic, number(&case["bartlett"], "stat"), 1e-9);
        close(id, found.p, number(&case["bartlett"], "p"), 1e-9);
    }
}

#[test]
fn adjusted_p_values_match_r() {
    let methods = [
        ("bonferroni", PAdjustment::Bonferroni),
        ("holm", PAdjustment::Holm),
        ("hochberg", PAdjustment::Hochberg),
        ("hommel", PAdjustment::Hommel),
        ("bh", PAdjustment::BenjaminiHochberg),
        ("by", PAdjustment::BenjaminiYekutieli),
    ];
    for case in cases(&json("padjust.json")) {
        for (name, method) in methods {
            let found = adjust(&numbers(&case["p"]), method).unwrap();
            for (a, b) in found.into_iter().zip(numbers(&case[name])) {
                close(name, a, b, 1e-12);
            }
        }
    }
}

#[test]
fn correlations_match_r() {
    for case in cases(&json("correlation.json")) {
        let id = case["id"].as_str().unwrap();
        let table = csv(case["data"].as_str().unwrap());
        let found = pearson(&table.numbers("x"), &table.numbers("y")).unwrap();
        close(id, found.r, number(case, "pearson_r"), 1e-9);
        close(id, found.t.unwrap(), number(case, "pearson_t"), 1e-9);
        close(id, found.p.unwrap(), number(case, "pearson_p"), 1e-9);
        close(id, found.interval.unwrap()[0], number(case, "ci95_lo"), 1e-9);
        close(id, found.interval.unwrap()[1], number(case, "ci95_hi"), 1e-9);
    }
}

#[test]
fn lenth_margins_match() {
    for case in cases(&json("effects_lenth.json")) {
        let id = case["id"].as_str().unwrap();
        let effects: Vec<f64> =
            case["effects"].as_object().unwrap().values().map(|v| v.as_f64().unwrap()).collect();
        let found = lenth(&effects).unwrap();
        close(id, found.pse, number(&case["lenth"], "pse"), 1e-9);
        close(id, found.me, number(&case["lenth"], "me"), 1e-9);
        close(id, found.sme, number(&case["lenth"], "sme"), 1e-9);
    }
}
