//! The verb `export`: one row a planned trial; other forms of the table have files of their own.

pub(crate) mod mlflow;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod spreadsheet;
pub(crate) mod trial_columns;
mod usage_columns;

use std::io::Write;

use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};
use trainwright_store::StoredTrial;
use trainwright_study::{Level, Study};

use crate::{Error, Results};
use usage_columns::usage_columns;

/// The trials of a study as a table; as JSON, an object with one entry of `rows` a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportTable {
    /// The study's name.
    pub study: String,
    /// Names of the columns: `trial, row, replicate, state, attempts`, factors, metrics; `block`
    /// and `whole_plot` before the factors where runs are grouped; what trials used after the
    /// metrics, where it is asked for; last `excluded`, with the reason, where a trial is left out.
    pub columns: Vec<String>,
    /// One row a planned trial, a cell a column; empty where the trial has nothing there.
    pub rows: Vec<Vec<Option<Level>>>,
}

impl ExportTable {
    /// The table of these results.
    pub fn new(study: &Study, results: &Results, usage: UsageColumns) -> Self {
        let groups = Groups::of(results);
        let mut table = Self {
            study: study.name.clone(),
            columns: columns(study, groups),
            rows: results.trials.iter().map(|trial| row(study, groups, trial)).collect(),
        };
        if usage == UsageColumns::Added {
            for (name, cells) in usage_columns(&results.trials) {
                table.columns.push(name);
                table.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
            }
        }
        if results.trials.iter().any(|trial| trial.excluded.is_some()) {
            table.columns.push("excluded".to_owned());
            for (row, trial) in table.rows.iter_mut().zip(&results.trials) {
                row.push(trial.excluded.clone().map(Level::Text));
            }
        }
        table
    }
}

/// Whether a table holds what trials used of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageColumns {
    /// After the metrics.
    Added,
    /// Not at all.
    LeftOut,
}

impl Serialize for ExportTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows: Vec<Row<'_>> = self.rows.iter().map(|cells| Row(&self.columns, cells)).collect();
        let mut table = serializer.serialize_struct("ExportTable", 2)?;
        table.serialize_field("study", &self.study)?;
        table.serialize_field("rows", &rows)?;
        table.end()
    }
}

/// A row as an object, its cells by column.
struct Row<'a>(&'a [String], &'a [Option<Level>]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.0.len()))?;
        for (column, cell) in self.0.iter().zip(self.1) {
            object.serialize_entry(column, cell)?;
        }
        object.end()
    }
}

/// The table as a CSV text.
///
/// # Errors
/// The text cannot be written.
pub fn export_csv(table: &ExportTable, output: impl Write) -> Result<(), Error> {
    let failed = |error: csv::Error| Error::Request(format!("cannot write CSV: {error}"));
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(&table.columns).map_err(failed)?;
    for cells in &table.rows {
        let texts = cells.iter().map(|cell| cell.as_ref().map(cell_text).unwrap_or_default());
        writer.write_record(texts).map_err(failed)?;
    }
    writer.flush().map_err(|error| failed(error.into()))
}

/// A cell as a text: numbers as in JSON, so that both exports agree to the last digit.
pub(crate) fn cell_text(cell: &Level) -> String {
    match cell {
        Level::Text(text) => text.clone(),
        other => serde_json::to_string(other).expect("numbers and truth values are JSON"),
    }
}

/// The groups that trials ran in, where there are any.
#[derive(Clone, Copy)]
struct Groups {
    blocks: bool,
    whole_plots: bool,
}

impl Groups {
    fn of(results: &Results) -> Self {
        Self {
            blocks: results.trials.iter().any(|trial| trial.block.is_some()),
            whole_plots: results.trials.iter().any(|trial| trial.whole_plot.is_some()),
        }
    }
}

fn columns(study: &Study, groups: Groups) -> Vec<String> {
    ["trial", "row", "replicate", "state", "attempts"]
        .into_iter()
        .chain(groups.blocks.then_some("block"))
        .chain(groups.whole_plots.then_some("whole_plot"))
        .chain(study.factors.iter().map(|factor| factor.name.as_str()))
        .chain(study.metrics.iter().map(|metric| metric.name.as_str()))
        .map(str::to_owned)
        .collect()
}

