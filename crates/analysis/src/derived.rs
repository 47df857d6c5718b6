//! Columns that a formula computes: `I(x^2)`, `log(x)`, `sqrt(x)`, `exp(x)`, `abs(x)`.

use trainwright_study::{EvaluateError, Expression, Value};

use crate::error::AnalysisError;
use crate::table::{Column, Table};

/// Functions that may stand in a formula; `I` only protects what is inside.
pub(crate) const FUNCTIONS: [&str; 5] = ["I", "log", "sqrt", "exp", "abs"];

/// The expression that a variable's name is, if it is one rather than a column's name.
pub(crate) fn expression(name: &str) -> Option<Result<Expression, String>> {
    let (function, _) = name.split_once('(')?;
    if !FUNCTIONS.contains(&function) || !name.ends_with(')') {
        return None;
    }
    let source = match function {
        "I" => &name[2..name.len() - 1],
        _ => name,
    };
    Some(Expression::parse(source).map_err(|error| error.message))
}

/// The values of a computed column in the chosen rows.
pub(crate) fn values(
    table: &Table,
    expression: &Expression,
    rows: &[usize],
) -> Result<Vec<f64>, AnalysisError> {
    for name in expression.names() {
        if let Column::Categorical(_) = table.column(name)? {
            return Err(AnalysisError::NotComputable {
                expression: expression.to_string(),
                line: 1,
                reason: format!("column `{name}` holds texts"),
            });
        }
    }
    rows.iter().map(|&row| value(table, expression, row)).collect()
}

fn value(table: &Table, expression: &Expression, row: usize) -> Result<f64, AnalysisError> {
    let scope = |name: &str| match table.column(name) {
        Ok(Column::Numeric(cells)) => cells[row].map(Value::Number),
        _ => None,
    };
    let refused = |reason: String| AnalysisError::NotComputable {
        expression: expression.to_string(),
        line: table.line(row),
        reason,
    };
    match expression.number(&scope) {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) => Err(refused(format!("it is {value}"))),
        Err(EvaluateError::MissingName { name, .. }) => {
            Err(refused(format!("column `{name}` is empty")))
        }
        Err(error) => Err(refused(error.to_string())),
    }
}
