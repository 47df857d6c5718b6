//! Changes to a store: planning, starting, ending, importing, reading outputs again.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use serde_json::Value;

use trainwright_study::{
    ClusterTask, Configuration, Machine, Measurement, Outcome, PlannedTrial, Series, TrialRecord,
    Usage,
};

use crate::columns::pack;
use crate::store::now_ms;
use crate::{Circumstances, Store, StoreError, Superseded};

/// A study and all that its plan gains and loses, kept as one change.
#[derive(Debug, Clone, Default)]
pub struct PlanUpdate<'a> {
    /// The study's name.
    pub name: &'a str,
    /// What its trials depend on.
    pub fixed: Value,
    /// Text of the study file.
    pub source: &'a str,
    /// Trials that were planned, never ran and are wanted no more.
    pub forgotten: Vec<u32>,
    /// Trials whose place in the design is another one now.
    pub moved: Vec<MovedTrial>,
    /// Configurations that gained factors which have joined since, by trial.
    pub joined: Vec<(u32, Configuration)>,
    /// Trials that were not planned before.
    pub added: Vec<PlannedTrial>,
    /// Trials whose outputs were read again.
    pub reread: Vec<Reread>,
}

/// A trial that ran, with its place in a design changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedTrial {
    /// Which trial.
    pub number: u32,
    /// Its row and replicate now; nothing for a configuration outside the design.
    pub cell: Option<(u32, u32)>,
}

/// What changed rules found in the kept outputs of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Reread {
    /// Which trial.
    pub number: u32,
    /// How it ended, by the changed rules.
    pub outcome: Outcome,
    /// What they found.
    pub measurements: Vec<Measurement>,
    /// The learning curves among its series.
    pub curves: Vec<Series>,
    /// The rules.
    pub rules: Value,
    /// What earlier rules found, where the outputs are gone.
    pub superseded: Option<Superseded>,
}

/// An ended trial to keep.
#[derive(Debug)]
pub struct Ended<'a> {
    /// Which trial.
    pub number: u32,
    /// What came back.
    pub record: &'a TrialRecord,
    /// Variables of its environment; a value only where the study lets it be kept.
    pub environment: BTreeMap<String, Option<String>>,
    /// The machine it ran on, by its key.
    pub machine: i64,
    /// What was true when it ran, by its key.
    pub circumstances: i64,
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

