//! The verb `export` for MLflow: a study is an experiment, a trial a run.

use std::path::Path;

use trainwright_store::{Store, StoredTrial, TrackedMetric, TrackedRun, write_mlflow};
use trainwright_study::{Series, Study, TrialState};

use crate::{Error, Results};

/// Writes trials that have begun into an SQLite file of MLflow, which it opens as
/// `sqlite:///FILE`; curves become the history of their metrics.
///
/// # Errors
/// The file is there already, or the store cannot be read or the file not written.
pub fn export_mlflow(study: &Study, results: &Results, path: &Path) -> Result<(), Error> {
    if path.exists() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    let unwritable = |source| Error::Folder { path: path.to_owned(), source };
    let folder = path.parent().filter(|own| !own.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Whole or not at all: it gets its name when it is complete.
    let made =
        tempfile::Builder::new().prefix(".mlflow-").tempdir_in(folder).map_err(unwritable)?;
    let file = made.path().join("mlflow.db");
    let runs = tracked_runs(study, results, Curves::Added)?;
    write_mlflow(&file, &study.name, &runs)?;
    std::fs::rename(&file, path).map_err(unwritable)
}

/// The studies of a store, as their files were when they were last run; those that do not load any
/// more are passed over.
///
/// # Errors
/// The store cannot be read.
pub fn tracked_studies(store: &Path) -> Result<Vec<Study>, Error> {
    let Some(snapshot) = Store::look(store)? else { return Ok(Vec::new()) };
    let studies = snapshot.studies()?;
    Ok(studies.iter().filter_map(|own| Study::from_text(&own.source).ok()).collect())
}

/// Whether runs have the curves of their metrics or the last values alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curves {
    /// Every value.
    Added,
    /// The value that counts.
    LeftOut,
}

/// The trials of a study that have begun, as runs of MLflow.
///
/// # Errors
/// The store cannot be read.
pub fn tracked_runs(
    study: &Study,
    results: &Results,
    curves: Curves,
) -> Result<Vec<TrackedRun>, Error> {
    let begun = results.trials.iter().filter(|trial| trial.state != TrialState::Planned);
    let run = |trial: &StoredTrial| {
        let series = match curves {
            Curves::Added => results.series(trial.number)?,
            Curves::LeftOut => Vec::new(),
        };
        Ok(tracked_run(study, results, trial, &series))
    };
    begun.map(run).collect()
}

fn tracked_run(
    study: &Study,
    results: &Results,
    trial: &StoredTrial,
    series: &[Series],
) -> TrackedRun {
    let begun = trial.started_ms.unwrap_or(0);
    let seconds = trial.usage.as_ref().map_or(0.0, |usage| usage.wall_s);
    let ended = begun + (seconds * 1000.0) as i64;
    let status = match trial.state {
        TrialState::Finished => "FINISHED",
        TrialState::Running => "RUNNING",
        _ => "FAILED",
    };
    let folder = results.place.trial(trial.number);
    let mut tags = vec![
        ("mlflow.runName".to_owned(), format!("trial {}", trial.number)),
        ("trainwright.state".to_owned(), trial.state.to_string()),
        ("trainwright.replicate".to_owned(), trial.replicate.to_string()),
    ];
    tags.extend(trial.row.map(|row| ("trainwright.row".to_owned(), row.to_string())));
    tags.extend(trial.reason.clone().map(|reason| ("trainwright.reason".to_owned(), reason)));
    let configuration = trial.configuration.iter();
    TrackedRun {
        id: run_id(&study.name, trial.number),
        name: format!("trial {}", trial.number),
        status,
        begun_ms: trial.started_ms,
        ended_ms: trial.started_ms.filter(|_| status != "RUNNING").map(|_| ended),
        folder: std::path::absolute(&folder).unwrap_or(folder),
        params: configuration.map(|(name, level)| (name.to_string(), level.to_string())).collect(),
        tags,
        metrics: metrics(trial, series, [begun, ended]),
    }
}

/// Curves, and after each the value that counts, which MLflow takes for the latest.
fn metrics(trial: &StoredTrial, series: &[Series], [begun, ended]: [i64; 2]) -> Vec<TrackedMetric> {
    let mut all = Vec::new();
    let curve =
        |metric: &str| series.iter().find(|own| own.name.strip_prefix("metric.") == Some(metric));
    for measured in &trial.measurements {
        let mut last = 0;
        let points = curve(&measured.metric).map(|own| own.at.iter().zip(&own.values));
        for (at, value) in points.into_iter().flatten() {
            last = last.max(*at as i64);
            let (key, step) = (measured.metric.clone(), *at as i64);
            all.push(TrackedMetric { key, value: *value, timestamp_ms: begun, step });
        }
        let (key, value) = (measured.metric.clone(), measured.value);
        all.push(TrackedMetric { key, value, timestamp_ms: ended.max(begun + 1), step: last });
    }
    all
}

/// A name for a run that is the same each time: FNV-1a of the study's name, and the trial's number.
fn run_id(study: &str, number: u32) -> String {
    let hash = study.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}{number:016x}")
}
