//! The verb `import`: results measured elsewhere, checked against the design.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use serde::Serialize;
use trainwright_design::Design;
use trainwright_store::{Durability, ImportedTrial, StoredTrial};
use trainwright_study::{
    Configuration, Level, Measurement, MissingValue, Study, TrialState, derive,
};

use crate::lock::Lock;
use crate::plan_change::Accepted;
use crate::planned::{Planned, design_of, planned};
use crate::{Error, Place};

/// What an import kept and what it could not place.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Imported {
    /// Results kept.
    pub kept: usize,
    /// Lines without a value for the response, which were left out.
    #[serde(rename = "lines_without_response")]
    pub without_response: Vec<u64>,
    /// Results whose configuration is no row of the design.
    pub outside_design: Vec<Configuration>,
    /// Rows of the design without any result, with their configurations.
    pub missing_rows: Vec<MissingRow>,
    /// Rows with fewer results than planned.
    pub short_rows: Vec<ShortRow>,
}

/// A row of the design without any result.
#[derive(Debug, PartialEq, Serialize)]
pub struct MissingRow {
    /// Its number.
    pub row: u32,
    /// What it would have run with.
    pub configuration: Configuration,
}

/// A row of the design with fewer results than planned.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ShortRow {
    /// Its number.
    pub row: u32,
    /// Results it has.
    pub results: u32,
    /// Results that the study plans for it.
    pub planned: u32,
}

/// Keeps the results in a CSV file as trials of a study.
///
/// `columns` maps a factor or metric to the column that holds it where the names differ.
///
/// # Errors
/// The file does not read, a cell is no level or no number, a row has more results than the
/// study plans, or the study already has results.
pub fn import(
    study: &Study,
    file: &Path,
    columns: &BTreeMap<String, String>,
    store: Option<&Path>,
) -> Result<Imported, Error> {
    let input = std::fs::File::open(file)
        .map_err(|source| Error::Input { path: file.to_owned(), source })?;
    let refused = |message: String| Error::Import { file: file.to_owned(), message };
    let design = design_of(study)?;
    let lines = read_lines(study, &design, input, columns).map_err(refused)?;
    let place = Place::of(study, store).made()?;
    let _lock = Lock::take(&place.trials, &study.name)?;
    let mut store = place.open(Durability::Flushed)?;
    let Planned { study_id, trials, .. } =
        planned(&mut store, study, &design, &place, Accepted::default())?;
    if trials.iter().any(|trial| trial.state != TrialState::Planned) {
        return Err(Error::HasResults { study: study.name.clone(), store: place.store });
    }
    let (found, imported) = place_lines(study, &design, &trials, lines).map_err(refused)?;
    store.import(study_id, &found)?;
    Ok(imported)
}

struct Line {
    number: u64,
    configuration: Configuration,
    measurements: Option<Vec<Measurement>>,
}

