//! Lines of a table of results, read as configurations and measurements of a study.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use trainwright_design::Design;
use trainwright_study::{
    Configuration, Domain, Factor, Level, Measurement, MissingValue, Study, derive,
};

/// One line of results.
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) configuration: Configuration,
    /// Nothing where the response has no value.
    pub(super) measurements: Option<Vec<Measurement>>,
}

/// Reads all lines, or says what is wrong with the first that does not read.
pub(super) fn read_lines(
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
