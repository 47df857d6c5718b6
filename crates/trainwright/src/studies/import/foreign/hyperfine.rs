//! Timings of hyperfine, as it exports them with `--export-json`: times of a command side by side
//! before version 2, a table for each run since.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use trainwright_study::Level;

use super::{ForeignFactor, ForeignMetric, ForeignRuns, ForeignValues, values_of};

/// The factor where commands have no parameters.
const COMMAND: &str = "command";
const TIME: &str = "time";

#[derive(Deserialize)]
struct Export {
    results: Vec<Timed>,
}

#[derive(Deserialize)]
struct Timed {
    command: String,
    #[serde(default)]
    times: Option<Vec<f64>>,
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
    /// Since version 2, in place of `times` and `exit_codes`.
    #[serde(default)]
    measurements: Vec<Measured>,
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    #[serde(default)]
    environment: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Measured {
    time_wall_clock: Quantity,
    exit_code: Option<i32>,
}

#[derive(Deserialize)]
struct Quantity {
    value: f64,
}

impl Timed {
    /// Seconds of every run and whether it ended well; nothing where only means are known.
    fn runs(&self) -> Option<Vec<(f64, bool)>> {
        if !self.measurements.is_empty() {
            let run = |own: &Measured| (own.time_wall_clock.value, own.exit_code == Some(0));
            return Some(self.measurements.iter().map(run).collect());
        }
        // Old files have no exit codes at all.
        let is_well = |run: usize| self.exit_codes.get(run).is_none_or(|own| *own == Some(0));
        let times = self.times.as_ref()?.iter().enumerate();
        Some(times.map(|(run, seconds)| (*seconds, is_well(run))).collect())
    }
}

/// Every single time is a result; those of commands that failed are left out.
pub(super) fn runs(text: &str) -> Result<ForeignRuns, String> {
    let export: Export = serde_json::from_str(text)
        .map_err(|error| format!("it is no JSON file of hyperfine: {error}"))?;
    let names: BTreeSet<&String> =
        export.results.iter().flat_map(|own| own.parameters.keys()).collect();
    let whole = export
        .results
        .iter()
        .all(|own| names.iter().all(|name| own.parameters.contains_key(*name)));
    if !whole {
        return Err(
            "its commands have different parameters; export them into files of their own".into()
        );
    }
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    let mut found =
        ForeignRuns { command: command(&export.results, &names), ..ForeignRuns::default() };
    let (mut failed, mut without) = (0, 0);
    for timed in &export.results {
        let mut set: BTreeMap<String, String> =
            names.iter().map(|name| ((*name).to_owned(), cell(&timed.parameters[*name]))).collect();
        if names.is_empty() {
            set.insert(COMMAND.to_owned(), timed.command.clone());
        }
        let Some(runs) = timed.runs() else {
            without += 1;
            continue;
        };
        for (seconds, is_well) in runs {
            if !is_well {
                failed += 1;
                continue;
            }
            let mut result = set.clone();
            result.insert(TIME.to_owned(), seconds.to_string());
            found.results.push(result);
        }
    }
    let factors = if names.is_empty() { vec![COMMAND] } else { names };
    factors.into_iter().for_each(|name| add_factor(name, &mut found));
    found.metrics.push(ForeignMetric {
        name: TIME.to_owned(),
        maximize: Some(false),
        keys: vec!["from = \"wall\"".to_owned(), "unit = \"s\"".to_owned()],
    });
    if failed > 0 {
        found.notes.push(format!("{failed} runs ended with an error and are left out"));
    }
    if without > 0 {
        found.notes.push(format!("{without} commands have no single times and are left out"));
    }
    found.notes.extend(left_behind(&export));
    Ok(found)
}

/// What a study cannot carry over, in words.
fn left_behind(export: &Export) -> Vec<String> {
    let means_only = export.results.iter().all(|own| own.measurements.is_empty());
    let usage = if means_only { " are known as means only" } else { " and memory of each run" };
    let mut notes = vec![
        "warm-up runs, `--setup` and `--prepare` are not in the file: see `warmup` and `prepare` of \
         [run]"
            .to_owned(),
        format!(
            "user and system time{usage}; `export --usage` has them for trials that run here"
        ),
    ];
    if export.results.iter().any(|own| !own.environment.is_empty()) {
        notes.push("variables that were set for single commands: see `env` of [run]".to_owned());
    }
    notes
}

/// What varies under this name becomes a factor, the rest a note.
fn add_factor(name: &str, found: &mut ForeignRuns) {
    let texts: Vec<&str> =
        found.results.iter().filter_map(|own| own.get(name)).map(String::as_str).collect();
    let values = match values_of(&texts) {
        // Commands are a factor however many there are.
        None if name == COMMAND && texts.iter().any(|own| *own != texts[0]) => {
            let texts: BTreeSet<&str> = texts.into_iter().collect();
            let levels = texts.into_iter().map(|text| Level::Text(text.to_owned()));
            Some(ForeignValues::Levels(levels.collect()))
        }
        values => values,
    };
    match values {
        Some(values) => found.factors.push(ForeignFactor { name: name.to_owned(), values }),
        None => found.notes.push(format!("`{name}` has one value only and is no factor")),
    }
}

/// The shell command with placeholders, where putting the parameters in gives every command.
fn command(results: &[Timed], names: &[&str]) -> Option<Vec<String>> {
    let shell = |script: String| vec!["sh".to_owned(), "-c".to_owned(), script];
    if names.is_empty() {
        return Some(shell(format!("{{{COMMAND}}}")));
    }
    let first = results.first()?;
    let mut script = first.command.clone();
    // Long values first, so that none is taken for a part of another.
    let mut values: Vec<(&str, String)> =
        names.iter().map(|name| (*name, cell(&first.parameters[*name]))).collect();
    values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    for (name, value) in &values {
        script = script.replace(value.as_str(), &format!("{{{name}}}"));
    }
    let gives = |timed: &Timed| {
        let filled = names.iter().fold(script.clone(), |text, name| {
            text.replace(&format!("{{{name}}}"), &cell(&timed.parameters[*name]))
        });
        filled == timed.command
    };
    results.iter().all(gives).then(|| shell(script))
}

/// A parameter's value, which stands in a table since version 2.
fn cell(value: &Value) -> String {
    let value = value.get("value").unwrap_or(value);
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