fn read_lines(
    study: &Study,
    design: &Design,
    input: impl Read,
    columns: &BTreeMap<String, String>,
) -> Result<Vec<Line>, String> {
    let mut reader = csv::Reader::from_reader(input);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let names: Vec<&str> = header.iter().map(str::trim).collect();
    let known = |name: &str| study.factor(name).is_some() || study.metric(name).is_some();
    for (name, column) in columns {
        if !known(name) {
            return Err(format!("`{name}` is no factor and no metric of the study"));
        }
        if !names.contains(&column.as_str()) {
            return Err(format!("there is no column `{column}`; there are {}", names.join(", ")));
        }
    }
    let find = |name: &str| {
        let column = columns.get(name).map_or(name, String::as_str);
        names.iter().position(|own| *own == column)
    };
    let factors = study
        .factors
        .iter()
        .map(|factor| match find(&factor.name) {
            Some(index) => Ok(index),
            None => Err(format!(
                "there is no column for the factor `{}`; name it with --column {}=COLUMN",
                factor.name, factor.name
            )),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let metrics: Vec<Option<usize>> =
        study.metrics.iter().map(|metric| find(&metric.name)).collect();
    let further: Vec<Vec<Level>> =
        study.factors.iter().map(|factor| design.further_levels(factor)).collect();
    let mut lines = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let number = record.position().map_or(0, csv::Position::line);
        let configuration = configuration(study, &further, &record, &factors)
            .map_err(|message| format!("line {number}: {message}"))?;
        let measurements = measurements(study, &record, &metrics, &configuration)
            .map_err(|message| format!("line {number}: {message}"))?;
        lines.push(Line { number, configuration, measurements });
    }
    if lines.is_empty() {
        return Err("it has no rows".to_owned());
    }
    Ok(lines)
}

/// The levels of a line; a design may run values that the study does not list.
fn configuration(
    study: &Study,
    further: &[Vec<Level>],
    record: &csv::StringRecord,
    columns: &[usize],
) -> Result<Configuration, String> {
    let mut pairs = Vec::new();
    for ((factor, further), &column) in study.factors.iter().zip(further).zip(columns) {
        let cell = &record[column];
        if cell.trim().is_empty() && factor.when.is_some() {
            continue;
        }
        let read = Level::parse(cell);
        let own = further.iter().find(|own| own.same_as(&read)).cloned();
        let level = own.or_else(|| factor.value(&read)).ok_or_else(|| {
            let levels: Vec<String> =
                factor.levels.iter().chain(further).map(Level::to_string).collect();
            format!("`{cell}` is no level of `{}`, which has {}", factor.name, levels.join(", "))
        })?;
        pairs.push((factor.name.clone(), level));
    }
    Ok(Configuration::new(pairs))
}

/// The metrics of a line; nothing where the response has no value.
fn measurements(
    study: &Study,
    record: &csv::StringRecord,
    columns: &[Option<usize>],
    configuration: &Configuration,
) -> Result<Option<Vec<Measurement>>, String> {
    let mut values: BTreeMap<String, f64> = BTreeMap::new();
    for (metric, column) in study.metrics.iter().zip(columns) {
        let Some(cell) = column.map(|column| record[column].trim()) else { continue };
        if cell.is_empty() {
            continue;
        }
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                values.insert(metric.name.clone(), value);
            }
            _ => return Err(format!("`{cell}` is no finite number for `{}`", metric.name)),
        }
    }
    let derived = derive(&study.metrics, configuration, None, &values);
    let fault = |name: &str| derived.missing.iter().find(|own| own.metric == name);
    if let Some(reason) = &derived.diverged {
        return Err(reason.clone());
    }
    if !derived.values.contains_key(study.analysis.response.as_str()) {
        let column = study.metrics.iter().position(|m| m.name == study.analysis.response);
        let response = &study.metrics[column.expect("a checked study has its response")];
        if columns[column.unwrap_or(0)].is_none() && response.formula().is_none() {
            return Err(format!(
                "there is no column for the metric `{0}`; name it with --column {0}=COLUMN",
                response.name
            ));
        }
        return match fault(&response.name) {
            Some(MissingValue { needs: None, reason, .. }) if response.formula().is_some() => {
                Err(reason.clone())
            }
            _ => Ok(None),
        };
    }
    Ok(Some(derived.measurements(&study.metrics)))
}

/// Gives every line the planned trial it fills, replicates in the order of the file.
fn place_lines(
    study: &Study,
    design: &Design,
    trials: &[StoredTrial],
    lines: Vec<Line>,
) -> Result<(Vec<ImportedTrial>, Imported), String> {
    let planned: BTreeMap<(u32, u32), u32> = trials
        .iter()
        .filter_map(|trial| Some(((trial.row?, trial.replicate), trial.number)))
        .collect();
    let most = study.design.replications;
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    let mut imported = Imported::default();
    let mut found = Vec::new();
    for line in lines {
        let Some(measurements) = line.measurements else {
            imported.without_response.push(line.number);
            continue;
        };
        let rows = (1..).zip(design.rows()).filter(|(_, row)| row.same_as(&line.configuration));
        let rows: Vec<u32> = rows.map(|(row, _)| row).collect();
        // A row listed twice takes its results one after the other.
        let free = rows.iter().find(|row| counts.get(row).copied().unwrap_or(0) < most);
        let (fills, replicate) = match (rows.first(), free) {
            (Some(row), None) => {
                return Err(format!(
                    "line {}: row {row} ({}) has more than the {most} results that the study plans; raise `replications`",
                    line.number, line.configuration
                ));
            }
            (_, Some(row)) => {
                let count = counts.entry(*row).or_default();
                *count += 1;
                (planned.get(&(*row, *count)).copied(), *count)
            }
            (None, None) => {
                let same = imported.outside_design.iter();
                let earlier = same.filter(|other| other.same_as(&line.configuration)).count();
                imported.outside_design.push(line.configuration.clone());
                (None, u32::try_from(earlier).unwrap_or(u32::MAX - 1) + 1)
            }
        };
        let configuration = line.configuration;
        found.push(ImportedTrial { fills, configuration, replicate, measurements });
    }
    imported.kept = found.len();
    for (row, configuration) in (1..).zip(design.rows()) {
        match counts.get(&row) {
            None => {
                let configuration = configuration.clone();
                imported.missing_rows.push(MissingRow { row, configuration });
            }
            Some(&results) if results < most => {
                imported.short_rows.push(ShortRow { row, results, planned: most });
            }
            Some(_) => {}
        }
    }
    Ok((found, imported))
}
