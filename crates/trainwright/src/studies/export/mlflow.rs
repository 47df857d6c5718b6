//! The verb `export` for MLflow: a study is an experiment, a trial a run.

use std::path::Path;

use trainwright_store::{Store, StoredTrial, TrackedMetric, TrackedRun, write_mlflow};
use trainwright_study::{Measurement, Series, Study, TrialState};

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
        metrics: metrics(&trial.measurements, series, [begun, ended]),
    }
}

/// Curves, and after each the value that counts where it is not the last one: MLflow takes what has
/// the highest step for the latest.
fn metrics(
    measurements: &[Measurement],
    series: &[Series],
    [begun, ended]: [i64; 2],
) -> Vec<TrackedMetric> {
    let logged = |own: &Series| own.name.strip_prefix(CURVE).map(str::to_owned);
    let mut all: Vec<TrackedMetric> = Vec::new();
    for own in series {
        let Some(key) = logged(own) else { continue };
        let point = |(step, (timestamp_ms, value))| TrackedMetric {
            key: key.clone(),
            value,
            timestamp_ms,
            step,
        };
        all.extend(steps(own).zip(moments(own, [begun, ended]).zip(own.values.clone())).map(point));
    }
    for measured in measurements {
        let curve = all.iter().filter(|own| own.key == measured.metric);
        let last = curve.max_by_key(|own| own.step).map(|own| (own.step, own.value));
        if last.is_some_and(|own| own.1 == measured.value) {
            continue;
        }
        let step = last.map_or(0, |own| own.0);
        let (key, value) = (measured.metric.clone(), measured.value);
        all.push(TrackedMetric { key, value, timestamp_ms: ended.max(begun + 1), step });
    }
    all
}

/// What the names of metrics' curves begin with.
const CURVE: &str = "metric.";
/// The axis of a curve that goes by seconds since the start.
const SECONDS: &str = "s";

/// The steps of a curve; where it goes by time its points are counted.
fn steps(curve: &Series) -> impl Iterator<Item = i64> {
    let by_time = curve.axis == SECONDS;
    curve.at.iter().zip(0..).map(move |(at, place)| if by_time { place } else { *at as i64 })
}

/// When the points of a curve were logged. Where nobody noted that, they are spread evenly over the
/// trial.
fn moments(curve: &Series, [begun, ended]: [i64; 2]) -> impl Iterator<Item = i64> {
    let (by_time, all) = (curve.axis == SECONDS, curve.at.len() as i64);
    curve.at.iter().zip(1..).map(move |(at, number)| match by_time {
        true => begun + (1000.0 * at) as i64,
        false => begun + (ended - begun) * number / all,
    })
}

/// A name for a run that is the same each time: FNV-1a of the study's name, and the trial's number.
fn run_id(study: &str, number: u32) -> String {
    let hash = study.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}{number:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, axis: &str, at: &[f64], values: &[f64]) -> Series {
        Series {
            name: format!("metric.{name}"),
            axis: axis.to_owned(),
            unit: String::new(),
            at: at.to_vec(),
            values: values.to_vec(),
        }
    }

    /// Key, value, time and step of what a trial that took ten seconds logged.
    fn told(measured: &[(&str, f64)], series: &[Series]) -> Vec<(String, f64, i64, i64)> {
        let own = |(metric, value): &(&str, f64)| Measurement {
            metric: (*metric).to_owned(),
            value: *value,
            in_range: true,
        };
        let measured: Vec<Measurement> = measured.iter().map(own).collect();
        let all = metrics(&measured, series, [1_000, 11_000]);
        all.into_iter().map(|own| (own.key, own.value, own.timestamp_ms, own.step)).collect()
    }

    #[test]
    fn each_step_is_told_once_at_a_time_of_its_own() {
        let loss = curve("loss", "step", &[1.0, 2.0, 4.0, 5.0], &[0.9, 0.5, 0.3, 0.2]);
        let points = told(&[("loss", 0.2)], std::slice::from_ref(&loss));
        let of = |value: f64, at: i64, step: i64| ("loss".to_owned(), value, at, step);
        let steps = [of(0.9, 3_500, 1), of(0.5, 6_000, 2), of(0.3, 8_500, 4), of(0.2, 11_000, 5)];
        assert_eq!(points, steps);
        // The smallest counts, which is not the last: MLflow's latest is what counts.
        let best = told(&[("loss", 0.1)], &[loss]);
        assert_eq!((best.len(), best[4].clone()), (5, of(0.1, 11_000, 5)));
    }

    #[test]
    fn curves_by_time_keep_their_times_and_what_no_study_declares_is_told_too() {
        let other = curve("grad", "s", &[0.5, 0.75], &[3.0, 4.0]);
        let of = |value: f64, at: i64, step: i64| ("grad".to_owned(), value, at, step);
        assert_eq!(told(&[], &[other]), [of(3.0, 1_500, 0), of(4.0, 1_750, 1)]);
        assert_eq!(told(&[("y", 2.0)], &[]), [("y".to_owned(), 2.0, 11_000, 0)]);
    }
}
