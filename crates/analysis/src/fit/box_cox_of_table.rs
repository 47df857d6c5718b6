//! The power of a response that a table and a formula ask for.

use trainwright_stats::{BoxCox, StatsError, box_cox};

use crate::csv_table::Table;
use crate::error::AnalysisError;
use crate::fit::analysis::BoxCoxSummary;
use crate::model::complete_rows::CompleteRows;
use crate::model::formula::Formula;
use crate::model::model_matrix::{Coding, Contrasts, ModelMatrix, Scheme};
use crate::model::variable::Variable;

/// Finds the power of a formula's response under which its equation fits best with normal
/// residuals, and the number of rows that have all its columns.
///
/// # Errors
/// A column that is missing, empty or of the wrong kind, a response that is not
/// positive or already a logarithm, or an equation that leaves no residuals.
pub fn box_cox_of_table(
    table: &Table,
    formula: &Formula,
) -> Result<(BoxCoxSummary, usize), AnalysisError> {
    if formula.is_logarithmic() {
        return Err(AnalysisError::Formula {
            formula: formula.text.clone(),
            position: 1,
            problem: "a Box-Cox power is that of the response itself, but a logarithm stands"
                .to_owned(),
        });
    }
    let CompleteRows { rows, y, .. } = CompleteRows::of(table, formula)?;
    let variables = formula
        .variables
        .iter()
        .map(|name| Variable::from_table(table, name, &rows))
        .collect::<Result<Vec<_>, _>>()?;
    let stats = |source| match source {
        StatsError::NotPositive { position, value } => AnalysisError::PowerOfNonPositive {
            name: formula.response.clone(),
            line: table.line(rows[position - 1]),
            value,
        },
        source => AnalysisError::Stats { response: formula.response.clone(), source },
    };
    let scheme = Scheme { coding: Coding::Raw, contrasts: Contrasts::Treatment };
    let matrix =
        ModelMatrix::new(&variables, formula.equation(), scheme, y.len()).map_err(stats)?;
    let found = box_cox(&matrix.columns, &y).map_err(stats)?;
    let BoxCox { lambda, low, high, .. } = found;
    let summary = BoxCoxSummary { lambda, low, high, profile: Vec::new() };
    Ok((summary, y.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::formula::TermOrder;

    #[track_caller]
    fn refused(csv: &str, formula: &str, message: &str) {
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
        assert_eq!(box_cox_of_table(&table, &formula).unwrap_err().to_string(), message);
    }

    #[test]
    fn responses_without_a_power_are_refused_by_line() {
        refused(
            "y,g\n1,a\n,a\n-2,b\n3,b\n",
            "y ~ g",
            "a Box-Cox power of `y` needs positive values, but line 4 holds -2",
        );
        refused(
            "y,g\n1,a\n2,b\n",
            "log(y) ~ g",
            "formula `log(y) ~ g`: a Box-Cox power is that of the response itself, but a \
             logarithm stands at character 1",
        );
        let table = Table::from_csv("y,g\n1,a\n2,b\n".as_bytes(), &[]).unwrap();
        let formula = Formula::parse("y ~ g", TermOrder::Formula).unwrap();
        assert!(box_cox_of_table(&table, &formula).is_err());
    }
}
