//! Trials in the store: planning, starting, ending, listing.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, params};

use trainwright_study::{
    Configuration, Measurement, Observation, PlannedTrial, Series, TrialRecord, TrialState, Usage,
};

use crate::columns::{pack, unpack};
use crate::store::now_ms;
use crate::{Store, StoreError};

/// A trial as the store knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTrial {
    /// Position in the run order, from 1.
    pub number: u32,
    /// Row of the design, from 1; absent for imported results that match no row.
    pub row: Option<u32>,
    /// Number among the repeats of that row, from 1.
    pub replicate: u32,
    /// Seed given to the trial.
    pub seed: u32,
    /// Block that it runs in, from 1.
    pub block: Option<u32>,
    /// Group of runs between which hard-to-change factors are set anew, from 1.
    pub whole_plot: Option<u32>,
    /// What runs.
    pub configuration: Configuration,
    /// Where it stands.
    pub state: TrialState,
    /// Times it was started.
    pub attempts: u32,
    /// Whether it was measured elsewhere.
    pub imported: bool,
    /// Start of the last attempt, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// The command line of the last attempt.
    pub command: Vec<String>,
    /// What the last attempt used.
    pub usage: Option<Usage>,
    /// Why it failed or diverged.
    pub reason: Option<String>,
    /// The last lines of its output.
    pub output_end: Option<String>,
    /// Metrics measured.
    pub measurements: Vec<Measurement>,
}

impl StoredTrial {
    /// The trial as the plan listed it; nothing for an imported trial outside the plan.
    pub fn planned(&self) -> Option<PlannedTrial> {
        Some(PlannedTrial {
            number: self.number,
            row: self.row,
            replicate: self.replicate,
            configuration: self.configuration.clone(),
            seed: self.seed,
            block: self.block,
            whole_plot: self.whole_plot,
        })
    }

    /// The trial reduced to what analysis needs.
    pub fn observation(&self) -> Observation {
        let values = self.measurements.iter().map(|m| (m.metric.clone(), m.value)).collect();
        Observation {
            trial: self.number,
            row: self.row,
            replicate: self.replicate,
            block: self.block,
            whole_plot: self.whole_plot,
            configuration: self.configuration.clone(),
            state: self.state,
            values,
        }
    }
}

/// An ended trial to keep.
#[derive(Debug)]
pub struct Ended<'a> {
    /// Which trial.
    pub number: u32,
    /// What came back.
    pub record: &'a TrialRecord,
    /// The machine it ran on, by its key.
    pub machine: i64,
}

/// A result measured elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTrial {
    /// The planned trial it fills; nothing for a configuration outside the design.
    pub fills: Option<u32>,
    /// What ran.
    pub configuration: Configuration,
    /// Number among the repeats of that configuration, from 1.
    pub replicate: u32,
    /// Metrics measured.
    pub measurements: Vec<Measurement>,
}

/// A trial that ran, with its place in a design changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedTrial {
    /// Which trial.
    pub number: u32,
    /// Its row and replicate now; nothing for a configuration outside the design.
    pub cell: Option<(u32, u32)>,
}

