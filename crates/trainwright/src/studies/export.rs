//! The verb `export`: one row a planned trial.

use std::io::Write;

use serde_json::{Map, Value, json};
use trainwright_store::StoredTrial;
use trainwright_study::Study;

use crate::{Error, Results};

/// The trials as a CSV text: `trial, row, replicate, state, attempts`, factors, metrics; `block`
/// and `whole_plot` before the factors where runs are grouped.
///
/// # Errors
/// The text cannot be written.
pub fn export_csv(study: &Study, results: &Results, output: impl Write) -> Result<(), Error> {
    let failed = |error: csv::Error| Error::Request(format!("cannot write CSV: {error}"));
    let mut writer = csv::Writer::from_writer(output);
    let groups = Groups::of(results);
    writer.write_record(header(study, groups)).map_err(failed)?;
    for trial in &results.trials {
        let cells = row(study, groups, trial).into_iter().map(|(_, value)| match value {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        });
        writer.write_record(cells).map_err(failed)?;
    }
    writer.flush().map_err(|error| failed(error.into()))
}

/// The trials as JSON: an object with one entry of `rows` a trial.
pub fn export_json(study: &Study, results: &Results) -> Value {
    let groups = Groups::of(results);
    let rows: Vec<Value> =
        results.trials.iter().map(|trial| Value::Object(row(study, groups, trial))).collect();
    json!({ "schema": "trainwright/export/1", "study": study.name, "rows": rows })
}

/// The groups that trials ran in, where there are any.
#[derive(Clone, Copy)]
pub(crate) struct Groups {
    blocks: bool,
    whole_plots: bool,
}

impl Groups {
    pub(crate) fn of(results: &Results) -> Self {
        Self {
            blocks: results.trials.iter().any(|trial| trial.block.is_some()),
            whole_plots: results.trials.iter().any(|trial| trial.whole_plot.is_some()),
        }
    }
}

pub(crate) fn header(study: &Study, groups: Groups) -> impl Iterator<Item = &str> {
    ["trial", "row", "replicate", "state", "attempts"]
        .into_iter()
        .chain(groups.blocks.then_some("block"))
        .chain(groups.whole_plots.then_some("whole_plot"))
        .chain(study.factors.iter().map(|factor| factor.name.as_str()))
        .chain(study.metrics.iter().map(|metric| metric.name.as_str()))
}

/// The cells of a trial by column, in the order of the header.
pub(crate) fn row(study: &Study, groups: Groups, trial: &StoredTrial) -> Map<String, Value> {
    let mut cells = Map::new();
    let mut put = |name: &str, value: Value| {
        cells.insert(name.to_owned(), value);
    };
    put("trial", trial.number.into());
    put("row", trial.row.into());
    put("replicate", trial.replicate.into());
    put("state", trial.state.word().into());
    put("attempts", trial.attempts.into());
    if groups.blocks {
        put("block", trial.block.into());
    }
    if groups.whole_plots {
        put("whole_plot", trial.whole_plot.into());
    }
    for factor in &study.factors {
        put(&factor.name, json!(trial.configuration.get(&factor.name)));
    }
    for metric in &study.metrics {
        let measured = trial.measurements.iter().find(|own| own.metric == metric.name);
        put(&metric.name, json!(measured.map(|own| own.value)));
    }
    cells
}
