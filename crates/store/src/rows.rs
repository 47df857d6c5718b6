//! Rows of the tables as studies, trials, series and progress; every function takes the version of
//! the store, because one that is only read is not migrated.

use std::collections::BTreeMap;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;

use trainwright_study::{ClusterTask, Machine, Measurement, Series, TrialState};

use crate::columns::unpack;
use crate::trial::{Circumstances, Progress, StoredStudy, StoredTrial};

/// The version that brought blocks and whole plots.
pub(crate) const STRATA: u32 = 2;
/// The version that brought circumstances, progress, change numbers and all attempts' time.
const CIRCUMSTANCES: u32 = 3;
/// The version that brought tasks of clusters.
const CLUSTER: u32 = 4;

/// The version that brought trials that somebody left out.
const EXCLUSION: u32 = 5;

/// The number of changes made so far; 0 in a store of an older version.
pub(crate) fn change(connection: &Connection, version: u32) -> rusqlite::Result<i64> {
    if version < CIRCUMSTANCES {
        return Ok(0);
    }
    connection.query_row("SELECT number FROM change", [], |row| row.get(0))
}

pub(crate) fn study(connection: &Connection, name: &str) -> rusqlite::Result<Option<StoredStudy>> {
    connection
        .prepare_cached("SELECT id, name, fixed, source FROM study WHERE name = ?1")?
        .query_row([name], read_study)
        .optional()
}

pub(crate) fn studies(connection: &Connection) -> rusqlite::Result<Vec<StoredStudy>> {
    connection
        .prepare_cached("SELECT id, name, fixed, source FROM study ORDER BY name")?
        .query_map([], read_study)?
        .collect()
}

pub(crate) fn machines(connection: &Connection, study: i64) -> rusqlite::Result<Vec<Machine>> {
    connection
        .prepare(
            "SELECT description FROM machine WHERE id IN
             (SELECT machine FROM trial WHERE study = ?1) ORDER BY id",
        )?
        .query_map([study], |row| read_json(row, 0))?
        .collect()
}

/// All trials of a study in run order.
pub(crate) fn trials(
    connection: &Connection,
    version: u32,
    study: i64,
) -> rusqlite::Result<Vec<StoredTrial>> {
    let circumstances = circumstances(connection, version)?;
    let mut measured = measurements(connection, study)?;
    let mut excluded = exclusions(connection, version, study)?;
    let strata = if version >= STRATA { "block, whole_plot" } else { "NULL, NULL" };
    let known = if version >= CIRCUMSTANCES { "circumstances, used_s" } else { "NULL, NULL" };
    connection
        .prepare_cached(&format!(
            "SELECT number, row, replicate, seed, configuration, state, attempts, imported,
             started_ms, command, usage, reason, output_end, {strata}, {known}
             FROM trial WHERE study = ?1 ORDER BY number",
        ))?
        .query_map([study], |row| {
            let mut trial = read_trial(row, &circumstances)?;
            trial.measurements = measured.remove(&trial.number).unwrap_or_default();
            trial.excluded = excluded.remove(&trial.number);
            Ok(trial)
        })?
        .collect()
}

/// The learning curves and telemetry of one trial.
pub(crate) fn series(
    connection: &Connection,
    study: i64,
    number: u32,
) -> rusqlite::Result<Vec<Series>> {
    connection
        .prepare_cached(
            "SELECT name, axis, unit, count, columns FROM series
             WHERE study = ?1 AND number = ?2 ORDER BY name",
        )?
        .query_map(params![study, number], |row| {
            let (count, columns): (u32, Vec<u8>) = (row.get(3)?, row.get(4)?);
            let (at, values) =
                unpack(&columns, count as usize).ok_or_else(|| damaged(number, "series", 4))?;
            Ok(Series { name: row.get(0)?, axis: row.get(1)?, unit: row.get(2)?, at, values })
        })?
        .collect()
}