impl Store {
    /// Adds planned trials to a study.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn plan(&mut self, study: i64, trials: &[PlannedTrial]) -> Result<(), StoreError> {
        self.write(|connection| {
            let mut insert = connection.prepare(
                "INSERT INTO trial (study, number, row, replicate, seed, configuration, block,
                 whole_plot, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'planned')",
            )?;
            for trial in trials {
                let configuration = json(&trial.configuration);
                insert.execute(params![
                    study,
                    trial.number,
                    trial.row,
                    trial.replicate,
                    trial.seed,
                    configuration,
                    trial.block,
                    trial.whole_plot
                ])?;
            }
            Ok(())
        })
    }

    /// Drops planned trials that never ran and whose replicate is above `replications`.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn forget_plan(&mut self, study: i64, replications: u32) -> Result<(), StoreError> {
        self.write(|connection| {
            let untouched = "DELETE FROM trial WHERE study = ?1 AND replicate > ?2
                             AND attempts = 0 AND imported = 0 AND state = 'planned'";
            connection.execute(untouched, params![study, replications]).map(drop)
        })
    }

    /// Gives trials the rows and replicates that they have in a changed design, all or none.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn move_to_cells(&mut self, study: i64, trials: &[MovedTrial]) -> Result<(), StoreError> {
        self.write(|connection| {
            let mut update = connection.prepare(
                "UPDATE trial SET row = ?3, replicate = coalesce(?4, replicate)
                 WHERE study = ?1 AND number = ?2",
            )?;
            trials.iter().try_for_each(|MovedTrial { number, cell }| {
                let (row, replicate) = (cell.map(|own| own.0), cell.map(|own| own.1));
                update.execute(params![study, number, row, replicate]).map(drop)
            })
        })
    }

    /// Marks trials as running, one more attempt each.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn start(&mut self, study: i64, numbers: &[u32]) -> Result<(), StoreError> {
        self.write(|connection| mark_running(connection, study, numbers))
    }

    /// Keeps an ended trial and marks those that start next, as one change: one flush a trial.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn end(&mut self, study: i64, ended: &Ended<'_>, next: &[u32]) -> Result<(), StoreError> {
        self.write(|connection| {
            keep_end(connection, study, ended)?;
            mark_running(connection, study, next)
        })
    }

    /// Puts trials back to planned, such as those that a dead runner left running.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_back(&mut self, study: i64, numbers: &[u32]) -> Result<(), StoreError> {
        self.write(|connection| {
            let mut update = connection
                .prepare("UPDATE trial SET state = 'planned' WHERE study = ?1 AND number = ?2")?;
            numbers.iter().try_for_each(|number| update.execute(params![study, number]).map(drop))
        })
    }

    /// Keeps results measured elsewhere, all or none.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn import(&mut self, study: i64, trials: &[ImportedTrial]) -> Result<(), StoreError> {
        self.write(|connection| {
            let last = "SELECT coalesce(max(number), 0) FROM trial WHERE study = ?1";
            let mut next: u32 = connection.query_row(last, [study], |row| row.get(0))?;
            for trial in trials {
                let number = match trial.fills {
                    Some(number) => number,
                    None => {
                        next += 1;
                        connection.prepare_cached(
                            "INSERT INTO trial (study, number, replicate, seed, configuration, state)
                             VALUES (?1, ?2, ?3, 0, ?4, 'planned')",
                        )?
                        .execute(params![study, next, trial.replicate, json(&trial.configuration)])?;
                        next
                    }
                };
                connection
                    .prepare_cached(
                        "UPDATE trial SET state = 'finished', imported = 1, started_ms = ?3
                         WHERE study = ?1 AND number = ?2",
                    )?
                    .execute(params![study, number, now_ms()])?;
                keep_measurements(connection, study, number, &trial.measurements)?;
            }
            Ok(())
        })
    }

    /// All trials of a study in run order.
    ///
    /// # Errors
    /// The store cannot be read, or a trial in it is damaged.
    pub fn trials(&self, study: i64) -> Result<Vec<StoredTrial>, StoreError> {
        let mut measured: BTreeMap<u32, Vec<Measurement>> = BTreeMap::new();
        let rows = self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT number, metric, value, in_range FROM measurement
                 WHERE study = ?1 ORDER BY number",
            )?;
            let mut rows = statement.query([study])?;
            while let Some(row) = rows.next()? {
                measured.entry(row.get(0)?).or_default().push(Measurement {
                    metric: row.get(1)?,
                    value: row.get(2)?,
                    in_range: row.get(3)?,
                });
            }
            // A store that is only read is not migrated, so an old one lacks these columns.
            let strata = if has_strata(connection)? { "block, whole_plot" } else { "NULL, NULL" };
            connection
                .prepare_cached(&format!(
                    "SELECT number, row, replicate, seed, configuration, state, attempts, imported,
                     started_ms, command, usage, reason, output_end, {strata}
                     FROM trial WHERE study = ?1 ORDER BY number",
                ))?
                .query_map([study], RawTrial::read)?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        rows.into_iter()
            .map(|raw| {
                let measurements = measured.remove(&raw.number).unwrap_or_default();
                self.complete(raw, measurements)
            })
            .collect()
    }

    fn complete(
        &self,
        raw: RawTrial,
        measurements: Vec<Measurement>,
    ) -> Result<StoredTrial, StoreError> {
        let damaged =
            |what| StoreError::Damaged { path: self.path.clone(), what, trial: raw.number };
        let configuration =
            serde_json::from_str(&raw.configuration).map_err(|_| damaged("configuration"))?;
        let state = TrialState::from_word(&raw.state).ok_or_else(|| damaged("state"))?;
        let usage = match &raw.usage {
            Some(text) => Some(serde_json::from_str(text).map_err(|_| damaged("usage"))?),
            None => None,
        };
        let command = match &raw.command {
            Some(text) => serde_json::from_str(text).map_err(|_| damaged("command"))?,
            None => Vec::new(),
        };
        Ok(StoredTrial {
            number: raw.number,
            row: raw.row,
            replicate: raw.replicate,
            seed: raw.seed,
            block: raw.block,
            whole_plot: raw.whole_plot,
            configuration,
            state,
            attempts: raw.attempts,
            imported: raw.imported,
            started_ms: raw.started_ms,
            command,
            usage,
            reason: raw.reason,
            output_end: raw.output_end,
            measurements,
        })
    }

    /// The learning curves and telemetry of one trial.
    ///
    /// # Errors
    /// The store cannot be read, or a series in it is damaged.
    pub fn series(&self, study: i64, number: u32) -> Result<Vec<Series>, StoreError> {
        let rows = self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT name, axis, unit, count, columns FROM series
                     WHERE study = ?1 AND number = ?2 ORDER BY name",
                )?
                .query_map(params![study, number], |row| {
                    let (count, columns): (u32, Vec<u8>) = (row.get(3)?, row.get(4)?);
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, count, columns))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        rows.into_iter()
            .map(|(name, axis, unit, count, columns)| {
                let (at, values) = unpack(&columns, count as usize).ok_or_else(|| {
                    StoreError::Damaged { path: self.path.clone(), what: "series", trial: number }
                })?;
                Ok(Series { name, axis, unit, at, values })
            })
            .collect()
    }
}

