//! Columns of a table by name, as comparisons, scaling fits and correlations read them.

use std::collections::{HashMap, HashSet};

use trainwright_study::Level;

use crate::csv_table::{Column, Table, is_missing};
use crate::error::AnalysisError;

/// The cells of a column that must hold numbers.
pub(crate) fn numbers<'t>(
    table: &'t Table,
    name: &str,
) -> Result<&'t [Option<f64>], AnalysisError> {
    let cells = match table.column(name)? {
        Column::Numeric(cells) => return Ok(cells),
        Column::Categorical(cells) => cells,
    };
    let mut texts = cells.iter().enumerate().filter_map(|(row, cell)| Some((row, cell.as_ref()?)));
    match texts.find(|(_, text)| !is_missing(text) && text.parse::<f64>().is_err()) {
        Some((row, value)) => Err(AnalysisError::TextColumn {
            name: name.to_owned(),
            line: table.line(row),
            value: value.clone(),
        }),
        None => Err(AnalysisError::NoNumbers { name: name.to_owned() }),
    }
}

/// The level in every row of a column; an empty cell is an error.
pub(crate) fn levels(table: &Table, name: &str) -> Result<Vec<Level>, AnalysisError> {
    let empty =
        |row: usize| AnalysisError::EmptyFactor { line: table.line(row), column: name.to_owned() };
    let level = |row: usize| match table.column(name)? {
        Column::Numeric(cells) => {
            let value = cells[row].ok_or_else(|| empty(row))?;
            Ok(Level::of(value))
        }
        Column::Categorical(cells) => {
            Ok(Level::parse(cells[row].as_deref().ok_or_else(|| empty(row))?))
        }
    };
    (0..table.rows()).map(level).collect()
}

/// Distinct levels: numbers by size, other levels by alphabet.
pub(crate) fn distinct(levels: &[Level]) -> Vec<Level> {
    let mut seen = HashSet::new();
    let mut found: Vec<Level> =
        levels.iter().filter(|level| seen.insert(level.identity())).cloned().collect();
    if found.iter().all(|level| level.number().is_some()) {
        let size = |level: &Level| level.number().unwrap_or(f64::INFINITY);
        found.sort_by(|a, b| size(a).total_cmp(&size(b)));
    } else {
        found.sort_by_cached_key(Level::to_string);
    }
    found
}

/// The place of each level among those listed, found without going through all of them.
pub(crate) struct Places(HashMap<String, usize>);

impl Places {
    pub(crate) fn new(levels: &[Level]) -> Self {
        Self(levels.iter().enumerate().map(|(place, own)| (own.identity(), place)).collect())
    }

    /// The place of a level that is listed.
    pub(crate) fn of(&self, level: &Level) -> usize {
        *self.0.get(&level.identity()).expect("every level is listed")
    }
}
