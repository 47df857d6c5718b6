//! Columns that a formula computes: `I(x^2)`, `log(x)`, `log10(x)`, `log2(x)`, `sqrt(x)`, `exp(x)`,
//! `abs(x)`, and the variables `poly(x, 3)` and `factor(x)`.

use std::collections::BTreeSet;
use std::fmt;

use trainwright_study::{EvaluateError, Expression, Scope, Value};

use crate::csv_table::{Column, Table};
use crate::error::AnalysisError;

/// Functions that may stand in a formula; `I` only protects what is inside.
pub(crate) const FUNCTIONS: [&str; 9] =
    ["I", "log", "log10", "log2", "sqrt", "exp", "abs", POLYNOMIAL, CATEGORY];

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
    Computed(Computed),
}

/// A column computed from others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Computed {
    expression: Expression,
    last: Last,
}

/// What is done to the value of an expression at the end, beyond what expressions know.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Last {
    Nothing,
    Log10,
    Log2,
}

impl Computed {
    /// Reads what a formula spells; `None` for the name of a plain column.
    pub(crate) fn parse(name: &str) -> Option<Result<Self, String>> {
        let (function, _) = name.split_once('(')?;
        let special = [POLYNOMIAL, CATEGORY].contains(&function);
        if special || !FUNCTIONS.contains(&function) || !name.ends_with(')') {
            return None;
        }
        let inside = &name[function.len() + 1..name.len() - 1];
        let (source, last) = match function {
            "I" => (inside, Last::Nothing),
            "log10" => (inside, Last::Log10),
            "log2" => (inside, Last::Log2),
            _ => (name, Last::Nothing),
        };
        let expression = Expression::parse(source).map_err(|error| error.message);
        Some(expression.map(|expression| Self { expression, last }))
    }

    /// The columns it needs.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        self.expression.names()
    }

    /// Its value, or why there is none.
    pub(crate) fn number(&self, scope: &Scope<'_>) -> Result<f64, String> {
        let inner = self.expression.number(scope).map_err(|error| match error {
            EvaluateError::MissingName { name, .. } => format!("column `{name}` is empty"),
            error => error.to_string(),
        })?;
        let value = match self.last {
            Last::Nothing => inner,
            Last::Log10 => inner.log10(),
            Last::Log2 => inner.log2(),
        };
        if value.is_finite() { Ok(value) } else { Err(format!("it is {value}")) }
    }
}

impl fmt::Display for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            Last::Nothing => self.expression.fmt(f),
            Last::Log10 => write!(f, "log10({})", self.expression),
            Last::Log2 => write!(f, "log2({})", self.expression),
        }
    }
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
        Computed::parse(name)?.ok().map(Self::Computed)
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

/// The values of a computed column in the chosen rows.
pub(crate) fn values(
    table: &Table,
    computed: &Computed,
    rows: impl Iterator<Item = usize>,
) -> Result<Vec<f64>, AnalysisError> {
    let refused = |line: u64, reason: String| AnalysisError::NotComputable {
        expression: computed.to_string(),
        line,
        reason,
    };
    let mut columns = Vec::new();
    for name in computed.names() {
        match table.column(name)? {
            Column::Numeric(cells) => columns.push((name, cells)),
            Column::Categorical(_) => {
                return Err(refused(1, format!("column `{name}` holds texts")));
            }
        }
    }
    let value = |row: usize| {
        let scope = |name: &str| {
            let (_, cells) = columns.iter().find(|(own, _)| *own == name)?;
            cells[row].map(Value::Number)
        };
        computed.number(&scope).map_err(|reason| refused(table.line(row), reason))
    };
    rows.map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str) -> Computed {
        Computed::parse(name).unwrap().unwrap()
    }

    fn number(name: &str, x: Option<f64>) -> Result<f64, String> {
        parsed(name).number(&|own: &str| if own == "x" { x.map(Value::Number) } else { None })
    }

    #[test]
    fn functions_of_a_formula_give_their_values() {
        for (name, expected) in [
            ("I(x^2 + 1)", 101.0),
            ("log10(x)", 1.0),
            ("log2(x - 2)", 3.0),
            ("sqrt(x + 6)", 4.0),
            ("abs(x - 12)", 2.0),
            ("log(exp(x))", 10.0),
        ] {
            let found = number(name, Some(10.0)).unwrap();
            assert!((found - expected).abs() < 1e-12, "{name}: {found}");
        }
    }

    #[test]
    fn values_that_do_not_exist_say_why() {
        assert_eq!(number("I(x)", None), Err("column `x` is empty".to_owned()));
        assert_eq!(number("log10(x)", Some(0.0)), Err("it is -inf".to_owned()));
        assert_eq!(number("log2(x)", Some(-1.0)), Err("it is NaN".to_owned()));
    }

    #[test]
    fn names_of_plain_columns_are_left_alone() {
        for name in ["x", "loss (val)", "mean(x)", "log(x", "poly(x, 2)", "factor(x)"] {
            assert!(Computed::parse(name).is_none(), "{name}");
        }
        assert!(Computed::parse("I(x +)").unwrap().is_err());
        assert!(Derived::of("time(s)").is_none());
        assert!(Derived::of("poly(x, 99)").is_none(), "a degree beyond all sense");
    }

    #[test]
    fn polynomials_are_named_as_r_names_them_however_they_are_written() {
        for inside in ["x, 2", "x,2", " x , degree = 2 ", "`x`, degree=2"] {
            assert_eq!(polynomial_name(inside).unwrap(), "poly(x, 2)", "{inside}");
        }
        assert_eq!(polynomial_name("x").unwrap(), "poly(x, 1)");
        for (inside, degree) in
            [("x, 0", "0"), ("x, 26", "26"), ("x, two", "two"), ("x, 1.5", "1.5")]
        {
            assert_eq!(
                polynomial_name(inside).unwrap_err(),
                format!("the degree `{degree}` of `poly` must be a whole number from 1 to 25")
            );
        }
        let Some(Derived::Polynomial { column, degree }) = Derived::of("poly(learning rate, 3)")
        else {
            panic!("it is a polynomial");
        };
        assert_eq!((column.as_str(), degree), ("learning rate", 3));
    }

    #[test]
    fn an_empty_cell_and_a_text_are_refused_where_they_stand() {
        let table = Table::from_csv("x,g\n4,a\n,b\n9,c\n".as_bytes(), &[]).unwrap();
        assert_eq!(values(&table, &parsed("sqrt(x)"), [0, 2].into_iter()).unwrap(), [2.0, 3.0]);
        let empty = values(&table, &parsed("sqrt(x)"), 0..3).unwrap_err().to_string();
        assert!(empty.contains("line 3") && empty.contains("column `x` is empty"), "{empty}");
        let text = values(&table, &parsed("sqrt(g)"), 0..3).unwrap_err().to_string();
        assert!(text.contains("column `g` holds texts"), "{text}");
    }
}
