//! Reads the trials of a study that Optuna keeps in an SQLite file.
//!
//! The tables are those of Optuna's `RDBStorage`, schema version 12, unchanged from Optuna 3 to 5.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};
use trainwright_study::Level;

use crate::StoreError;

/// A study of Optuna.
#[derive(Debug, Clone, PartialEq)]
pub struct OptunaStudy {
    /// Its name.
    pub name: String,
    /// Trials that completed, by number.
    pub trials: Vec<OptunaTrial>,
    /// Trials that were pruned, failed or never ended; they have no result.
    pub without_result: usize,
    /// What each parameter may be, as Optuna writes it down.
    pub distributions: BTreeMap<String, serde_json::Value>,
    /// Whether each objective is to be large.
    pub maximize: Vec<bool>,
}

/// A completed trial of Optuna.
#[derive(Debug, Clone, PartialEq)]
pub struct OptunaTrial {
    /// Its number, from 0.
    pub number: u32,
    /// Parameters by name.
    pub parameters: BTreeMap<String, Level>,
    /// Values, one an objective.
    pub values: Vec<f64>,
}

impl OptunaStudy {
    /// Reads a study; without a name the only one that the file has.
    ///
    /// # Errors
    /// The file is no storage of Optuna, or has no such study.
    pub fn read(path: &Path, name: Option<&str>) -> Result<Self, StoreError> {
        let failed = |source| StoreError::NotOptuna { path: path.to_owned(), source };
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|source| StoreError::from_sqlite(path, None, source))?;
        let studies = studies(&connection).map_err(failed)?;
        let wanted = |own: &&(i64, String)| name.is_none_or(|name| own.1 == name);
        let found: Vec<&(i64, String)> = studies.iter().filter(wanted).collect();
        let [(id, name)] = found.as_slice() else {
            let names: Vec<&str> = studies.iter().map(|(_, name)| name.as_str()).collect();
            let (path, names) = (path.to_owned(), names.join(", "));
            return Err(StoreError::WhichOptunaStudy { path, names });
        };
        let trials = trials(&connection, *id).map_err(failed)?;
        let all: u32 = connection
            .query_row("SELECT count(*) FROM trials WHERE study_id = ?1", [id], |row| row.get(0))
            .map_err(failed)?;
        Ok(Self {
            name: name.clone(),
            without_result: all as usize - trials.len(),
            trials,
            distributions: distributions(&connection, *id).map_err(failed)?,
            maximize: maximize(&connection, *id).map_err(failed)?,
        })
    }
}