struct RawTrial {
    number: u32,
    row: Option<u32>,
    replicate: u32,
    seed: u32,
    configuration: String,
    state: String,
    attempts: u32,
    imported: bool,
    started_ms: Option<i64>,
    command: Option<String>,
    usage: Option<String>,
    reason: Option<String>,
    output_end: Option<String>,
    block: Option<u32>,
    whole_plot: Option<u32>,
}

impl RawTrial {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            number: row.get(0)?,
            row: row.get(1)?,
            replicate: row.get(2)?,
            seed: row.get(3)?,
            configuration: row.get(4)?,
            state: row.get(5)?,
            attempts: row.get(6)?,
            imported: row.get(7)?,
            started_ms: row.get(8)?,
            command: row.get(9)?,
            usage: row.get(10)?,
            reason: row.get(11)?,
            output_end: row.get(12)?,
            block: row.get(13)?,
            whole_plot: row.get(14)?,
        })
    }
}

/// Whether trials have columns for block and whole plot.
fn has_strata(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT count(*) FROM pragma_table_info('trial') WHERE name = 'whole_plot'",
        [],
        |row| Ok(row.get::<_, u32>(0)? > 0),
    )
}

fn mark_running(connection: &Connection, study: i64, numbers: &[u32]) -> rusqlite::Result<()> {
    for number in numbers {
        connection
            .prepare_cached(
                "UPDATE trial SET state = 'running', attempts = attempts + 1, started_ms = ?3
                 WHERE study = ?1 AND number = ?2",
            )?
            .execute(params![study, number, now_ms()])?;
    }
    Ok(())
}

fn keep_end(connection: &Connection, study: i64, ended: &Ended<'_>) -> rusqlite::Result<()> {
    let Ended { number, record, machine } = *ended;
    connection
        .prepare_cached(
            "UPDATE trial SET state = ?3, started_ms = ?4, machine = ?5, command = ?6,
             environment = ?7, usage = ?8, reason = ?9, output_end = ?10
             WHERE study = ?1 AND number = ?2",
        )?
        .execute(params![
            study,
            number,
            record.outcome.state().word(),
            record.started_ms,
            machine,
            json(&record.command),
            json(&record.environment),
            record.usage.as_ref().map(json),
            record.outcome.reason(),
            record.output_end,
        ])?;
    keep_measurements(connection, study, number, &record.measurements)?;
    connection
        .prepare_cached("DELETE FROM series WHERE study = ?1 AND number = ?2")?
        .execute(params![study, number])?;
    for series in &record.series {
        connection
            .prepare_cached(
                "INSERT INTO series (study, number, name, axis, unit, count, columns)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                study,
                number,
                series.name,
                series.axis,
                series.unit,
                series.at.len() as u32,
                pack(&series.at, &series.values),
            ])?;
    }
    Ok(())
}

fn keep_measurements(
    connection: &Connection,
    study: i64,
    number: u32,
    measurements: &[Measurement],
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM measurement WHERE study = ?1 AND number = ?2")?
        .execute(params![study, number])?;
    for measurement in measurements {
        connection
            .prepare_cached(
                "INSERT INTO measurement (study, number, metric, value, in_range)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                study,
                number,
                measurement.metric,
                measurement.value,
                measurement.in_range
            ])?;
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data becomes JSON")
}
