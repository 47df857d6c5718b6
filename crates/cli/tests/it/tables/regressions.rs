//! `analyze --data`: regression figures against the reference vectors, through the real program.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::program::Lab;

fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../stats/tests/data")
}

fn cases() -> Vec<Value> {
    let text = fs::read_to_string(vectors().join("ols.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone()
}

#[track_caller]
fn close(what: &str, found: &Value, expected: &Value, tolerance: f64) {
    let (Some(a), Some(b)) = (found.as_f64(), expected.as_f64()) else {
        panic!("{what}: {found} where {expected} is expected");
    };
    assert!((a - b).abs() <= tolerance * b.abs(), "{what}: {a} where {b} is expected");
}

#[test]
fn every_figure_of_the_regression_vectors_is_reached() {
    let lab = Lab::new();
    for case in &cases() {
        let id = case["id"].as_str().unwrap();
        let file = vectors().join(case["data"].as_str().unwrap()).display().to_string();
        let formula = case["formula"].as_str().unwrap();
        let words =
            ["analyze", "--data", &file, "--formula", formula, "--order", "degree", "--json"];
        let found = lab.json(&words);
        assert_eq!(found["n"], case["n"], "{id}");
        let fit = &found["fit"];
        for (column, row) in fit["coefficients"].as_array().unwrap().iter().enumerate() {
            assert_eq!(row["name"], case["terms"][column], "{id}");
            close(id, &row["estimate"], &case["coef_exact"][column], 1e-9);
            if case["se_exact"][column].as_f64().is_some_and(|error| error > 0.0) {
                close(id, &row["std_error"], &case["se_exact"][column], 1e-9);
            }
            for (own, key) in [("t", "t"), ("ci_low", "ci95_lo"), ("ci_high", "ci95_hi")] {
                if case[key][column].is_number() {
                    close(id, &row[own], &case[key][column], 1e-7);
                }
            }
            if case["p"][column].is_number() {
                close(id, &row["p"], &case["p"][column], 1e-7);
            }
            if let Some(vif) = case["vif"].get(row["name"].as_str().unwrap()) {
                close(id, &row["vif"], vif, 1e-7);
            }
        }
        if case["F"].is_null() {
            continue;
        }
        for (own, key) in [
            ("/r2", "r2"),
            ("/adj_r2", "adj_r2"),
            ("/sigma", "sigma"),
            ("/df_residual", "df_resid"),
            ("/df_model", "df_model"),
            ("/f", "F"),
            ("/p", "F_p"),
            ("/ss_residual", "ss_resid"),
            ("/log_likelihood", "loglik"),
            ("/aic", "aic"),
            ("/bic", "bic"),
            ("/durbin_watson/statistic", "dw"),
            ("/durbin_watson/p", "dw_p_positive"),
            ("/breusch_pagan/statistic", "bp_koenker"),
            ("/breusch_pagan/df", "bp_df"),
            ("/breusch_pagan/p", "bp_p"),
            ("/condition_number", "cond_2norm"),
        ] {
            close(&format!("{id} {key}"), fit.pointer(own).unwrap(), &case[key], 1e-7);
        }
        let drift =
            found["checks"].as_array().unwrap().iter().find(|c| c["name"] == "independence");
        let one_sided = case["dw_p_positive"].as_f64().unwrap();
        let two_sided = Value::from(2.0 * one_sided.min(1.0 - one_sided));
        close(id, &drift.unwrap()["p"], &two_sided, 1e-7);
        let tolerance = if formula.contains("I(") { 1e-4 } else { 1e-8 };
        for (row, own) in found["residuals"].as_array().unwrap().iter().enumerate() {
            close(id, &own["leverage"], &case["hat"][row], tolerance);
            close(id, &own["cook"], &case["cooks"][row], tolerance);
            close(id, &own["studentised"], &case["rstudent"][row], tolerance);
        }
    }
}

/// Writes a table and analyses it.
#[track_caller]
fn analysis(lab: &Lab, formula: &str, options: &[&str]) -> Value {
    let words = ["analyze", "--data", "t.csv", "--formula", formula, "--json"];
    lab.json(&[words.as_slice(), options].concat())
}

fn curve() -> Lab {
    let lab = Lab::new();
    let line = |i: i32| {
        let x = f64::from(i) * 0.37;
        let y = 2.0 + x - 0.3 * x * x + 0.02 * x.powi(3) + 0.1 * f64::from(i * i * 7 % 11);
        format!("{x},{},{y}\n", ["a", "b", "c"][(i % 3) as usize])
    };
    lab.write("t.csv", format!("x,g,y\n{}", (1..=40).map(line).collect::<String>()));
    lab
}

fn row<'a>(found: &'a Value, table: usize, term: &str) -> &'a Value {
    let rows = found["anova"][table]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["term"] == term).unwrap()
}

