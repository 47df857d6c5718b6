//! The trials of a study as columns of one kind each, for programs that compute with them.

use std::path::Path;

use trainwright_study::{Level, Study};

use crate::{Error, ExportTable, Results, UsageColumns};

/// One row a planned trial, as [`ExportTable`] has it, by columns.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialColumns {
    /// Number of trials.
    pub rows: usize,
    /// The columns in order.
    pub columns: Vec<TrialColumn>,
}

/// A column of trials.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialColumn {
    /// Its name.
    pub name: String,
    /// A cell a trial.
    pub cells: Cells,
}

/// Cells of one kind; nothing where a trial has no value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Truth values.
    Truths(Vec<Option<bool>>),
    /// Texts, and levels of a factor whose kinds differ.
    Texts(Vec<Option<String>>),
}

/// Reads the trials of a study as columns.
///
/// # Errors
/// There are no results, or the store cannot be read.
pub fn trial_columns(
    study: &Study,
    store: Option<&Path>,
    usage: UsageColumns,
) -> Result<TrialColumns, Error> {
    let results = Results::read(study, store)?;
    Ok(TrialColumns::of(study, ExportTable::new(study, &results, usage)))
}

impl TrialColumns {
    fn of(study: &Study, table: ExportTable) -> Self {
        let rows = table.rows.len();
        let mut cells: Vec<Vec<Option<Level>>> =
            table.columns.iter().map(|_| Vec::with_capacity(rows)).collect();
        for row in table.rows {
            cells.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
        }
        let column = |(name, cells): (String, Vec<Option<Level>>)| {
            let cells = match kind(&cells) {
                // A metric that nobody has measured yet is a number too.
                None if study.metric(&name).is_some() => Cells::Numbers(vec![None; rows]),
                None => Cells::Integers(vec![None; rows]),
                Some(kind) => of_kind(kind, cells),
            };
            TrialColumn { name, cells }
        };
        let columns = table.columns.into_iter().zip(cells).map(column).collect();
        Self { rows, columns }
    }
}

/// The kind of cells that holds all of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integers,
    Numbers,
    Truths,
    Texts,
}

fn kind(cells: &[Option<Level>]) -> Option<Kind> {
    let own = |level: &Level| match level {
        Level::Integer(_) => Kind::Integers,
        Level::Number(_) => Kind::Numbers,
        Level::Truth(_) => Kind::Truths,
        Level::Text(_) => Kind::Texts,
    };
    cells.iter().flatten().map(own).reduce(|a, b| match (a, b) {
        _ if a == b => a,
        (Kind::Integers, Kind::Numbers) | (Kind::Numbers, Kind::Integers) => Kind::Numbers,
        _ => Kind::Texts,
    })
}

fn of_kind(kind: Kind, cells: Vec<Option<Level>>) -> Cells {
    let cells = cells.into_iter();
    match kind {
        Kind::Integers => Cells::Integers(
            cells
                .map(|cell| if let Some(Level::Integer(own)) = cell { Some(own) } else { None })
                .collect(),
        ),
        Kind::Numbers => Cells::Numbers(cells.map(|cell| cell?.number()).collect()),
        Kind::Truths => Cells::Truths(
            cells
                .map(|cell| if let Some(Level::Truth(own)) = cell { Some(own) } else { None })
                .collect(),
        ),
        Kind::Texts => Cells::Texts(
            cells
                .map(|cell| {
                    Some(match cell? {
                        Level::Text(own) => own,
                        other => other.to_string(),
                    })
                })
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::tests::{TWO_BY_TWO, study};

    #[test]
    fn a_column_has_the_kind_that_holds_all_its_cells() {
        let text = |own: &str| Some(Level::Text(own.to_owned()));
        let table = ExportTable {
            study: "s".to_owned(),
            columns: ["i", "n", "t", "w", "y", "row"].map(str::to_owned).to_vec(),
            rows: vec![
                vec![
                    Some(Level::Integer(1)),
                    Some(Level::Integer(1)),
                    Some(Level::Truth(true)),
                    text("a"),
                    None,
                    None,
                ],
                vec![None, Some(Level::Number(0.5)), None, Some(Level::Integer(2)), None, None],
            ],
        };
        let own = TrialColumns::of(&study(TWO_BY_TWO), table);
        let cells: Vec<Cells> = own.columns.into_iter().map(|column| column.cells).collect();
        assert_eq!(
            cells,
            [
                Cells::Integers(vec![Some(1), None]),
                Cells::Numbers(vec![Some(1.0), Some(0.5)]),
                Cells::Truths(vec![Some(true), None]),
                Cells::Texts(vec![Some("a".to_owned()), Some("2".to_owned())]),
                Cells::Numbers(vec![None, None]),
                Cells::Integers(vec![None, None]),
            ]
        );
    }
}
