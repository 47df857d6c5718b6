//! Reads the runs that MLflow keeps in an SQLite file.
//!
//! Only tables and columns that MLflow has had since version 1.2 are used, so that files of
//! versions 1 to 3 read.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::StoreError;

/// A run of MLflow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MlflowRun {
    /// What it is called.
    pub name: String,
    /// Whether it came to its end.
    pub finished: bool,
    /// Parameters, as texts.
    pub parameters: BTreeMap<String, String>,
    /// The last value of each metric.
    pub metrics: BTreeMap<String, f64>,
}

impl MlflowRun {
    /// Reads the runs of an experiment, oldest first; without a name those of the only experiment
    /// that has any. Deleted runs are passed over.
    ///
    /// # Errors
    /// The file is no store of MLflow, or has no such experiment.
    pub fn read(path: &Path, experiment: Option<&str>) -> Result<Vec<Self>, StoreError> {
        let failed = |source| StoreError::NotMlflow { path: path.to_owned(), source };
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|source| StoreError::from_sqlite(path, None, source))?;
        let all = experiments(&connection).map_err(failed)?;
        let wanted = |own: &&(i64, String)| experiment.is_none_or(|name| own.1 == name);
        let found: Vec<&(i64, String)> = all.iter().filter(wanted).collect();
        let [(id, _)] = found.as_slice() else {
            let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
            let (path, names) = (path.to_owned(), names.join(", "));
            return Err(StoreError::WhichExperiment { path, names });
        };
        runs(&connection, *id).map_err(failed)
    }

    /// Whether a file is a store of MLflow: it has the tables.
    pub fn is_store(path: &Path) -> bool {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table'
                      AND name IN ('experiments', 'runs', 'metrics', 'params')";
        let count =
            connection.and_then(|own| own.query_row(tables, [], |row| row.get::<_, u32>(0)));
        count.is_ok_and(|count| count == 4)
    }
}

/// Experiments that have runs.
fn experiments(connection: &Connection) -> rusqlite::Result<Vec<(i64, String)>> {
    connection
        .prepare(
            "SELECT experiment_id, name FROM experiments WHERE lifecycle_stage = 'active'
             AND experiment_id IN (SELECT experiment_id FROM runs) ORDER BY experiment_id",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

fn runs(connection: &Connection, experiment: i64) -> rusqlite::Result<Vec<MlflowRun>> {
    let mut parameters =
        connection.prepare("SELECT key, value FROM params WHERE run_uuid = ?1 ORDER BY key")?;
    // Not `latest_metrics`, which only a server of MLflow fills.
    let mut metrics = connection.prepare(
        "SELECT key, CASE WHEN is_nan THEN NULL ELSE value END FROM metrics WHERE run_uuid = ?1
         ORDER BY key, step, timestamp, value",
    )?;
    connection
        .prepare(
            "SELECT run_uuid, coalesce(name, ''), status FROM runs
             WHERE experiment_id = ?1 AND lifecycle_stage = 'active'
             ORDER BY start_time, run_uuid",
        )?
        .query_map([experiment], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .map(|found| {
            let (id, name, status): (String, String, String) = found?;
            Ok(MlflowRun {
                name,
                finished: status == "FINISHED",
                parameters: parameters
                    .query_map([&id], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect::<rusqlite::Result<_>>()?,
                metrics: last_values(metrics.query_map([&id], |row| {
                    Ok((row.get::<_, String>(0)?, row.get::<_, Option<f64>>(1)?))
                })?)?,
            })
        })
        .collect()
}

/// The last value of each metric; none where that is no number.
fn last_values(
    values: impl Iterator<Item = rusqlite::Result<(String, Option<f64>)>>,
) -> rusqlite::Result<BTreeMap<String, f64>> {
    let last: BTreeMap<String, Option<f64>> = values.collect::<rusqlite::Result<_>>()?;
    Ok(last.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by MLflow 3.17.2; `tests/data/README.md` says how.
    fn sample() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mlflow-3.17.2.db")
    }

    #[test]
    fn runs_are_read_with_their_parameters_and_last_values() {
        assert!(MlflowRun::is_store(&sample()));
        let runs = MlflowRun::read(&sample(), None).unwrap();
        assert_eq!(runs, MlflowRun::read(&sample(), Some("digits")).unwrap());
        assert_eq!(runs.iter().filter(|run| run.finished).count(), 4);
        assert_eq!(runs.len(), 5);
        let first = &runs[0];
        assert_eq!((first.name.as_str(), first.parameters["lr"].as_str()), ("sgd 0.01", "0.01"));
        assert_eq!(first.metrics["val/acc"], 0.89);
        // The last of three steps.
        assert!((first.metrics["loss"] - 0.1 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn another_experiment_and_another_file_are_refused() {
        let error = MlflowRun::read(&sample(), Some("other")).unwrap_err().to_string();
        assert!(error.contains("digits"), "{error}");
        let optuna = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/optuna-5.0.0.db");
        assert!(!MlflowRun::is_store(&optuna));
        let error = MlflowRun::read(&optuna, None).unwrap_err().to_string();
        assert!(error.contains("is no store of MLflow"), "{error}");
    }
}
