//! Columns that a formula computes: `I(x^2)`, `log(x)`, `sqrt(x)`, `exp(x)`, `abs(x)`, and the
//! variables `poly(x, 3)` and `factor(x)`.

use trainwright_study::{EvaluateError, Expression, Value};

use crate::error::AnalysisError;
use crate::table::{Column, Table};

/// Functions that may stand in a formula; `I` only protects what is inside.
pub(crate) const FUNCTIONS: [&str; 7] = ["I", "log", "sqrt", "exp", "abs", POLYNOMIAL, CATEGORY];

/// Orthogonal polynomials of a column.
pub(crate) const POLYNOMIAL: &str = "poly";

/// A column of numbers taken as categories.
pub(crate) const CATEGORY: &str = "factor";

/// Largest degree of a polynomial; beyond that the fit says nothing about the data.
const LARGEST_DEGREE: usize = 25;

/// A variable that a name asks for beyond a plain column.
#[derive(Debug)]
pub(crate) enum Derived {
    /// Powers of a column up to a degree, made orthogonal.
    Polynomial { column: String, degree: usize },
    /// A column taken as categories.
    Category { column: String },
    /// One computed column.
    Computed(Expression),
}

impl Derived {
    /// What a name asks for; `None` for the name of a plain column.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let inside = |function: &str| {
            name.strip_prefix(function)?.strip_prefix('(')?.strip_suffix(')').map(str::trim)
        };
        if let Some(parts) = inside(POLYNOMIAL) {
            let (column, degree) = polynomial(parts).ok()?;
            return Some(Self::Polynomial { column, degree });
        }
        if let Some(column) = inside(CATEGORY) {
            return Some(Self::Category { column: column.to_owned() });
        }
        expression(name)?.ok().map(Self::Computed)
    }
}

/// The name of a polynomial as R spells it, from what stands in its parentheses.
pub(crate) fn polynomial_name(inside: &str) -> Result<String, String> {
    let (column, degree) = polynomial(inside)?;
    Ok(format!("{POLYNOMIAL}({column}, {degree})"))
}

fn polynomial(inside: &str) -> Result<(String, usize), String> {
    let (column, degree) = inside.split_once(',').unwrap_or((inside, "1"));
    let degree = degree.trim();
    let number = degree
        .strip_prefix("degree")
        .map_or(degree, |rest| rest.trim_start().strip_prefix('=').map_or(degree, str::trim));
    match number.parse::<usize>() {
        Ok(degree) if (1..=LARGEST_DEGREE).contains(&degree) => {
            Ok((column.trim().trim_matches('`').to_owned(), degree))
        }
        _ => Err(format!(
            "the degree `{number}` of `poly` must be a whole number from 1 to {LARGEST_DEGREE}"
        )),
    }
}

/// The expression that a variable's name is, if it is one rather than a column's name.
pub(crate) fn expression(name: &str) -> Option<Result<Expression, String>> {
    let (function, _) = name.split_once('(')?;
    let special = [POLYNOMIAL, CATEGORY].contains(&function);
    if special || !FUNCTIONS.contains(&function) || !name.ends_with(')') {
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
