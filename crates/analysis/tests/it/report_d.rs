//! Field report D recomputed: tables to seven digits, and every mistake named.

use std::fs::File;

use serde_json::Value;
use trainwright_analysis::{
    Analysis, AnovaType, Coding, Formula, Severity, Table, TableOptions, TermOrder, analyze_table,
};
use trainwright_study::Direction;

use crate::support::{check_table, close, finding, json, report_d_results, rows};

const RIGHT_SIDE: &str =
    "n_nodes + n_executors + n_executor_cores + n_epochs*learning_rate*batch_size";

fn analyze(response: &str, coding: Coding) -> Analysis {
    let formula = format!("{response} ~ {RIGHT_SIDE}");
    let formula = Formula::parse(&formula, TermOrder::Formula).unwrap();
    let options = TableOptions {
        coding,
        direction: Some(Direction::Minimize),
        label_columns: vec!["run".to_owned(), "rep".to_owned()],
        ..TableOptions::default()
    };
    let table = Table::from_csv(File::open(report_d_results()).unwrap(), &[]).unwrap();
    analyze_table(&table, &formula, &options).unwrap()
}

/// The report's names of our columns.
fn same(term: &str) -> String {
    match term {
        "Intercept" => return "(Intercept)".to_owned(),
        "Residual" => return "Residuals".to_owned(),
        _ => {}
    }
    let one = |name: &str| match name {
        "N_nodes" => "n_nodes",
        "N_Executors" => "n_executors",
        "NumberExecutorCores" => "n_executor_cores",
        "Max_epochs" => "n_epochs",
        "Batch_Size" => "batch_size",
        other => panic!("{other}"),
    };
    let known =
        |name: &str| if name == "learning_rate" { name.to_owned() } else { one(name).to_owned() };
    term.split(':').map(known).collect::<Vec<_>>().join(":")
}

#[track_caller]
fn check(response: &str, coding: Coding, key: &str) {
    let expected = &json("report_d_expected.json")[key];
    let found = analyze(response, coding);
    let number = |path: &str| expected.pointer(path).and_then(Value::as_f64).unwrap();
    assert_eq!(found.n as f64, number("/n"));
    close("r2", found.fit.r2, number("/r2"), 1e-9);
    close("adj_r2", found.fit.adj_r2.unwrap(), number("/adj_r2"), 1e-9);
    for (kind, table) in [
        (AnovaType::One, "anova_type1_patsy_order"),
        (AnovaType::Two, "anova_type2_patsy_order"),
        (AnovaType::Three, "anova_type3_patsy_order"),
    ] {
        check_table(rows(&found, kind), &expected[table], [1e-7, 1e-6], same);
    }
    for (name, value) in expected["coef"].as_object().unwrap() {
        let name = same(name);
        let row = found.fit.coefficients.iter().find(|c| c.name == name).unwrap();
        close(&name, row.estimate.unwrap(), value.as_f64().unwrap(), 1e-7);
        if name != "(Intercept)" {
            let vif = expected["vif"]
                .as_object()
                .unwrap()
                .iter()
                .find(|(n, _)| !n.contains("uncentred") && same(n) == name);
            close(&name, row.vif.unwrap(), vif.unwrap().1.as_f64().unwrap(), 1e-7);
        }
    }
    let of = |name: &str| found.checks.iter().find(|c| c.name == name).unwrap();
    close("W", of("normality").statistic.unwrap(), number("/shapiro_resid/W"), 1e-7);
    close("W p", of("normality").p.unwrap(), number("/shapiro_resid/p"), 1e-5);
    let spread = of("equal-variance");
    close("F", spread.statistic.unwrap(), number("/cells/brown_forsythe"), 1e-9);
    close("F p", spread.p.unwrap(), number("/cells/brown_forsythe_p"), 1e-7);
    let lack = found.lack_of_fit.unwrap();
    close("lack of fit", lack.sum_sq, number("/lack_of_fit/ss"), 1e-7);
    close("pure error", lack.pure_error_sum_sq, number("/lack_of_fit/pure_error_ss"), 1e-9);
    close("lack F", lack.f.unwrap(), number("/lack_of_fit/F"), 1e-7);
    close("lack p", lack.p.unwrap(), number("/lack_of_fit/p"), 1e-6);
}

#[test]
fn three_hundred_raw_rows_give_the_printed_table() {
    check("cost_exact", Coding::Raw, "authors_300_raw");
}

#[test]
fn three_hundred_coded_rows_agree() {
    check("cost_exact", Coding::Coded, "authors_300_coded");
}

#[test]
fn all_rows_agree_raw_and_coded() {
    check("cost_printed", Coding::Raw, "table2_320_raw");
    check("cost_printed", Coding::Coded, "table2_320_coded");
}

#[track_caller]
fn says(analysis: &Analysis, id: &str, parts: &[&str]) {
    let text = finding(analysis, id).unwrap_or_else(|| panic!("no finding `{id}`"));
    for part in parts {
        assert!(text.contains(part), "`{id}` lacks `{part}`: {text}");
    }
}

#[test]
fn every_mistake_of_the_report_is_named() {
    let found = analyze("cost_exact", Coding::Raw);
    says(
        &found,
        "missing-cells",
        &[
            "32 combinations",
            "2 cells are without observations",
            "learning_rate=0.001 batch_size=256",
        ],
    );
    says(&found, "missing-response", &["20 rows of 320"]);
    says(&found, "unbalanced", &["not run equally often"]);
    says(
        &found,
        "type-one-order",
        &[
            "n_executor_cores (p = 0.46 in type I, p = 0.015 in type II)",
            "n_epochs (p = 0.081 in type I, p = 0.002 in type II)",
        ],
    );
    says(&found, "residuals-not-normal", &["p = 7e-29 is evidence against normal residuals"]);
    says(&found, "unequal-variances", &["p = 2e-9 is evidence that the spread differs"]);
    says(&found, "collinearity-is-coding", &["up to 33.9", "at most 1.07"]);
    says(&found, "log-scale", &["power is -0.223 (95 % interval -0.338 to -0.112"]);
    says(&found, "outlier", &["run 8 rep 8", "23.1 deviations"]);
    says(&found, "lack-of-fit", &["p = 7e-5 is evidence that the equation misses terms"]);
    says(&found, "effect-ranking", &["learning_rate matters most: 15.1 % of the variation"]);
    assert_eq!(found.findings[0].severity, Severity::Serious);
}

#[test]
fn the_log_scale_explains_more_of_the_full_table() {
    let found = analyze("cost_printed", Coding::Coded);
    let log = found.log_scale.as_ref().unwrap();
    close("r2", log.r2, 0.717, 1e-3);
    close("W", log.shapiro_w.unwrap(), 0.985_783_6, 1e-6);
    close("p", log.shapiro_p.unwrap(), 0.003_033_4, 1e-4);
    let half =
        |term: &str| found.effects.iter().find(|e| e.term == term).unwrap().effect.unwrap() / 2.0;
    // Coded half-effects as recomputed for the field report.
    for (term, expected) in [("learning_rate", -0.0219), ("n_epochs:batch_size", -0.0140)] {
        close(term, half(term), expected, 5e-3);
    }
    assert_eq!(finding(&found, "missing-cells"), None);
    assert_eq!(finding(&found, "type-one-order"), None);
    assert_eq!(finding(&found, "unbalanced"), None);
    assert_eq!(finding(&found, "collinearity-is-coding"), None);
    let best = found.best.unwrap();
    close("best mean", best.mean, 0.0052, 1e-6);
    assert_eq!(best.n, 10);
}