fn studies(connection: &Connection) -> rusqlite::Result<Vec<(i64, String)>> {
    connection
        .prepare("SELECT study_id, study_name FROM studies ORDER BY study_id")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

fn distributions(
    connection: &Connection,
    study: i64,
) -> rusqlite::Result<BTreeMap<String, serde_json::Value>> {
    connection
        .prepare(
            "SELECT DISTINCT param_name, distribution_json FROM trial_params
             JOIN trials USING (trial_id) WHERE study_id = ?1 ORDER BY param_id",
        )?
        .query_map([study], |row| {
            let (name, text): (String, String) = (row.get(0)?, row.get(1)?);
            Ok((name, serde_json::from_str(&text).unwrap_or_default()))
        })?
        .collect()
}

fn maximize(connection: &Connection, study: i64) -> rusqlite::Result<Vec<bool>> {
    connection
        .prepare("SELECT direction FROM study_directions WHERE study_id = ?1 ORDER BY objective")?
        .query_map([study], |row| Ok(row.get::<_, String>(0)? == "MAXIMIZE"))?
        .collect()
}

fn trials(connection: &Connection, study: i64) -> rusqlite::Result<Vec<OptunaTrial>> {
    let mut parameters = connection.prepare(
        "SELECT param_name, param_value, distribution_json FROM trial_params
         WHERE trial_id = ?1 ORDER BY param_id",
    )?;
    // A value that is not finite has no number in its column.
    let mut values = connection.prepare(
        "SELECT value FROM trial_values WHERE trial_id = ?1 AND value IS NOT NULL
         ORDER BY objective",
    )?;
    connection
        .prepare(
            "SELECT trial_id, number FROM trials WHERE study_id = ?1 AND state = 'COMPLETE'
             ORDER BY number",
        )?
        .query_map([study], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?
        .map(|found| {
            let (id, number) = found?;
            let read = |row: &rusqlite::Row<'_>| {
                let (value, distribution): (f64, String) = (row.get(1)?, row.get(2)?);
                Ok((row.get(0)?, level(value, &distribution)))
            };
            Ok(OptunaTrial {
                number,
                parameters: parameters
                    .query_map(params![id], read)?
                    .collect::<rusqlite::Result<BTreeMap<String, Level>>>()?,
                values: values
                    .query_map(params![id], |row| row.get(0))?
                    .collect::<rusqlite::Result<Vec<f64>>>()?,
            })
        })
        .collect()
}

/// A parameter as Optuna keeps it: a number, or the place of a choice.
fn level(value: f64, distribution: &str) -> Level {
    let parsed: Option<serde_json::Value> = serde_json::from_str(distribution).ok();
    let choices = parsed.as_ref().and_then(|own| own["attributes"]["choices"].as_array());
    match choices.and_then(|choices| choices.get(value as usize)) {
        Some(serde_json::Value::String(text)) => Level::Text(text.clone()),
        Some(serde_json::Value::Bool(truth)) => Level::Truth(*truth),
        Some(serde_json::Value::Number(number)) => {
            number.as_f64().map_or(Level::Number(value), Level::of)
        }
        Some(serde_json::Value::Null) => Level::Text("None".to_owned()),
        _ => Level::of(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by Optuna 5.0.0 with a random sampler of seed 1: eight trials of `tuning`, of which
    /// number 5 was pruned and number 6 failed, and a study `empty`.
    fn sample() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/optuna-5.0.0.db")
    }

    #[test]
    fn the_choice_none_is_a_text_and_no_place_among_choices() {
        let choices =
            r#"{"name": "CategoricalDistribution", "attributes": {"choices": ["a", null]}}"#;
        assert_eq!(level(1.0, choices), Level::Text("None".to_owned()));
        assert_eq!(level(0.0, choices), Level::Text("a".to_owned()));
    }

    #[test]
    fn completed_trials_are_read_with_their_parameters() {
        let own = OptunaStudy::read(&sample(), Some("tuning")).unwrap();
        assert_eq!((own.trials.len(), own.without_result), (6, 2));
        let first = &own.trials[0];
        assert_eq!(first.parameters["lr"], Level::Number(0.001_782_649_715_138_694_9));
        assert_eq!(first.parameters["layers"], Level::Integer(3));
        assert_eq!(first.parameters["optimizer"], Level::Text("adam".to_owned()));
        assert_eq!(first.values, [0.005_347_949_145_416_085]);
        assert_eq!(own.trials[5].number, 7);
        assert_eq!(own.maximize, [false]);
        let distributions: Vec<&str> = own.distributions.keys().map(String::as_str).collect();
        assert_eq!(distributions, ["layers", "lr", "optimizer"]);
        assert_eq!(own.distributions["lr"]["attributes"]["log"], true);
    }

    #[test]
    fn the_study_must_be_named_where_there_are_several() {
        let error = OptunaStudy::read(&sample(), None).unwrap_err().to_string();
        assert!(error.contains("tuning, empty"), "{error}");
        assert!(OptunaStudy::read(&sample(), Some("empty")).unwrap().trials.is_empty());
        assert!(OptunaStudy::read(&sample(), Some("other")).is_err());
    }

    #[test]
    fn a_file_of_another_program_is_refused() {
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-1.db");
        let error = OptunaStudy::read(&ours, None).unwrap_err().to_string();
        assert!(error.contains("is no storage of Optuna"), "{error}");
    }

    #[test]
    fn choices_are_what_they_were() {
        let of = |value: f64, choices: &str| {
            level(value, &format!(r#"{{"attributes": {{"choices": {choices}}}}}"#))
        };
        assert_eq!(of(1.0, "[1, 0.5]"), Level::Number(0.5));
        assert_eq!(of(0.0, "[true, false]"), Level::Truth(true));
        assert_eq!(level(2.5, "{}"), Level::Number(2.5));
    }
}