/// Where a cluster ran the trials of a study, by their numbers.
pub(crate) fn cluster_tasks(
    connection: &Connection,
    version: u32,
    study: i64,
) -> rusqlite::Result<Vec<(u32, ClusterTask)>> {
    if version < CLUSTER {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached(
            "SELECT number, description FROM cluster_task WHERE study = ?1 ORDER BY number, place",
        )?
        .query_map([study], |row| {
            let (number, text): (u32, String) = (row.get(0)?, row.get(1)?);
            let task = serde_json::from_str(&text);
            Ok((number, task.map_err(|_| damaged(number, "cluster task", 1))?))
        })?
        .collect()
}

/// What the running trials of a study last told.
pub(crate) fn progress(
    connection: &Connection,
    version: u32,
    study: i64,
) -> rusqlite::Result<Vec<Progress>> {
    if version < CIRCUMSTANCES {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached(
            "SELECT number, elapsed_s, latest, told_ms FROM progress WHERE study = ?1
             ORDER BY number",
        )?
        .query_map([study], |row| {
            Ok(Progress {
                number: row.get(0)?,
                elapsed_s: row.get(1)?,
                latest: read_json(row, 2)?,
                told_ms: row.get(3)?,
            })
        })?
        .collect()
}

fn circumstances(
    connection: &Connection,
    version: u32,
) -> rusqlite::Result<BTreeMap<i64, Circumstances>> {
    if version < CIRCUMSTANCES {
        return Ok(BTreeMap::new());
    }
    connection
        .prepare_cached("SELECT id, description FROM circumstances")?
        .query_map([], |row| Ok((row.get(0)?, read_json(row, 1)?)))?
        .collect()
}

/// Why trials are left out of the analysis, by their numbers.
fn exclusions(
    connection: &Connection,
    version: u32,
    study: i64,
) -> rusqlite::Result<BTreeMap<u32, String>> {
    if version < EXCLUSION {
        return Ok(BTreeMap::new());
    }
    connection
        .prepare_cached("SELECT number, reason FROM exclusion WHERE study = ?1")?
        .query_map([study], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

fn measurements(
    connection: &Connection,
    study: i64,
) -> rusqlite::Result<BTreeMap<u32, Vec<Measurement>>> {
    let mut measured: BTreeMap<u32, Vec<Measurement>> = BTreeMap::new();
    let mut statement = connection.prepare_cached(
        "SELECT number, metric, value, in_range FROM measurement WHERE study = ?1 ORDER BY number",
    )?;
    let mut rows = statement.query([study])?;
    while let Some(row) = rows.next()? {
        measured.entry(row.get(0)?).or_default().push(Measurement {
            metric: row.get(1)?,
            value: row.get(2)?,
            in_range: row.get(3)?,
        });
    }
    Ok(measured)
}

fn read_study(row: &Row<'_>) -> rusqlite::Result<StoredStudy> {
    Ok(StoredStudy {
        id: row.get(0)?,
        name: row.get(1)?,
        fixed: read_json(row, 2)?,
        source: row.get(3)?,
    })
}

/// A trial without its measurements.
fn read_trial(
    row: &Row<'_>,
    circumstances: &BTreeMap<i64, Circumstances>,
) -> rusqlite::Result<StoredTrial> {
    let number = row.get(0)?;
    let state: String = row.get(5)?;
    let key: Option<i64> = row.get(15)?;
    Ok(StoredTrial {
        number,
        row: row.get(1)?,
        replicate: row.get(2)?,
        seed: row.get(3)?,
        configuration: json_of_trial(row, 4, number, "configuration")?
            .ok_or_else(|| damaged(number, "configuration", 4))?,
        state: TrialState::from_word(&state).ok_or_else(|| damaged(number, "state", 5))?,
        attempts: row.get(6)?,
        imported: row.get(7)?,
        started_ms: row.get(8)?,
        command: json_of_trial(row, 9, number, "command")?.unwrap_or_default(),
        usage: json_of_trial(row, 10, number, "usage")?,
        reason: row.get(11)?,
        output_end: row.get(12)?,
        block: row.get(13)?,
        whole_plot: row.get(14)?,
        circumstances: key.and_then(|key| circumstances.get(&key).cloned()),
        used_s: row.get::<_, Option<f64>>(16)?.unwrap_or(0.0),
        measurements: Vec::new(),
        excluded: None,
    })
}

/// A column of a trial that holds JSON, or nothing.
pub(crate) fn json_of_trial<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    number: u32,
    what: &'static str,
) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text).map_err(|_| damaged(number, what, column)))
        .transpose()
}

/// A column that holds JSON; damaged JSON is an error that names the column.
fn read_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

/// A value of a trial that cannot be what the store wrote.
#[derive(Debug, thiserror::Error)]
#[error("the {what} of trial {trial} is damaged")]
pub(crate) struct DamagedValue {
    pub(crate) trial: u32,
    pub(crate) what: &'static str,
}

pub(crate) fn damaged(trial: u32, what: &'static str, column: usize) -> rusqlite::Error {
    let error = Box::new(DamagedValue { trial, what });
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error)
}
