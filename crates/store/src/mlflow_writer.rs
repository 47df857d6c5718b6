//! Writes runs into an SQLite file that MLflow opens.
//!
//! The tables are those of MLflow 1.3, which every later version brings up to its own when it opens
//! the file: it then keeps the first revision at which all that we tell has a column.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use crate::StoreError;

/// A run as MLflow has it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackedRun {
    /// Names it: 32 hexadecimal digits.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// `FINISHED`, `FAILED` or `RUNNING`.
    pub status: &'static str,
    /// Milliseconds since 1970.
    pub begun_ms: Option<i64>,
    /// Milliseconds since 1970.
    pub ended_ms: Option<i64>,
    /// Where its files lie.
    pub folder: PathBuf,
    /// What was set.
    pub params: Vec<(String, String)>,
    /// What else is known.
    pub tags: Vec<(String, String)>,
    /// Values in the order in which they were measured; the last of a key counts.
    pub metrics: Vec<TrackedMetric>,
}

/// A value of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackedMetric {
    /// Names the metric.
    pub key: String,
    /// The value; it may be no number.
    pub value: f64,
    /// Milliseconds since 1970.
    pub timestamp_ms: i64,
    /// Where in the training.
    pub step: i64,
}

/// The revision of MLflow's tables.
const REVISION: &str = "7ac759974ad8";

const TABLES: &str = "
CREATE TABLE alembic_version (
  version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
CREATE TABLE experiments (
  experiment_id INTEGER NOT NULL, name VARCHAR(256) NOT NULL, artifact_location VARCHAR(256),
  lifecycle_stage VARCHAR(32),
  CONSTRAINT experiment_pk PRIMARY KEY (experiment_id),
  CONSTRAINT experiments_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')),
  UNIQUE (name));
CREATE TABLE runs (
  run_uuid VARCHAR(32) NOT NULL, name VARCHAR(250), source_type VARCHAR(20),
  source_name VARCHAR(500), entry_point_name VARCHAR(50), user_id VARCHAR(256),
  status VARCHAR(20), start_time BIGINT, end_time BIGINT, source_version VARCHAR(50),
  lifecycle_stage VARCHAR(20), artifact_uri VARCHAR(200), experiment_id INTEGER,
  CONSTRAINT run_pk PRIMARY KEY (run_uuid),
  CONSTRAINT source_type
    CHECK (source_type IN ('NOTEBOOK', 'JOB', 'LOCAL', 'UNKNOWN', 'PROJECT')),
  CONSTRAINT status CHECK (status IN ('SCHEDULED', 'FAILED', 'FINISHED', 'RUNNING')),
  CONSTRAINT runs_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')),
  FOREIGN KEY (experiment_id) REFERENCES experiments (experiment_id));
CREATE TABLE params (
  key VARCHAR(250) NOT NULL, value VARCHAR(250) NOT NULL, run_uuid VARCHAR(32) NOT NULL,
  CONSTRAINT param_pk PRIMARY KEY (key, run_uuid),
  FOREIGN KEY (run_uuid) REFERENCES runs (run_uuid));
CREATE TABLE metrics (
  key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL,
  run_uuid VARCHAR(32) NOT NULL, step BIGINT DEFAULT '0' NOT NULL,
  is_nan BOOLEAN DEFAULT '0' NOT NULL,
  CONSTRAINT metric_pk PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan),
  FOREIGN KEY (run_uuid) REFERENCES runs (run_uuid));
CREATE TABLE experiment_tags (
  key VARCHAR(250) NOT NULL, value VARCHAR(5000), experiment_id INTEGER NOT NULL,
  CONSTRAINT experiment_tag_pk PRIMARY KEY (key, experiment_id),
  FOREIGN KEY (experiment_id) REFERENCES experiments (experiment_id));
CREATE TABLE tags (
  key VARCHAR(250) NOT NULL, value VARCHAR(5000), run_uuid VARCHAR(32) NOT NULL,
  CONSTRAINT tag_pk PRIMARY KEY (key, run_uuid),
  FOREIGN KEY (run_uuid) REFERENCES runs (run_uuid));
";

/// Writes an experiment into a new file, which must not be there.
///
/// # Errors
/// The file cannot be written.
pub fn write_mlflow(path: &Path, experiment: &str, runs: &[TrackedRun]) -> Result<(), StoreError> {
    let failed = |source| StoreError::Other { path: path.to_owned(), source };
    let mut connection = Connection::open(path).map_err(failed)?;
    fill(&mut connection, experiment, runs).map_err(failed)
}

fn fill(
    connection: &mut Connection,
    experiment: &str,
    runs: &[TrackedRun],
) -> rusqlite::Result<()> {
    let change = connection.transaction()?;
    change.execute_batch(TABLES)?;
    change.execute("INSERT INTO alembic_version VALUES (?1)", [REVISION])?;
    change.execute(
        "INSERT INTO experiments (experiment_id, name, lifecycle_stage) VALUES (1, ?1, 'active')",
        [experiment],
    )?;
    for run in runs {
        change.prepare_cached(
            "INSERT INTO runs (run_uuid, name, source_type, source_name, entry_point_name, user_id,
             status, start_time, end_time, source_version, lifecycle_stage, artifact_uri,
             experiment_id) VALUES (?1, ?2, 'UNKNOWN', '', '', '', ?3, ?4, ?5, '', 'active', ?6, 1)",
        )?.execute(params![
            run.id,
            run.name,
            run.status,
            run.begun_ms,
            run.ended_ms,
            run.folder.to_string_lossy(),
        ])?;
        let mut param =
            change.prepare_cached("INSERT OR REPLACE INTO params VALUES (?1, ?2, ?3)")?;
        for (key, value) in &run.params {
            param.execute([key, value, &run.id])?;
        }
        let mut tag = change.prepare_cached("INSERT OR REPLACE INTO tags VALUES (?1, ?2, ?3)")?;
        for (key, value) in &run.tags {
            tag.execute([key, value, &run.id])?;
        }
        let mut metric = change
            .prepare_cached("INSERT OR REPLACE INTO metrics VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        for TrackedMetric { key, value, timestamp_ms, step } in &run.metrics {
            let (value, is_nan) = column(*value);
            metric.execute(params![key, value, timestamp_ms, run.id, step, is_nan])?;
        }
    }
    change.commit()
}

/// A value as MLflow keeps it: infinities are the largest numbers, and NaN is a zero with a mark.
fn column(value: f64) -> (f64, bool) {
    match value {
        value if value.is_nan() => (0.0, true),
        value => (value.clamp(-f64::MAX, f64::MAX), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_in_the_tables_and_a_second_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        let metric = |value, step| TrackedMetric { key: "y".into(), value, timestamp_ms: 5, step };
        let run = TrackedRun {
            id: "0".repeat(32),
            name: "trial 1".into(),
            status: "FINISHED",
            begun_ms: Some(1),
            ended_ms: None,
            folder: "f".into(),
            params: vec![("lr".into(), "0.1".into())],
            tags: vec![("who".into(), "me".into())],
            metrics: vec![metric(1.5, 0), metric(f64::NAN, 1), metric(f64::INFINITY, 2)],
        };
        write_mlflow(&path, "s", std::slice::from_ref(&run)).unwrap();
        let own = Connection::open(&path).unwrap();
        let values: Vec<(f64, bool)> = own
            .prepare("SELECT value, is_nan FROM metrics ORDER BY step")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(values, [(1.5, false), (0.0, true), (f64::MAX, false)]);
        assert!(write_mlflow(&path, "s", &[run]).is_err());
    }
}
