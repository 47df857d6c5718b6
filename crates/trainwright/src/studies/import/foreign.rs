//! Runs that other programs kept, in one form: what `import` takes in and `init --from` describes.
//!
//! `kind.rs` tells whose file it is; each other file reads one kind. `study_file.rs` writes a study
//! for what was found.

mod hyperfine;
mod kind;
mod mlflow_folder;
mod optuna;
mod study_file;
mod sweep;
mod tensorboard;
mod wandb_table;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use trainwright_store::MlflowRun;
use trainwright_study::{Level, Study};

use crate::Error;
pub use kind::ForeignKind;
pub(crate) use study_file::study_file;

/// What was found in a file or folder of another program.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ForeignRuns {
    /// What was set, in order.
    pub(crate) factors: Vec<ForeignFactor>,
    /// What was measured.
    pub(crate) metrics: Vec<ForeignMetric>,
    /// Each result by the names of factors and metrics.
    pub(crate) results: Vec<BTreeMap<String, String>>,
    /// What ran, where it is known.
    pub(crate) command: Option<Vec<String>>,
    /// How it was searched, where it was.
    pub(crate) search: Option<ForeignSearch>,
    /// What could not be carried over, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// A knob.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForeignFactor {
    pub(crate) name: String,
    pub(crate) values: ForeignValues,
}

/// What a knob may be set to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ForeignValues {
    Levels(Vec<Level>),
    Range { from: Level, to: Level, log: bool },
}

/// Something measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ForeignMetric {
    pub(crate) name: String,
    /// Whether it is to be large or small, where that is known.
    pub(crate) maximize: Option<bool>,
    /// Further lines of its table in a study file.
    pub(crate) keys: Vec<String>,
}

/// How a search went about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForeignSearch {
    /// The word of the study file.
    pub(crate) method: &'static str,
    pub(crate) trials: usize,
    /// What it traded off, where that was more than one metric.
    pub(crate) objectives: Vec<String>,
    /// A further line of its table.
    pub(crate) early_stop: Option<String>,
}

/// Reads what another program kept; `which` names one of several studies or experiments.
///
/// # Errors
/// It cannot be read, is none of the kinds, or has nothing in it; file and place are named.
pub(crate) fn read(
    path: &Path,
    kind: ForeignKind,
    which: Option<&str>,
) -> Result<ForeignRuns, Error> {
    let refused = |message: String| Error::Import { file: path.to_owned(), message };
    match kind {
        ForeignKind::Optuna => Ok(optuna::runs(path, which)?),
        ForeignKind::MlflowSqlite => Ok(of_mlflow(MlflowRun::read(path, which)?)),
        ForeignKind::MlflowFolder => {
            mlflow_folder::read(path, which).map(of_mlflow).map_err(refused)
        }
        ForeignKind::Hyperfine => hyperfine::runs(&text(path)?).map_err(refused),
        ForeignKind::Tensorboard => tensorboard::runs(path).map_err(refused),
        ForeignKind::WandbRuns => wandb_table::runs(&text(path)?).map_err(refused),
        ForeignKind::WandbSweep => sweep::runs(&text(path)?).map_err(refused),
        ForeignKind::Csv => {
            Err(refused("it is a table, whose columns say nothing of roles".into()))
        }
    }
}

/// The text of a file.
///
/// # Errors
/// It cannot be read, or is no text.
pub(crate) fn text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::Input { path: path.to_owned(), source })
}

impl ForeignRuns {
    /// The results as CSV: a column for each factor and metric of any name that a study may want.
    pub(crate) fn table(&self) -> Vec<u8> {
        let names: BTreeSet<&String> = self.results.iter().flat_map(BTreeMap::keys).collect();
        let in_memory = "writing to memory cannot fail";
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(names.iter().map(|name| name.as_bytes())).expect(in_memory);
        for result in &self.results {
            let cells = names.iter().map(|name| result.get(*name).map_or("", String::as_str));
            writer.write_record(cells).expect(in_memory);
        }
        writer.into_inner().expect(in_memory)
    }

    /// Adds the column of each factor and metric of a study whose name had to be changed, as
    /// `init --from` changes it, and of the response where there is one objective.
    pub(crate) fn add_columns(&self, study: &Study, columns: &mut BTreeMap<String, String>) {
        let names: BTreeSet<&String> = self.results.iter().flat_map(BTreeMap::keys).collect();
        let factors = study.factors.iter().map(|own| &own.name);
        for own in factors.chain(study.metrics.iter().map(|own| &own.name)) {
            let found = names.iter().find(|name| crate::studies::init::identifier(name) == *own);
            if let Some(found) = found.filter(|found| **found != own) {
                columns.entry(own.clone()).or_insert_with(|| (*found).clone());
            }
        }
        // A program that knows one nameless objective leaves no doubt which it is.
        let response = &study.analysis.response;
        let first = self.metrics.iter().find(|own| own.name.starts_with(optuna::VALUE));
        if let Some(first) = first
            && !names.contains(response)
            && !columns.contains_key(response)
        {
            columns.insert(response.clone(), first.name.clone());
        }
    }
}

