//! Problems, fits and analyses of small tables, which the tests of this crate share.

use trainwright_study::Direction;

use crate::fit::analyze_table::problem_of;
use crate::fit::fitted::Fitted;
use crate::model::complete_rows::CompleteRows;
use crate::model::problem::Problem;
use crate::{Analysis, Coding, Formula, Table, TableOptions, TermOrder, analyze_table};

/// A table of the columns in `header` and these rows.
pub(crate) fn table(header: &str, rows: &[&[f64]]) -> Table {
    let line = |row: &&[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    let csv = header.to_owned() + "\n" + &rows.iter().map(line).collect::<String>();
    Table::from_csv(csv.as_bytes(), &[]).unwrap()
}

fn parsed(formula: &str) -> Formula {
    Formula::parse(formula, TermOrder::Formula).unwrap()
}

/// The problem that a formula poses, in coded units.
pub(crate) fn problem(table: &Table, formula: &str) -> Problem {
    let options = TableOptions { coding: Coding::Coded, ..TableOptions::default() };
    let formula = parsed(formula);
    problem_of(table, CompleteRows::of(table, &formula).unwrap(), &formula, &options).unwrap()
}

/// The problem with its fit.
pub(crate) fn fitted(table: &Table, formula: &str) -> (Problem, Fitted) {
    let problem = problem(table, formula);
    let fitted = Fitted::new(&problem).unwrap();
    (problem, fitted)
}

/// The whole analysis in coded units.
pub(crate) fn analysis(table: &Table, formula: &str, direction: Option<Direction>) -> Analysis {
    let options = TableOptions { coding: Coding::Coded, direction, ..TableOptions::default() };
    analyze_table(table, &parsed(formula), &options).unwrap()
}

/// Two factors at two levels, each combination run twice: `a` adds 6, `b` adds 2 and both together
/// another 4, with repeats 1 apart.
pub(crate) fn two_by_two() -> Table {
    table(
        "a,b,y",
        &[
            &[1.0, 10.0, 9.5],
            &[1.0, 10.0, 10.5],
            &[2.0, 10.0, 15.5],
            &[2.0, 10.0, 16.5],
            &[1.0, 20.0, 11.5],
            &[1.0, 20.0, 12.5],
            &[2.0, 20.0, 21.5],
            &[2.0, 20.0, 22.5],
        ],
    )
}