/// The cells of a trial in the order of the columns.
fn row(study: &Study, groups: Groups, trial: &StoredTrial) -> Vec<Option<Level>> {
    let whole = |number: u32| Level::Integer(number.into());
    let mut cells = vec![
        Some(whole(trial.number)),
        trial.row.map(whole),
        Some(whole(trial.replicate)),
        Some(Level::Text(trial.state.word().to_owned())),
        Some(whole(trial.attempts)),
    ];
    cells.extend(groups.blocks.then_some(trial.block.map(whole)));
    cells.extend(groups.whole_plots.then_some(trial.whole_plot.map(whole)));
    cells.extend(study.factors.iter().map(|own| trial.configuration.get(&own.name).cloned()));
    cells.extend(study.metrics.iter().map(|metric| {
        let measured = trial.measurements.iter().find(|own| own.metric == metric.name)?;
        // What is no number has no place in a column of numbers.
        measured.value.is_finite().then_some(Level::Number(measured.value))
    }));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::tests::{TWO_BY_TWO, finished, planned_trials, study};

    const NONE: Groups = Groups { blocks: false, whole_plots: false };

    #[test]
    fn cells_are_as_json_writes_them_and_texts_are_bare() {
        for (level, text) in [
            (Level::Integer(-3), "-3"),
            (Level::Number(0.1), "0.1"),
            (Level::Number(2.0), "2.0"),
            (Level::Number(1e-7), "1e-7"),
            (Level::Truth(true), "true"),
            (Level::Text("a \"b\", c".to_owned()), "a \"b\", c"),
        ] {
            assert_eq!(cell_text(&level), text);
        }
    }

    #[test]
    fn blocks_and_whole_plots_have_columns_only_where_runs_are_grouped() {
        let study = study(TWO_BY_TWO);
        assert_eq!(
            columns(&study, NONE),
            ["trial", "row", "replicate", "state", "attempts", "a", "b", "y"]
        );
        let both = Groups { blocks: true, whole_plots: true };
        assert_eq!(columns(&study, both)[5..7], ["block", "whole_plot"]);
        let mut trial = planned_trials(&study).remove(0);
        trial.block = Some(2);
        let cells = row(&study, both, &trial);
        assert_eq!(cells.len(), columns(&study, both).len());
        assert_eq!((&cells[5], &cells[6]), (&Some(Level::Integer(2)), &None));
    }

    #[test]
    fn what_is_no_number_leaves_its_cell_empty() {
        let study = study(TWO_BY_TWO);
        let trial = planned_trials(&study).remove(0);
        let last = |trial: &StoredTrial| row(&study, NONE, trial).pop().unwrap();
        assert_eq!(last(&trial), None);
        assert_eq!(last(&finished(trial.clone(), 2.5)), Some(Level::Number(2.5)));
        assert_eq!(last(&finished(trial.clone(), f64::INFINITY)), None);
        let outside = StoredTrial { row: None, ..finished(trial, 1.0) };
        assert_eq!(row(&study, NONE, &outside)[1], None);
    }

    #[test]
    fn a_cell_with_commas_and_quotes_is_read_back_as_it_was() {
        let text = "x,\"y\"\nz";
        let table = ExportTable {
            study: "s".to_owned(),
            columns: vec!["level".to_owned(), "y".to_owned()],
            rows: vec![vec![Some(Level::Text(text.to_owned())), None]],
        };
        let mut bytes = Vec::new();
        export_csv(&table, &mut bytes).unwrap();
        let record = csv::Reader::from_reader(bytes.as_slice()).records().next().unwrap().unwrap();
        assert_eq!((&record[0], &record[1]), (text, ""));
        let json = serde_json::to_string(&table).unwrap();
        assert_eq!(json, r#"{"study":"s","rows":[{"level":"x,\"y\"\nz","y":null}]}"#);
    }
}
