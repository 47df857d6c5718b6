//! Whether an equation can be fitted in a time that somebody waits for.

use trainwright_stats::Intercept;

use crate::error::AnalysisError;
use crate::model::problem::Problem;
use crate::model::variable::Variable;

/// Rows times squared columns that are worked out; more is refused with an estimate.
///
/// Every fit and table decomposes the columns, which takes a time in proportion to this.
const MOST_WORK: f64 = 2e9;

/// Seconds that a unit of work takes, as measured with a column of 800 texts.
const SECONDS: f64 = 1e-8;

/// Refuses an equation of so many columns that fitting it would look like a standstill.
pub(crate) fn quick_enough(problem: &Problem) -> Result<(), AnalysisError> {
    let of_term = |term: &Vec<usize>| -> f64 {
        term.iter().map(|&v| columns_of(&problem.variables[v]) as f64).product()
    };
    let constant = if problem.intercept == Intercept::First { 1.0 } else { 0.0 };
    let columns = constant + problem.terms.iter().map(of_term).sum::<f64>();
    let rows = problem.y.len() as f64;
    // Columns beyond the rows are found dependent one by one, in as many steps as there are rows.
    let work = rows * columns * columns.min(rows);
    let widest = problem.variables.iter().max_by_key(|own| columns_of(own));
    let Some(widest) = widest.filter(|_| work > MOST_WORK) else { return Ok(()) };
    Err(AnalysisError::SlowEquation {
        columns: columns as usize,
        rows: problem.y.len(),
        column: widest.name.clone(),
        levels: widest.levels.len(),
        minutes: told(work * SECONDS),
    })
}

fn columns_of(variable: &Variable) -> usize {
    match (&variable.polynomials, &variable.raw) {
        (Some(own), _) => own.columns.len(),
        (None, Some(_)) => 1,
        (None, None) => variable.levels.len().saturating_sub(1),
    }
}

fn told(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{seconds:.0} seconds"),
        seconds if seconds < 5400.0 => format!("{:.0} minutes", seconds / 60.0),
        seconds => format!("{:.0} hours", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Formula, Table, TableOptions, TermOrder, analyze_table};

    fn refused(levels: usize, formula: &str) -> Option<String> {
        let rows: String =
            (0..levels).map(|at| format!("{},g{at:05},{at}\n", at * 7 % 11)).collect();
        let table = Table::from_csv(format!("y,g,x\n{rows}").as_bytes(), &[]).unwrap();
        let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
        let found = analyze_table(&table, &formula, &TableOptions::default());
        found.err().map(|error| error.to_string())
    }

    #[test]
    fn a_column_of_thousands_of_texts_is_refused_with_an_estimate() {
        let words = refused(3000, "y ~ x + g").unwrap();
        assert!(words.contains("3000 of them for the levels of `g`"), "{words}");
        assert!(words.contains("about 5 minutes"), "{words}");
        assert!(words.contains("stats anova --by"), "{words}");
        assert_eq!(refused(3000, "y ~ x"), None, "numbers take one column");
        assert_eq!(refused(60, "y ~ g"), None);
    }

    #[test]
    fn estimates_are_told_in_the_unit_that_people_would_use() {
        assert_eq!(
            [20.0, 270.0, 9000.0].map(told),
            ["20 seconds", "4 minutes", "2 hours"].map(ToOwned::to_owned)
        );
    }
}
