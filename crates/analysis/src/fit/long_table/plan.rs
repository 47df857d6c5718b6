//! What is to be read from each row of a long table.

use crate::csv_table::{Column, Table};
use crate::error::AnalysisError;
use crate::model::complete_rows::{RowsLeftOut, predictors};
use crate::model::derived_columns::{Computed, Derived};
use crate::model::formula::Formula;
use crate::model::response::Response;

/// Columns to read, variables to make of them, and products to accumulate.
pub(super) struct Plan {
    /// Header of the file.
    pub(super) names: Vec<String>,
    /// First byte and line after it.
    pub(super) first_row: usize,
    pub(super) first_line: u64,
    pub(super) response: usize,
    pub(super) entering: Response,
    /// Columns that the variables are made of.
    pub(super) predictors: Vec<usize>,
    pub(super) variables: Vec<Planned>,
    /// Every term and all its parts, so that any coding is a linear change of the columns; the
    /// empty part is the intercept.
    pub(super) parts: Vec<Vec<usize>>,
    /// Columns that hold categories.
    pub(super) categorical: Vec<String>,
}

/// A variable of the equation.
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) source: Source,
    /// Powers of a polynomial; 1 elsewhere.
    pub(super) degree: usize,
    /// Centre and reach by which a polynomial's values are scaled; 0 and 1 elsewhere.
    pub(super) scale: (f64, f64),
}

/// Where its values come from.
pub(super) enum Source {
    /// Numbers of a column.
    Number(usize),
    /// Texts of a column.
    Text(usize),
    /// Computed from columns of numbers.
    Computed { computed: Computed, columns: Vec<(String, usize)> },
}

impl Plan {
    /// Reads the header and the kinds of the columns from the first rows.
    pub(super) fn new(
        head: &[u8],
        categorical: &[String],
        formula: &Formula,
    ) -> Result<Self, AnalysisError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(head);
        reader.headers()?;
        let (first_row, first_line) = (reader.position().byte() as usize, reader.position().line());
        let end = memchr::memrchr(b'\n', head).map_or(head.len(), |at| at + 1);
        let table = Table::from_csv(&head[..end], categorical)?;
        Ok(Self { first_row, first_line, ..Self::of_table(&table, formula)? })
    }

    /// The same from the columns of a table, which is taken from its start.
    pub(super) fn of_table(table: &Table, formula: &Formula) -> Result<Self, AnalysisError> {
        let names: Vec<String> = table.names().map(str::to_owned).collect();
        let place = |name: &str| names.iter().position(|own| own == name);
        table.column(&formula.response)?;
        let response = place(&formula.response).expect("the table has the column");
        let variables = formula
            .variables
            .iter()
            .map(|name| planned(table, name, &place))
            .collect::<Result<Vec<_>, _>>()?;
        let needed = predictors(table, formula);
        let needed = needed.iter().map(|name| place(name).expect("the table has the column"));
        let texts = names.iter().filter(|name| {
            matches!(table.column(name), Ok(Column::Categorical(_))) && **name != formula.response
        });
        Ok(Self {
            first_row: 0,
            first_line: 1,
            response,
            entering: Response::of(formula),
            predictors: needed.collect(),
            variables,
            parts: parts(&formula.terms),
            categorical: texts.cloned().collect(),
            names,
        })
    }

    /// The count of rows left out before the first one.
    pub(super) fn nothing_left_out(&self) -> RowsLeftOut {
        RowsLeftOut::nothing(self.predictors.iter().map(|&at| self.names[at].clone()).collect())
    }
}

fn planned(
    table: &Table,
    name: &str,
    place: &impl Fn(&str) -> Option<usize>,
) -> Result<Planned, AnalysisError> {
    let at = |column: &str| {
        let kind = table.column(column)?;
        Ok::<_, AnalysisError>((place(column).expect("the table has the column"), kind))
    };
    let plain = |source| Planned { name: name.to_owned(), source, degree: 1, scale: (0.0, 1.0) };
    let texts = |column: &str| AnalysisError::NotComputable {
        expression: name.to_owned(),
        line: 1,
        reason: format!("column `{column}` holds texts"),
    };
    match Derived::of(name).filter(|_| place(name).is_none()) {
        None => Ok(match at(name)? {
            (column, Column::Numeric(_)) => plain(Source::Number(column)),
            (column, Column::Categorical(_)) => plain(Source::Text(column)),
        }),
        Some(Derived::Category { column }) => Ok(plain(Source::Text(at(&column)?.0))),
        Some(Derived::Polynomial { column, degree }) => match at(&column)? {
            (place, Column::Numeric(cells)) => {
                let seen = || cells.iter().flatten();
                let low = seen().copied().fold(f64::INFINITY, f64::min);
                let high = seen().copied().fold(f64::NEG_INFINITY, f64::max);
                let reach = if high > low { 0.5 * (high - low) } else { 1.0 };
                let scale = (0.5 * (low + high), reach);
                Ok(Planned { degree, scale, ..plain(Source::Number(place)) })
            }
            _ => Err(texts(&column)),
        },
        Some(Derived::Computed(computed)) => {
            let mut columns = Vec::new();
            for name in computed.names() {
                match at(name)? {
                    (place, Column::Numeric(_)) => columns.push((name.to_owned(), place)),
                    _ => return Err(texts(name)),
                }
            }
            Ok(plain(Source::Computed { computed, columns }))
        }
    }
}

/// All subsets of all terms, the empty one first.
fn parts(terms: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![vec![]];
    for term in terms {
        let mut own: Vec<Vec<usize>> = vec![vec![]];
        for &variable in term {
            let with: Vec<Vec<usize>> =
                own.iter().map(|part| [part.as_slice(), &[variable]].concat()).collect();
            own.extend(with);
        }
        for part in own {
            if !found.contains(&part) {
                found.push(part);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_margin() {
        let found = parts(&[vec![0, 1], vec![2]]);
        assert_eq!(found, [vec![], vec![0], vec![1], vec![0, 1], vec![2]]);
    }
}
