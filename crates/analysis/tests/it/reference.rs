//! Analysis of variance and Box-Cox against R.

use trainwright_analysis::{AnovaType, Formula, Table, TableOptions, TermOrder, analyze_table};

use crate::support::{check_table, close, finding, json, rows, table, texts};

#[test]
fn every_reference_table_is_reproduced() {
    for case in json("anova.json").as_array().unwrap() {
        let table = table(case["data"].as_str().unwrap(), &texts(&case["categorical"]));
        let formula = Formula::parse(case["formula"].as_str().unwrap(), TermOrder::Degree).unwrap();
        assert_eq!(
            formula.term_names()[..texts(&case["type1_term_order"]).len()],
            texts(&case["type1_term_order"])
        );
        let analysis = analyze_table(&table, &formula, &TableOptions::default()).unwrap();
        assert_eq!(analysis.n as f64, case["n"].as_f64().unwrap());
        close("r2", analysis.fit.r2, case["r2"].as_f64().unwrap(), 1e-8);
        close("sigma", analysis.fit.sigma.unwrap(), case["sigma"].as_f64().unwrap(), 1e-8);
        for (kind, key) in [
            (AnovaType::One, "type1"),
            (AnovaType::Two, "type2"),
            (AnovaType::Three, "type3_sum_contrasts"),
        ] {
            if case[key].is_null() {
                continue;
            }
            let mut found = rows(&analysis, kind).to_vec();
            if key == "type1" {
                // R leaves an aliased term out of this table; here it is listed.
                found.retain(|r| !r.aliased);
            }
            check_table(&found, &case[key], [1e-8, 1e-6], str::to_owned);
        }
        let aliased: Vec<String> = analysis
            .fit
            .coefficients
            .iter()
            .filter(|c| c.aliased)
            .map(|c| c.name.clone())
            .collect();
        assert_eq!(aliased, texts(&case["aliased_coefs_treatment_coding"]));
    }
}

#[test]
fn a_term_confounded_with_blocks_is_listed_and_named() {
    let factors = ["block", "N", "P", "K"].map(str::to_owned);
    let table = table("data/anova_npk.csv", &factors);
    let formula = Formula::parse("yield ~ block + N*P*K", TermOrder::Degree).unwrap();
    let analysis = analyze_table(&table, &formula, &TableOptions::default()).unwrap();
    for kind in [AnovaType::One, AnovaType::Two, AnovaType::Three] {
        let row = rows(&analysis, kind).iter().find(|r| r.term == "N:P:K").unwrap().clone();
        assert_eq!((row.df, row.sum_sq, row.aliased), (0, None, true));
    }
    assert!(finding(&analysis, "aliased-terms").unwrap().starts_with("N:P:K (mixed with block"));
    let json = serde_json::to_value(&analysis).unwrap();
    assert_eq!(json["anova"][0]["rows"][7]["aliased"], true);
    assert!(json["anova"][0]["rows"][0].get("aliased").is_none());
}

#[test]
fn box_cox_of_a_model_with_categories_matches_r() {
    let case = json("boxcox.json");
    let case = case.as_array().unwrap().iter().find(|c| c["id"] == "warpbreaks").unwrap();
    let table = table("data/boxcox_warpbreaks.csv", &[]);
    let formula = Formula::parse("breaks ~ wool*tension", TermOrder::Formula).unwrap();
    let found = analyze_table(&table, &formula, &TableOptions::default()).unwrap();
    let power = found.box_cox.unwrap();
    let expected = |key: &str| case[key].as_f64().unwrap();
    assert!((power.lambda - expected("lambda_mle")).abs() < 1e-5);
    assert!((power.low.unwrap() - expected("ci95_lo")).abs() < 1e-5);
    assert!((power.high.unwrap() - expected("ci95_hi")).abs() < 1e-5);
    assert!(found.log_scale.is_some(), "1 lies outside -0.57 to 0.50");
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let table = table("data/anova_warpbreaks.csv", &[]);
    let formula = Formula::parse("breaks ~ wool*tension", TermOrder::Formula).unwrap();
    let found = analyze_table(&table, &formula, &TableOptions::default()).unwrap();
    let json = serde_json::to_value(&found).unwrap();
    let keys = |pointer: &str| {
        let object = json.pointer(pointer).unwrap().as_object().unwrap();
        object.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        keys("/fit"),
        "r2 adj_r2 sigma f p df_model df_residual ss_residual log_likelihood aic bic \
         condition_number durbin_watson breusch_pagan coefficients"
    );
    assert_eq!(keys("/fit/coefficients/0"), "name estimate std_error t p ci_low ci_high vif");
    assert_eq!(keys("/anova/2"), "type rows");
    assert_eq!(
        keys("/anova/2/rows/0"),
        "term df sum_sq mean_sq f p p_adjusted percent partial_eta_sq omega_sq"
    );
    assert_eq!(keys("/checks/0"), "name statistic p holds verdict");
    assert_eq!(keys("/box_cox"), "lambda low high profile");
    assert_eq!(keys("/findings/0"), "id severity text reference");
    assert_eq!(json["anova"][2]["type"], 3);
    assert_eq!(json["anova"][2]["rows"][0]["term"], "(Intercept)");
    assert_eq!(json["anova"][2]["rows"][4]["term"], "Residuals");
    assert_eq!(json["coding"], "raw");
    assert_eq!(json["fit"]["coefficients"][5]["name"], "woolB:tensionM");
}

/// Polynomials written in the formula give the exact coefficients, though their columns are
/// nearly collinear: Wampler's y = 1 + x + ... + x^5 for x = 0..20 (JASA 65, 1970).
#[test]
fn polynomials_in_a_formula_reach_exact_coefficients() {
    let y = |x: f64| (0..=5).map(|power| x.powi(power)).sum::<f64>();
    let lines: String = (0..=20).map(|x| format!("{x},{}\n", y(f64::from(x)))).collect();
    let table = Table::from_csv(format!("x,y\n{lines}").as_bytes(), &[]).unwrap();
    let formula = "y ~ x + I(x^2) + I(x^3) + I(x^4) + I(x^5)";
    let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
    let found = analyze_table(&table, &formula, &TableOptions::default()).unwrap();
    assert_eq!(found.fit.coefficients[5].name, "I(x^5)");
    for row in &found.fit.coefficients {
        close(&row.name, row.estimate.unwrap(), 1.0, 1e-8);
    }
}

#[test]
fn a_computed_column_without_a_value_is_refused_with_its_line() {
    let table = Table::from_csv("x,g,y\n1,a,2\n0,b,3\n2,a,5\n3,b,4\n".as_bytes(), &[]).unwrap();
    let refused = |text: &str| {
        let formula = Formula::parse(text, TermOrder::Formula).unwrap();
        analyze_table(&table, &formula, &TableOptions::default()).unwrap_err().to_string()
    };
    assert_eq!(refused("y ~ log(x)"), "`log(x)` has no value in line 3: it is -inf");
    assert!(refused("y ~ I(g + 1)").contains("column `g` holds texts"));
    assert!(refused("y ~ I(1 / x)").contains("division by zero"));
}