impl Store {
    /// Leaves a trial out of analyses from now on, and keeps why; without a reason it counts again.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn exclude(
        &mut self,
        study: i64,
        number: u32,
        reason: Option<&str>,
    ) -> Result<(), StoreError> {
        self.write(|connection| {
            match reason {
                Some(reason) => connection
                    .prepare_cached(
                        "INSERT INTO exclusion VALUES (?1, ?2, ?3, ?4)
                         ON CONFLICT (study, number) DO UPDATE SET reason = ?3, excluded_ms = ?4",
                    )?
                    .execute(params![study, number, reason, now_ms()])?,
                None => connection
                    .prepare_cached("DELETE FROM exclusion WHERE study = ?1 AND number = ?2")?
                    .execute(params![study, number])?,
            };
            Ok(())
        })
    }

    /// Keeps a study and what its plan gains and loses, all or none; gives the study's key.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn update_plan(&mut self, update: &PlanUpdate<'_>) -> Result<i64, StoreError> {
        self.write(|connection| {
            let study = keep_study(connection, update)?;
            forget(connection, study, &update.forgotten)?;
            for (number, configuration) in &update.joined {
                connection
                    .prepare_cached(
                        "UPDATE trial SET configuration = ?3 WHERE study = ?1 AND number = ?2",
                    )?
                    .execute(params![study, number, json(configuration)])?;
            }
            for MovedTrial { number, cell } in &update.moved {
                connection
                    .prepare_cached(
                        "UPDATE trial SET row = ?3, replicate = coalesce(?4, replicate)
                         WHERE study = ?1 AND number = ?2",
                    )?
                    .execute(params![
                        study,
                        number,
                        cell.map(|own| own.0),
                        cell.map(|own| own.1)
                    ])?;
            }
            for trial in &update.added {
                insert(connection, study, trial)?;
            }
            for own in &update.reread {
                keep_reread(connection, study, own)?;
            }
            Ok(study)
        })
    }

    /// Marks trials as running, one more attempt each; those that nobody planned are added.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn start(&mut self, study: i64, trials: &[PlannedTrial]) -> Result<(), StoreError> {
        self.write(|connection| mark_running(connection, study, trials))
    }

    /// Keeps an ended trial and marks those that start next, as one change: one flush a trial.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn end(
        &mut self,
        study: i64,
        ended: &Ended<'_>,
        next: &[PlannedTrial],
    ) -> Result<(), StoreError> {
        self.write(|connection| {
            keep_end(connection, study, ended)?;
            mark_running(connection, study, next)
        })
    }

    /// Keeps what a running trial told, for others to see; values that are not finite are left out.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn tell_progress(
        &mut self,
        study: i64,
        number: u32,
        elapsed_s: f64,
        latest: &[(String, f64)],
    ) -> Result<(), StoreError> {
        // JSON has no NaN: one would make the progress of the whole study unreadable.
        let finite = latest.iter().filter(|(_, value)| value.is_finite());
        let latest: BTreeMap<&str, f64> =
            finite.map(|(name, value)| (name.as_str(), *value)).collect();
        self.write(|connection| {
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO progress (study, number, elapsed_s, latest, told_ms)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![study, number, elapsed_s, json(&latest), now_ms()])
                .map(drop)
        })
    }

    /// Puts trials back to planned, such as those that a dead runner left running; the time that
    /// they were seen to run still counts.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_back(&mut self, study: i64, numbers: &[u32]) -> Result<(), StoreError> {
        self.write(|connection| {
            for number in numbers {
                connection
                    .prepare_cached(
                        "UPDATE trial SET state = 'planned', used_s = used_s + coalesce((SELECT
                         elapsed_s FROM progress WHERE study = ?1 AND number = ?2), 0)
                         WHERE study = ?1 AND number = ?2",
                    )?
                    .execute(params![study, number])?;
                forget_progress(connection, study, *number)?;
            }
            Ok(())
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
                        insert(connection, study, &unplanned(next, trial))?;
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

    /// Keeps a machine's description and gives its key.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn keep_machine(&mut self, machine: &Machine) -> Result<i64, StoreError> {
        self.write(|connection| key_of(connection, "machine", &json(machine)))
    }

    /// Keeps what is true of the trials that run now and gives its key.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn keep_circumstances(&mut self, own: &Circumstances) -> Result<i64, StoreError> {
        self.write(|connection| key_of(connection, "circumstances", &json(own)))
    }
}

/// The key of a description in a table of them.
fn key_of(connection: &Connection, table: &str, description: &str) -> rusqlite::Result<i64> {
    connection.query_row(
        &format!(
            "INSERT INTO {table} (description) VALUES (?1)
             ON CONFLICT (description) DO UPDATE SET description = ?1 RETURNING id"
        ),
        [description],
        |row| row.get(0),
    )
}

fn keep_study(connection: &Connection, update: &PlanUpdate<'_>) -> rusqlite::Result<i64> {
    connection.query_row(
        "INSERT INTO study (name, fixed, source, created_ms) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (name) DO UPDATE SET fixed = ?2, source = ?3 RETURNING id",
        params![update.name, update.fixed.to_string(), update.source, now_ms()],
        |row| row.get(0),
    )
}

fn forget(connection: &Connection, study: i64, numbers: &[u32]) -> rusqlite::Result<()> {
    for number in numbers {
        connection
            .prepare_cached(
                "DELETE FROM trial WHERE study = ?1 AND number = ?2
                 AND attempts = 0 AND imported = 0 AND state = 'planned'",
            )?
            .execute(params![study, number])?;
    }
    Ok(())
}

fn insert(connection: &Connection, study: i64, trial: &PlannedTrial) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO trial (study, number, row, replicate, seed, configuration, block,
             whole_plot, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'planned')",
        )?
        .execute(params![
            study,
            trial.number,
            trial.row,
            trial.replicate,
            trial.seed,
            json(&trial.configuration),
            trial.block,
            trial.whole_plot
        ])
        .map(drop)
}

fn unplanned(number: u32, trial: &ImportedTrial) -> PlannedTrial {
    PlannedTrial {
        number,
        row: None,
        replicate: trial.replicate,
        configuration: trial.configuration.clone(),
        seed: 0,
        block: None,
        whole_plot: None,
    }
}

fn mark_running(
    connection: &Connection,
    study: i64,
    trials: &[PlannedTrial],
) -> rusqlite::Result<()> {
    for trial in trials {
        let mut mark = connection.prepare_cached(
            "UPDATE trial SET state = 'running', attempts = attempts + 1, started_ms = ?3
             WHERE study = ?1 AND number = ?2",
        )?;
        let known = mark.execute(params![study, trial.number, now_ms()])?;
        if known == 0 {
            insert(connection, study, trial)?;
            mark.execute(params![study, trial.number, now_ms()])?;
        }
    }
    Ok(())
}

