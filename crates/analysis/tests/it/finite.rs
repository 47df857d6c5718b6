//! Whatever the table, an analysis is an error or holds finite numbers only.

use proptest::prelude::*;
use trainwright_analysis::{Coding, Formula, Table, TableOptions, TermOrder, analyze_table};
use trainwright_study::Direction;

fn check(rows: &[(f64, u8, u8, f64)], formula: &str, coding: Coding) -> Result<(), TestCaseError> {
    let mut text = "y,g,h,x\n".to_owned();
    for (y, g, h, x) in rows {
        text.push_str(&format!("{y},g{g},{h},{x}\n"));
    }
    let table = Table::from_csv(text.as_bytes(), &[]).unwrap();
    let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
    let direction = Some(Direction::Maximize);
    let options = TableOptions { coding, direction, ..TableOptions::default() };
    if let Ok(analysis) = analyze_table(&table, &formula, &options) {
        // JSON would show NaN and infinity as null, so the numbers themselves are searched.
        let shown = format!("{analysis:?}");
        let bad = ["NaN", "inf,", "inf)", "inf ", "inf}"].iter().find(|b| shown.contains(*b));
        prop_assert!(bad.is_none(), "{:?} in {}", bad, shown);
    }
    Ok(())
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
}
