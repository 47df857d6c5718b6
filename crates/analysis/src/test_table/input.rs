//! Samples, groups and pairs out of a table's columns.

use std::collections::HashMap;

use trainwright_stats::StatsError;

use super::StatsTest;
use crate::csv_table::{Column, Table};

/// The numbers of one column.
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) values: Vec<f64>,
    /// Lines of the file that have no value.
    pub(super) left_out: Vec<u64>,
}

/// The numbers of one column, group by group.
pub(super) struct Groups {
    /// Names of the groups: numbers by size, texts by alphabet.
    pub(super) names: Vec<String>,
    pub(super) values: Vec<Vec<f64>>,
    pub(super) left_out: Vec<u64>,
    by: String,
}

/// The numbers of two columns in the rows that have both.
pub(super) struct Pairs {
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
    pub(super) left_out: Vec<u64>,
}

impl Sample {
    pub(super) fn read(table: &Table, name: &str) -> Result<Self, String> {
        let (mut values, mut left_out) = (Vec::new(), Vec::new());
        for (row, cell) in cells(table, name)?.iter().enumerate() {
            match cell {
                Some(value) => values.push(*value),
                None => left_out.push(table.line(row)),
            }
        }
        Ok(Self { name: name.to_owned(), values, left_out })
    }

    /// The same for tests to which the place of a value matters.
    pub(super) fn read_complete(table: &Table, name: &str) -> Result<Self, String> {
        let sample = Self::read(table, name)?;
        match sample.left_out.first() {
            Some(line) => Err(format!(
                "line {line}, column `{name}`: the cell is empty, but this test needs a value in \
                 every row"
            )),
            None => Ok(sample),
        }
    }

    pub(super) fn words(&self, error: &StatsError) -> String {
        format!("column `{}`: {error}", self.name)
    }
}

impl Groups {
    pub(super) fn read(table: &Table, column: &str, by: &str) -> Result<Self, String> {
        let values = cells(table, column)?;
        let Column::Categorical(keys) = table.column(by).map_err(|error| error.to_string())? else {
            unreachable!("the grouping column was read as text");
        };
        let mut left_out = Vec::new();
        let mut found: Vec<(&str, Vec<f64>)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (row, (value, key)) in values.iter().zip(keys).enumerate() {
            let (Some(value), line) = (value, table.line(row)) else {
                left_out.push(table.line(row));
                continue;
            };
            let key = key.as_deref().ok_or_else(|| {
                format!("line {line}, column `{by}`: the cell is empty, so the row has no group")
            })?;
            let place = *places.entry(key).or_insert_with(|| {
                found.push((key, Vec::new()));
                found.len() - 1
            });
            found[place].1.push(*value);
        }
        let number = |name: &str| name.parse::<f64>().ok();
        if found.iter().all(|(name, _)| number(name).is_some()) {
            let size = |name: &str| number(name).unwrap_or(f64::INFINITY);
            found.sort_by(|a, b| size(a.0).total_cmp(&size(b.0)).then_with(|| a.0.cmp(b.0)));
        } else {
            found.sort_by(|a, b| a.0.cmp(b.0));
        }
        let (names, values) =
            found.into_iter().map(|(name, group)| (name.to_owned(), group)).unzip();
        Ok(Self { names, values, left_out, by: by.to_owned() })
    }

    /// Why a test of two groups cannot be made.
    pub(super) fn not_two(&self, test: StatsTest) -> String {
        let found = self.names.len();
        let by = &self.by;
        format!("`{}` compares two groups, but column `{by}` names {found}", test.name())
    }

    /// An error with the name of the group it is about.
    pub(super) fn words(&self, error: &StatsError) -> String {
        let by = &self.by;
        match error {
            StatsError::ZeroVariance { group } => format!(
                "group `{}` of column `{by}` has zero variance, which makes the test statistic \
                 infinite",
                self.names[group - 1]
            ),
            StatsError::TooFew { needed, .. } => {
                match self.values.iter().position(|group| group.len() < *needed) {
                    Some(place) if self.names.len() > 1 => {
                        format!("group `{}` of column `{by}`: {error}", self.names[place])
                    }
                    _ => format!("column `{by}`: {error}"),
                }
            }
            other => format!("by column `{by}`: {other}"),
        }
    }
}

impl Pairs {
    pub(super) fn read(table: &Table, first: &str, second: &str) -> Result<Self, String> {
        let (left, right) = (cells(table, first)?, cells(table, second)?);
        let mut pairs = Self { first: Vec::new(), second: Vec::new(), left_out: Vec::new() };
        for (row, cells) in left.iter().zip(right).enumerate() {
            match cells {
                (Some(a), Some(b)) => {
                    pairs.first.push(*a);
                    pairs.second.push(*b);
                }
                _ => pairs.left_out.push(table.line(row)),
            }
        }
        Ok(pairs)
    }
}

/// The cells of a numeric column.
fn cells<'t>(table: &'t Table, name: &str) -> Result<&'t [Option<f64>], String> {
    match table.column(name).map_err(|error| error.to_string())? {
        Column::Numeric(cells) => Ok(cells),
        Column::Categorical(cells) => {
            let text = cells.iter().enumerate().find_map(|(row, cell)| {
                let text = cell.as_deref()?;
                text.parse::<f64>().is_err().then(|| (table.line(row), text))
            });
            Err(match text {
                Some((line, text)) => {
                    format!("line {line}, column `{name}`: `{text}` is not a number")
                }
                None => format!("column `{name}` holds no numbers to test"),
            })
        }
    }
}
