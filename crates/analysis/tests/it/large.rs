//! Tables read block by block against the same tables held whole.

use std::fmt::Write;

use trainwright_analysis::{
    Analysis, Coding, Contrasts, FEW_ROWS, Formula, Table, TableOptions, TermOrder, analyze_csv,
    analyze_table, anova_of_table,
};

use crate::support::finding;

/// A table of numbers and categories; a level appears late, some responses are missing.
fn rows(count: usize) -> String {
    let mut text = "g,x,z,h,y\n".to_owned();
    for i in 0..count {
        let g = if i > 3 * count / 4 && i % 50 == 0 { "rare" } else { ["b", "a", "c"][i * 7 % 3] };
        let (x, z) = ((i * 37 % 101) as f64 * 0.25, ((i * 53 % 997) as f64).sqrt());
        let noise = ((i * 7919) % 1013) as f64 / 1013.0;
        let y =
            3.0 + 0.5 * x - 0.02 * x * x + if g == "a" { 1.0 + 0.1 * x } else { 0.0 } + 2.0 * noise;
        let y = if i % 1000 == 7 { String::new() } else { y.to_string() };
        writeln!(text, "{g},{x},{z},{},{y}", i % 2).unwrap();
    }
    text
}

fn formula(text: &str) -> Formula {
    Formula::parse(text, TermOrder::Formula).unwrap()
}

#[track_caller]
fn same(whole: &Analysis, parts: &Analysis) {
    assert_eq!((whole.n, whole.fit.df_residual), (parts.n, parts.fit.df_residual));
    // The smallest figures of a table are known to the rounding of the largest.
    let near = |a: Option<f64>, b: Option<f64>, size: f64, what: &str| match (a, b) {
        (Some(a), Some(b)) => {
            assert!((a - b).abs() <= 1e-7 * (a.abs() + 1e-3 * size), "{what}: {a} {b}");
        }
        (a, b) => assert_eq!(a, b, "{what}"),
    };
    near(Some(whole.fit.r2), Some(parts.fit.r2), 1.0, "r2");
    near(whole.fit.aic, parts.fit.aic, 1.0, "aic");
    for (a, b) in whole.fit.coefficients.iter().zip(&parts.fit.coefficients) {
        assert_eq!(a.name, b.name);
        near(a.estimate, b.estimate, 1.0, &a.name);
        near(a.std_error, b.std_error, 0.0, &a.name);
        near(a.vif, b.vif, 0.0, &a.name);
    }
    assert_eq!(whole.fit.coefficients.len(), parts.fit.coefficients.len());
    for (a, b) in whole.anova.iter().zip(&parts.anova) {
        for (a, b) in a.rows.iter().zip(&b.rows) {
            assert_eq!((&a.term, a.df, a.aliased), (&b.term, b.df, b.aliased));
            near(a.sum_sq, b.sum_sq, 1.0, &a.term);
            near(a.omega_sq, b.omega_sq, 1.0, &a.term);
        }
    }
    for (a, b) in whole.effects.iter().zip(&parts.effects) {
        // What several columns do together is not told of a table that is not held.
        if b.effect.is_some() {
            near(a.effect, b.effect, 1.0, &a.term);
        }
        near(a.percent, b.percent, 1.0, &a.term);
    }
}

#[test]
fn a_table_in_blocks_has_the_fit_of_the_whole() {
    let text = rows(FEW_ROWS + 9000);
    let categorical = ["h".to_owned()];
    let table = Table::from_csv(text.as_bytes(), &categorical).unwrap();
    for (equation, coding, contrasts) in [
        ("y ~ g*x + I(x^2) + h", Coding::Raw, Contrasts::Treatment),
        ("y ~ g*x + z", Coding::Coded, Contrasts::Treatment),
        ("y ~ g*h + x:z", Coding::Raw, Contrasts::Sum),
        ("log(y) ~ 0 + g + poly(x, 3)", Coding::Raw, Contrasts::Treatment),
        ("y ~ h + factor(h) + z", Coding::Raw, Contrasts::Treatment),
    ] {
        let options = TableOptions { coding, contrasts, ..TableOptions::default() };
        let whole = analyze_table(&table, &formula(equation), &options).unwrap();
        let parts =
            analyze_csv(text.as_bytes(), &categorical, &formula(equation), &options).unwrap();
        same(&whole, &parts);
        assert!(parts.residuals.is_empty());
        assert!(finding(&parts, "large-table").unwrap().contains("random sample of 5000"));
        assert!(finding(&parts, "missing-response").unwrap().contains("29 rows of 29000"));
        assert!(parts.checks.iter().all(|c| c.verdict.contains("rows")), "{:?}", parts.checks);
    }
}

