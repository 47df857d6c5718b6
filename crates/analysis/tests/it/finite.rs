//! Whatever the table, an analysis is an error or holds finite numbers only.

use std::fmt::Debug;

use proptest::prelude::*;
use trainwright_analysis::{
    Coding, Formula, OverheadOptions, SurfaceOptions, Table, TableOptions, TermOrder,
    analyze_table, correlations_of_table, overhead_of_table, surface_of_table,
};
use trainwright_study::Direction;

fn check(rows: &[(f64, u8, u8, f64)], formula: &str, coding: Coding) -> Result<(), TestCaseError> {
    let mut text = "y,g,h,x\n".to_owned();
    for (y, g, h, x) in rows {
        text.push_str(&format!("{y:e},g{g},{h},{x:e}\n"));
    }
    let table = Table::from_csv(text.as_bytes(), &[]).unwrap();
    let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
    let direction = Some(Direction::Maximize);
    let options = TableOptions { coding, direction, ..TableOptions::default() };
    holds_numbers(analyze_table(&table, &formula, &options))
}

/// An error, or an answer without NaN and infinity.
fn holds_numbers<A: Debug, E>(answer: Result<A, E>) -> Result<(), TestCaseError> {
    let Ok(answer) = answer else { return Ok(()) };
    // JSON would show NaN and infinity as null, so the numbers themselves are searched.
    let shown = format!("{answer:?}");
    let bad = ["NaN", "inf,", "inf)", "inf ", "inf}", "inf]"];
    let found = bad.iter().find(|b| shown.contains(*b));
    prop_assert!(found.is_none(), "{:?} in {}", found, shown);
    Ok(())
}

/// Numbers of every size, zeros and numbers that are often equal.
fn any_size() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => 1.0..10.0f64,
        2 => (-300.0..300.0f64).prop_map(|exponent| 10f64.powf(exponent)),
        1 => prop::sample::select(vec![0.0, 1.0, 3.0, 1e-120, 1e9, 1e9 + 1.0, -1e200, 1e308, 5e-324]),
    ]
}

fn ask_everything(rows: &[(f64, f64, u8)]) -> Result<(), TestCaseError> {
    let mut text = "y,x,z,g\n".to_owned();
    for (row, (y, x, g)) in rows.iter().enumerate() {
        text.push_str(&format!("{y:e},{x:e},{},g{g}\n", row % 3));
    }
    let table = Table::from_csv(text.as_bytes(), &[]).unwrap();
    let by = |by: Option<&str>| OverheadOptions {
        column: "y".to_owned(),
        steps: "x".to_owned(),
        by: by.map(str::to_owned),
        samples: Some(1e9),
        unit: Some("s".to_owned()),
        alpha: 0.05,
    };
    holds_numbers(overhead_of_table(&table, &by(None)))?;
    holds_numbers(overhead_of_table(&table, &by(Some("g"))))?;
    let surface = SurfaceOptions {
        column: "y".to_owned(),
        factors: vec!["x".to_owned(), "z".to_owned()],
        direction: Some(Direction::Minimize),
        alpha: 0.05,
    };
    holds_numbers(surface_of_table(&table, &surface))?;
    holds_numbers(correlations_of_table(&table, "y", &[]))
}

proptest! {
    #[test]
    fn no_table_makes_a_number_that_is_not_one(
        rows in prop::collection::vec(
            (prop_oneof![-3.0..3.0f64, Just(1.0)], 0..3u8, 0..2u8, prop_oneof![0.0..1.0f64, Just(0.5)]),
            2..14,
        ),
        formula in prop::sample::select(vec![
            "y ~ g*h", "y ~ x", "y ~ x*g", "y ~ g:h", "y ~ (g + h + x)^2", "y ~ 1", "y ~ h + x:g",
        ]),
        coding in prop::sample::select(vec![Coding::Raw, Coding::Coded]),
    ) {
        check(&rows, formula, coding)?;
    }

    #[test]
    fn exact_responses_are_no_exception(
        rows in prop::collection::vec((0..3u8, 0..2u8), 4..20), slope in -2.0..2.0f64,
    ) {
        let exact: Vec<(f64, u8, u8, f64)> = rows
            .iter()
            .map(|&(g, h)| (1.0 + slope * f64::from(h) + f64::from(g), g, h, f64::from(g)))
            .collect();
        check(&exact, "y ~ g*h", Coding::Raw)?;
        check(&exact, "y ~ h + x", Coding::Coded)?;
    }

    #[test]
    fn values_of_any_size_make_a_fit_of_numbers_or_an_error(
        rows in prop::collection::vec((any_size(), 0..3u8, 0..2u8, any_size()), 3..14),
        formula in prop::sample::select(vec!["y ~ g*h", "y ~ x", "y ~ x*g", "log(y) ~ g", "y ~ x + I(x^2)"]),
        coding in prop::sample::select(vec![Coding::Raw, Coding::Coded]),
    ) {
        check(&rows, formula, coding)?;
    }

    #[test]
    fn questions_about_values_of_any_size_have_numbers_or_an_error_for_an_answer(
        rows in prop::collection::vec((any_size(), any_size(), 0..2u8), 3..14),
    ) {
        ask_everything(&rows)?;
    }
}

#[test]
fn one_tiny_response_beside_ordinary_ones_is_analysed() {
    let rows = [(1e-120, 0, 0, 1.0), (2.0, 1, 0, 2.0), (3.0, 2, 1, 3.0), (5.0, 0, 1, 4.0)];
    check(&rows, "y ~ x", Coding::Coded).unwrap();
    check(&rows, "y ~ h", Coding::Raw).unwrap();
}

#[test]
fn steps_that_differ_by_one_in_a_thousand_million_make_a_line() {
    let rows = [(1.0, 1e9, 0), (2.0, 1e9 + 1.0, 0), (3.1, 1e9 + 2.0, 0), (4.0, 1e9 + 3.0, 0)];
    ask_everything(&rows).unwrap();
}
