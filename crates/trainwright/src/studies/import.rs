//! The verb `import`: results measured elsewhere, checked against the design.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

use serde::Serialize;
use trainwright_design::{Design, Kind};
use trainwright_store::{Durability, ImportedTrial, StoredTrial};
use trainwright_study::{
    Configuration, Domain, Factor, Level, Measurement, MissingValue, Study, TrialState, derive,
};

use crate::running::lock::Lock;
use crate::studies::plan_change::Accepted;
use crate::studies::planned::{Planned, design_of, planned};
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
    let cells: Vec<Cells<'_>> =
        study.factors.iter().map(|factor| Cells::of(factor, design)).collect();
    let mut lines = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let number = record.position().map_or(0, csv::Position::line);
        let configuration = configuration(&cells, &record, &factors)
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

/// What the cells of a factor's column may say.
struct Cells<'a> {
    factor: &'a Factor,
    /// The factor's levels and those that only the design runs.
    levels: Vec<Level>,
    /// Places of the levels by identity.
    places: HashMap<String, usize>,
}

impl<'a> Cells<'a> {
    fn of(factor: &'a Factor, design: &Design) -> Self {
        let mut levels = factor.levels.clone();
        levels.extend(design.further_levels(factor));
        let places = levels.iter().map(Level::identity).zip(0..).collect();
        Self { factor, levels, places }
    }

    fn level(&self, cell: &str) -> Result<Level, String> {
        let read = Level::parse(cell);
        // A level may be a text that looks like a number.
        let text = || self.places.get(&Level::Text(cell.trim().to_owned()).identity());
        if let Some(&place) = self.places.get(&read.identity()).or_else(text) {
            return Ok(self.levels[place].clone());
        }
        // The ends of a range are its only two levels, so that looking at them costs nothing.
        let inside = (self.factor.domain == Domain::Range).then(|| self.factor.value(&read));
        inside.flatten().ok_or_else(|| {
            let levels: Vec<String> = self.levels.iter().map(Level::to_string).collect();
            let name = &self.factor.name;
            format!("`{cell}` is no level of `{name}`, which has {}", levels.join(", "))
        })
    }
}

/// The levels of a line; a design may run values that the study does not list.
fn configuration(
    cells: &[Cells<'_>],
    record: &csv::StringRecord,
    columns: &[usize],
) -> Result<Configuration, String> {
    let mut pairs = Vec::new();
    for (own, &column) in cells.iter().zip(columns) {
        let cell = &record[column];
        if cell.trim().is_empty() && own.factor.when.is_some() {
            continue;
        }
        pairs.push((own.factor.name.clone(), own.level(cell)?));
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
    let mut places = Places::of(study, design, trials);
    let mut imported = Imported::default();
    let mut found = Vec::with_capacity(lines.len());
    for Line { number, configuration, measurements } in lines {
        let Some(measurements) = measurements else {
            imported.without_response.push(number);
            continue;
        };
        let Spot { fills, replicate, in_design } = places.next(number, &configuration)?;
        // Where there is no design, nothing can lie outside it.
        if !in_design && design.kind() != Kind::Open {
            imported.outside_design.push(configuration.clone());
        }
        found.push(ImportedTrial { fills, configuration, replicate, measurements });
    }
    imported.kept = found.len();
    for (row, configuration) in (1..).zip(design.rows()) {
        match places.results.get(&row) {
            None => {
                let configuration = configuration.clone();
                imported.missing_rows.push(MissingRow { row, configuration });
            }
            Some(&results) if results < places.most => {
                imported.short_rows.push(ShortRow { row, results, planned: places.most });
            }
            Some(_) => {}
        }
    }
    Ok((found, imported))
}

/// Where results go, by what ran.
struct Places {
    /// Planned trials by row and replicate.
    planned: HashMap<(u32, u32), u32>,
    of_configuration: HashMap<String, OfConfiguration>,
    /// Results of each row so far.
    results: HashMap<u32, u32>,
    /// Results that a row may have.
    most: u32,
}

/// The rows of a configuration, and how far they are filled.
#[derive(Default)]
struct OfConfiguration {
    rows: Vec<u32>,
    /// Rows that are full.
    full: usize,
    /// Results outside the design.
    outside: u32,
}

/// The place of one result.
struct Spot {
    fills: Option<u32>,
    replicate: u32,
    in_design: bool,
}

impl Places {
    fn of(study: &Study, design: &Design, trials: &[StoredTrial]) -> Self {
        let cell = |trial: &StoredTrial| Some(((trial.row?, trial.replicate), trial.number));
        let mut of_configuration: HashMap<String, OfConfiguration> = HashMap::new();
        for (row, configuration) in (1..).zip(design.rows()) {
            of_configuration.entry(configuration.identity()).or_default().rows.push(row);
        }
        Self {
            planned: trials.iter().filter_map(cell).collect(),
            of_configuration,
            results: HashMap::new(),
            most: study.design.replications,
        }
    }

    /// A row listed twice takes its results one after the other.
    fn next(&mut self, line: u64, configuration: &Configuration) -> Result<Spot, String> {
        let own = self.of_configuration.entry(configuration.identity()).or_default();
        let Some(first) = own.rows.first() else {
            own.outside += 1;
            return Ok(Spot { fills: None, replicate: own.outside, in_design: false });
        };
        let most = self.most;
        let Some(&row) = own.rows.get(own.full) else {
            return Err(format!(
                "line {line}: row {first} ({configuration}) has more than the {most} results that the study plans; raise `replications`"
            ));
        };
        let count = self.results.entry(row).or_default();
        *count += 1;
        if *count == most {
            own.full += 1;
        }
        let fills = self.planned.get(&(row, *count)).copied();
        Ok(Spot { fills, replicate: *count, in_design: true })
    }
}