#[test]
fn orthogonal_polynomials_fit_what_raw_powers_fit() {
    let lab = curve();
    let raw = analysis(&lab, "y ~ x + I(x^2) + I(x^3)", &[]);
    let poly = analysis(&lab, "y ~ poly(x,3)", &[]);
    for (a, b) in
        raw["residuals"].as_array().unwrap().iter().zip(poly["residuals"].as_array().unwrap())
    {
        close("fitted", &b["fitted"], &a["fitted"], 1e-9);
    }
    let term = row(&poly, 0, "poly(x, 3)");
    assert_eq!(term["df"], 3);
    let sum: f64 =
        ["x", "I(x^2)", "I(x^3)"].iter().map(|t| row(&raw, 0, t)["sum_sq"].as_f64().unwrap()).sum();
    close("sum of squares", &term["sum_sq"], &sum.into(), 1e-9);
    // Orthonormal columns: the square of each coefficient is the square it takes in sequence.
    for (k, name) in ["x", "I(x^2)", "I(x^3)"].into_iter().enumerate() {
        let coefficient = &poly["fit"]["coefficients"][k + 1];
        assert_eq!(coefficient["name"], format!("poly(x, 3){}", k + 1));
        let square = coefficient["estimate"].as_f64().unwrap().powi(2);
        close(name, &square.into(), &row(&raw, 0, name)["sum_sq"], 1e-8);
    }
}

#[test]
fn contrasts_change_coefficients_but_not_the_fit() {
    let lab = curve();
    let treatment = analysis(&lab, "y ~ g", &[]);
    let sum = analysis(&lab, "y ~ g", &["--contrasts", "sum"]);
    let estimate =
        |found: &Value, k: usize| found["fit"]["coefficients"][k]["estimate"].as_f64().unwrap();
    let means = [
        estimate(&treatment, 0),
        estimate(&treatment, 0) + estimate(&treatment, 1),
        estimate(&treatment, 0) + estimate(&treatment, 2),
    ];
    let centre = means.iter().sum::<f64>() / 3.0;
    assert!((estimate(&sum, 0) - centre).abs() < 1e-9);
    assert!((estimate(&sum, 1) - (means[0] - centre)).abs() < 1e-9);
    close("r2", &sum["fit"]["r2"], &treatment["fit"]["r2"], 1e-9);
    let cells = analysis(&lab, "y ~ 0 + g", &[]);
    for (k, mean) in means.into_iter().enumerate() {
        close("cell mean", &cells["fit"]["coefficients"][k]["estimate"], &mean.into(), 1e-9);
    }
    assert_eq!(cells["fit"]["df_model"], 3, "compared with zero, as in R");
    let text = lab.expect(0, &["analyze", "--data", "t.csv", "--formula", "log(y) ~ g/x"]).stdout;
    assert!(text.contains("x:g") || text.contains("g:x"), "{text}");
    assert!(text.contains("Coefficients") && text.contains("omega2"), "{text}");
}

#[test]
fn effect_sizes_and_adjusted_p_values_stand_beside_each_term() {
    let lab = curve();
    let found = analysis(&lab, "y ~ x*g", &[]);
    let residual = row(&found, 1, "Residuals")["sum_sq"].as_f64().unwrap();
    let own = row(&found, 1, "x");
    let ss = own["sum_sq"].as_f64().unwrap();
    close("eta", &own["partial_eta_sq"], &(ss / (ss + residual)).into(), 1e-12);
    assert!(own["p_adjusted"].as_f64() >= own["p"].as_f64());
    assert!(own["omega_sq"].is_number());
}