fn keep_end(connection: &Connection, study: i64, ended: &Ended<'_>) -> rusqlite::Result<()> {
    let Ended { number, record, environment, machine, circumstances } = ended;
    connection
        .prepare_cached(
            "UPDATE trial SET state = ?3, started_ms = ?4, machine = ?5, command = ?6,
             environment = ?7, usage = ?8, reason = ?9, output_end = ?10, circumstances = ?11,
             used_s = used_s + ?12 WHERE study = ?1 AND number = ?2",
        )?
        .execute(params![
            study,
            number,
            record.outcome.state().word(),
            record.started_ms,
            machine,
            json(&record.command),
            json(environment),
            record.usage.as_ref().map(json),
            record.outcome.reason(),
            record.output_end,
            circumstances,
            record.usage.as_ref().map_or(0.0, Usage::last_attempt_s),
        ])?;
    forget_progress(connection, study, *number)?;
    keep_measurements(connection, study, *number, &record.measurements)?;
    connection
        .prepare_cached("DELETE FROM series WHERE study = ?1 AND number = ?2")?
        .execute(params![study, number])?;
    keep_series(connection, study, *number, &record.series)?;
    keep_cluster(connection, study, *number, &record.cluster)
}

/// Keeps where a cluster ran a trial, in place of what an earlier run of it left.
fn keep_cluster(
    connection: &Connection,
    study: i64,
    number: u32,
    tasks: &[ClusterTask],
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM cluster_task WHERE study = ?1 AND number = ?2")?
        .execute(params![study, number])?;
    for (place, task) in tasks.iter().enumerate() {
        connection
            .prepare_cached(
                "INSERT INTO cluster_task (study, number, place, description)
                 VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![study, number, place as i64, json(task)])?;
    }
    Ok(())
}

fn keep_reread(connection: &Connection, study: i64, own: &Reread) -> rusqlite::Result<()> {
    let state = own.outcome.state().word();
    connection
        .prepare_cached(
            "UPDATE trial SET state = ?3, reason = ?4 WHERE study = ?1 AND number = ?2",
        )?
        .execute(params![study, own.number, state, own.outcome.reason()])?;
    keep_rules(connection, study, own)?;
    keep_measurements(connection, study, own.number, &own.measurements)?;
    connection
        .prepare_cached(
            "DELETE FROM series WHERE study = ?1 AND number = ?2 AND name LIKE 'metric.%'",
        )?
        .execute(params![study, own.number])?;
    keep_series(connection, study, own.number, &own.curves)
}

/// Notes the rules that a trial's metrics were read by now; all else that was true stays.
fn keep_rules(connection: &Connection, study: i64, own: &Reread) -> rusqlite::Result<()> {
    let known: Option<String> = connection
        .prepare_cached(
            "SELECT (SELECT description FROM circumstances WHERE id = trial.circumstances)
             FROM trial WHERE study = ?1 AND number = ?2",
        )?
        .query_row(params![study, own.number], |row| row.get(0))?;
    let Some(mut description) = known.and_then(|text| serde_json::from_str::<Value>(&text).ok())
    else {
        return Ok(());
    };
    description["rules"] = own.rules.clone();
    match (&own.superseded, description.as_object_mut()) {
        (Some(superseded), _) => {
            description["superseded"] =
                serde_json::to_value(superseded).expect("plain data becomes JSON");
        }
        (None, Some(all)) => drop(all.remove("superseded")),
        (None, None) => {}
    }
    let key = key_of(connection, "circumstances", &description.to_string())?;
    connection
        .prepare_cached("UPDATE trial SET circumstances = ?3 WHERE study = ?1 AND number = ?2")?
        .execute(params![study, own.number, key])
        .map(drop)
}

fn forget_progress(connection: &Connection, study: i64, number: u32) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM progress WHERE study = ?1 AND number = ?2")?
        .execute(params![study, number])
        .map(drop)
}

fn keep_series(
    connection: &Connection,
    study: i64,
    number: u32,
    all: &[Series],
) -> rusqlite::Result<()> {
    for series in all {
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
    for own in measurements {
        connection
            .prepare_cached(
                "INSERT INTO measurement (study, number, metric, value, in_range)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![study, number, own.metric, own.value, own.in_range])?;
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data becomes JSON")
}

#[cfg(test)]
mod tests;
