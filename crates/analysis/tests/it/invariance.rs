//! What must not change: fits under recoding, types on balanced data, tables under reordering.

use proptest::prelude::*;
use trainwright_analysis::{
    Analysis, AnovaType, Coding, Formula, Table, TableOptions, TermOrder, analyze_table,
};

use crate::support::rows;

fn analyze(text: &str, formula: &str, coding: Coding, order: TermOrder) -> Analysis {
    let table = Table::from_csv(text.as_bytes(), &[]).unwrap();
    let formula = Formula::parse(formula, order).unwrap();
    analyze_table(&table, &formula, &TableOptions { coding, ..TableOptions::default() }).unwrap()
}

/// A 2 x 3 layout with two observations a cell, numbers and a category.
fn layout(y: &[f64]) -> String {
    let mut text = "y,x,g\n".to_owned();
    for (index, y) in y.iter().enumerate() {
        text.push_str(&format!("{y},{},g{}\n", 4 + index % 2, index / 2 % 3));
    }
    text
}

fn squares(analysis: &Analysis, kind: AnovaType) -> Vec<(String, f64)> {
    let mut found: Vec<(String, f64)> = rows(analysis, kind)
        .iter()
        .filter(|r| r.term != "(Intercept)")
        .map(|r| (r.term.clone(), r.sum_sq.unwrap()))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[track_caller]
fn same(a: &[(String, f64)], b: &[(String, f64)]) {
    for (left, right) in a.iter().zip(b) {
        assert_eq!(left.0, right.0);
        assert!((left.1 - right.1).abs() < 1e-8 * (1.0 + left.1), "{left:?} {right:?}");
    }
}

proptest! {
    #[test]
    fn balanced_data_give_one_table_whatever_the_type(
        y in prop::collection::vec(-10.0..10.0f64, 12),
    ) {
        let found = analyze(&layout(&y), "y ~ x*g", Coding::Coded, TermOrder::Formula);
        let one = squares(&found, AnovaType::One);
        same(&one, &squares(&found, AnovaType::Two));
        same(&one, &squares(&found, AnovaType::Three));
    }

    #[test]
    fn recoding_and_reordering_leave_type_two_alone(
        y in prop::collection::vec(-10.0..10.0f64, 12), dropped in 0..12usize,
    ) {
        let text = layout(&y);
        let kept: Vec<&str> = text.lines().enumerate().filter(|(i, _)| *i != dropped + 1)
            .map(|(_, line)| line).collect();
        let text = kept.join("\n");
        let raw = analyze(&text, "y ~ x*g", Coding::Raw, TermOrder::Formula);
        let coded = analyze(&text, "y ~ g + x + x:g", Coding::Coded, TermOrder::Degree);
        prop_assert!((raw.fit.r2 - coded.fit.r2).abs() < 1e-9);
        let rename = |rows: Vec<(String, f64)>| -> Vec<(String, f64)> {
            let mut rows: Vec<_> = rows.into_iter().map(|(term, ss)| {
                (if term == "g:x" { "x:g".to_owned() } else { term }, ss)
            }).collect();
            rows.sort_by(|a, b| a.0.cmp(&b.0));
            rows
        };
        same(&rename(squares(&raw, AnovaType::Two)), &rename(squares(&coded, AnovaType::Two)));
    }
}