#[test]
fn tables_of_a_long_table_in_memory_are_those_of_its_parts() {
    let text = rows(FEW_ROWS + 9000);
    let categorical = ["h".to_owned()];
    let table = Table::from_csv(text.as_bytes(), &categorical).unwrap();
    for equation in
        ["y ~ g*x + I(x^2) + h", "log10(y) ~ 0 + g + poly(x, 3)", "sqrt(y) ~ factor(h)*g"]
    {
        let options = TableOptions::default();
        let expected = analyze_table(&table, &formula(equation), &options).unwrap();
        let parts =
            analyze_csv(text.as_bytes(), &categorical, &formula(equation), &options).unwrap();
        same(&expected, &parts);
        let found = anova_of_table(&table, &formula(equation), &options).unwrap();
        same(&expected, &Analysis { anova: found, ..expected.clone() });
    }
}

#[test]
fn rows_of_a_long_table_with_an_empty_cell_are_left_out_as_in_a_short_one() {
    let text = rows(FEW_ROWS + 9000).replacen("\nb,", "\n,", 40).replacen("\nc,", "\nNA,", 30);
    let options = TableOptions::default();
    let table = Table::from_csv(text.as_bytes(), &[]).unwrap();
    let equation = formula("y ~ g*x + h");
    let short = analyze_table(&table, &equation, &options).unwrap();
    let long = analyze_csv(text.as_bytes(), &[], &equation, &options).unwrap();
    same(&short, &long);
    let said = finding(&long, "missing-predictor").unwrap();
    assert!(said.contains("rows of 29000 have an empty cell in `g` ("), "{said}");
    assert_eq!(finding(&short, "missing-predictor"), Some(said));
    let found = anova_of_table(&table, &equation, &options).unwrap();
    same(&short, &Analysis { anova: found, ..short.clone() });
    let empty: String = (0..FEW_ROWS + 5).map(|i| format!("{},,{}\n", i % 7, i % 9)).collect();
    let text = format!("x,g,y\n{empty}");
    let error = analyze_csv(text.as_bytes(), &[], &formula("y ~ x + g"), &options).unwrap_err();
    assert!(error.to_string().starts_with("column `g` is empty in every row"), "{error}");
    let table = Table::from_csv(text.as_bytes(), &[]).unwrap();
    let error = anova_of_table(&table, &formula("y ~ x + g"), &options).unwrap_err();
    assert!(error.to_string().starts_with("column `g` is empty in every row"), "{error}");
}

#[test]
fn a_fault_in_a_long_table_is_named_by_its_line() {
    let refused = |bad: &str, equation: &str| {
        let mut text = rows(FEW_ROWS + 4000);
        text.push_str(bad);
        text.push_str(rows(3000).split_once('\n').unwrap().1);
        analyze_csv(text.as_bytes(), &[], &formula(equation), &TableOptions::default())
            .unwrap_err()
            .to_string()
    };
    let says = |bad: &str, words: &str| {
        let message = refused(bad, "y ~ x + g");
        assert!(message.contains("24002") && message.contains(words), "{message}");
    };
    says(
        "a,fast,1,1,2\n",
        "column `x`: `fast` is not a number, but the column holds numbers before",
    );
    says("a,1,1,1,slow\n", "the response `y` is not numeric");
    says("a,inf,1,1,2\n", "`inf` is not a finite number");
    says("a,1\n", "2 cells where the header has 5");
    let constant: String = std::iter::repeat_n("1,2\n", FEW_ROWS + 5).collect();
    let text = format!("x,y\n{constant}");
    let error = analyze_csv(text.as_bytes(), &[], &formula("y ~ x"), &TableOptions::default());
    assert!(error.unwrap_err().to_string().contains("equal 2, so there is no variation"));
    let tiny: String = (0..FEW_ROWS + 5).map(|i| format!("{i}e-200,{}\n", i % 9)).collect();
    let text = format!("x,y\n{tiny}");
    let error = analyze_csv(text.as_bytes(), &[], &formula("y ~ x"), &TableOptions::default());
    assert!(error.unwrap_err().to_string().contains("change the unit"));
    let names: String = (0..FEW_ROWS + 5).map(|i| format!("name{i},{}\n", i % 9)).collect();
    let text = format!("x,y\n{names}");
    let error = analyze_csv(text.as_bytes(), &[], &formula("y ~ x"), &TableOptions::default());
    assert!(error.unwrap_err().to_string().contains("more than 600 columns"));
}