/// Runs of MLflow, however it kept them.
fn of_mlflow(runs: Vec<MlflowRun>) -> ForeignRuns {
    let all = runs.len();
    let finished: Vec<MlflowRun> = runs.into_iter().filter(|run| run.finished).collect();
    let mut notes = Vec::new();
    if finished.len() < all {
        notes.push(format!(
            "{} of {all} runs did not finish and are left out",
            all - finished.len()
        ));
    }
    notes.push(
        "of each metric the last value is the result; its other steps, tags and artifacts stay in \
         MLflow"
            .to_owned(),
    );
    let results = finished.into_iter().map(|run| {
        let values = run.metrics.into_iter().filter(|(_, value)| value.is_finite());
        let metrics: BTreeMap<_, _> =
            values.map(|(name, value)| (name, value.to_string())).collect();
        (run.parameters, metrics)
    });
    of_pairs(results.collect(), notes)
}

/// Most values that a parameter may have and still be given as levels.
const MOST_LEVELS: usize = 8;

/// What was set and what was measured.
type Pair = (BTreeMap<String, String>, BTreeMap<String, String>);

/// Results of which it is known what was set and what was measured.
fn of_pairs(results: Vec<Pair>, mut notes: Vec<String>) -> ForeignRuns {
    let names = |of: fn(&Pair) -> &BTreeMap<String, String>| {
        let all: BTreeSet<String> =
            results.iter().flat_map(|own| of(own).keys().cloned()).collect();
        all
    };
    let mut factors = Vec::new();
    for name in names(|own| &own.0) {
        let values: Vec<&str> =
            results.iter().filter_map(|own| own.0.get(&name)).map(String::as_str).collect();
        if values.len() < results.len() {
            notes.push(format!("`{name}` was not set in every run and is no factor"));
            continue;
        }
        match values_of(&values) {
            Some(values) => factors.push(ForeignFactor { name, values }),
            None if values.iter().all(|value| *value == values[0]) => {
                notes.push(format!("`{name}` was `{}` in every run and is no factor", values[0]));
            }
            None => notes.push(format!("`{name}` is a text of its own in most runs and no factor")),
        }
    }
    let metrics = names(|own| &own.1);
    let set: BTreeSet<String> = factors.iter().map(|own| own.name.clone()).collect();
    let metric = |name: String| ForeignMetric { name, ..ForeignMetric::default() };
    let (both, metrics): (Vec<_>, Vec<_>) = metrics.into_iter().partition(|own| set.contains(own));
    notes
        .extend(both.iter().map(|name| format!("the metric `{name}` has the name of a parameter")));
    // What is there in every run comes last, as the response.
    let (every, some): (Vec<String>, Vec<String>) =
        metrics.into_iter().partition(|name| results.iter().all(|own| own.1.contains_key(name)));
    ForeignRuns {
        factors,
        metrics: some.into_iter().chain(every).map(metric).collect(),
        results: results
            .into_iter()
            .map(|(parameters, mut values)| {
                values.extend(parameters);
                values
            })
            .collect(),
        notes,
        ..ForeignRuns::default()
    }
}

/// The levels or the range of what was found; nothing for a constant, and for texts without end.
fn values_of(found: &[&str]) -> Option<ForeignValues> {
    let mut levels: Vec<Level> = Vec::new();
    for text in found {
        let level = Level::parse(text);
        if !levels.iter().any(|own| own.same_as(&level)) {
            levels.push(level);
        }
    }
    let numbers: Option<Vec<f64>> = levels.iter().map(Level::number).collect();
    match numbers {
        _ if levels.len() < 2 => None,
        Some(numbers) => {
            levels.sort_by(|a, b| {
                a.number().partial_cmp(&b.number()).unwrap_or(std::cmp::Ordering::Equal)
            });
            if levels.len() <= MOST_LEVELS {
                return Some(ForeignValues::Levels(levels));
            }
            let (from, to) = (levels.first()?.clone(), levels.last()?.clone());
            // Values over three decades were hardly chosen on a plain scale.
            let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            Some(ForeignValues::Range { from, to, log: least > 0.0 && most / least >= 1000.0 })
        }
        None if levels.len() > MOST_LEVELS => None,
        // A factor has numbers or texts for levels, not both.
        None => {
            let mut texts: Vec<String> = found.iter().map(|text| (*text).to_owned()).collect();
            texts.sort();
            texts.dedup();
            Some(ForeignValues::Levels(texts.into_iter().map(Level::Text).collect()))
        }
    }
}

#[cfg(test)]
mod tests;
