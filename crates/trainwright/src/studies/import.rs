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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::studies::tests::{TWO_BY_TWO, planned_trials, study};

    fn lines_of(study: &Study, table: &str, columns: &[(&str, &str)]) -> Result<Vec<Line>, String> {
        let design = design_of(study).unwrap();
        let columns =
            columns.iter().map(|(name, column)| ((*name).to_owned(), (*column).to_owned()));
        read_lines(study, &design, table.as_bytes(), &columns.collect())
    }

    fn placed(study: &Study, table: &str) -> Result<(Vec<ImportedTrial>, Imported), String> {
        let design = design_of(study).unwrap();
        let lines = lines_of(study, table, &[])?;
        place_lines(study, &design, &planned_trials(study), lines)
    }

    fn refusal<T>(result: Result<T, String>) -> String {
        result.err().expect("it was not refused")
    }

    #[test]
    fn columns_are_named_by_what_they_hold() {
        let study = study(TWO_BY_TWO);
        let table = "first, b ,accuracy,note\n2,high,0.5,x\n";
        let lines = lines_of(&study, table, &[("a", "first"), ("y", "accuracy")]).unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].number, 2);
        assert_eq!(lines[0].configuration.to_string(), "a=2 b=high");
        let measured = lines[0].measurements.as_ref().unwrap();
        assert_eq!((measured[0].metric.as_str(), measured[0].value), ("y", 0.5));
    }

    #[test]
    fn a_column_that_is_not_there_is_told_with_those_that_are() {
        let study = study(TWO_BY_TWO);
        let ask = |columns: &[(&str, &str)]| refusal(lines_of(&study, "a,b,y\n1,low,1\n", columns));
        assert_eq!(ask(&[("a", "alpha")]), "there is no column `alpha`; there are a, b, y");
        assert_eq!(ask(&[("loss", "y")]), "`loss` is no factor and no metric of the study");
        assert_eq!(
            refusal(lines_of(&study, "a,y\n1,1\n", &[])),
            "there is no column for the factor `b`; name it with --column b=COLUMN"
        );
        assert_eq!(
            refusal(lines_of(&study, "a,b\n1,low\n", &[])),
            "line 2: there is no column for the metric `y`; name it with --column y=COLUMN"
        );
        assert_eq!(refusal(lines_of(&study, "a,b,y\n", &[])), "it has no rows");
    }

    #[test]
    fn a_level_is_known_however_its_number_is_written() {
        let study = study(TWO_BY_TWO);
        let lines = lines_of(&study, "a,b,y\n2.0,low,1\n 1 ,high,2\n", &[]).unwrap();
        let shown: Vec<String> = lines.iter().map(|line| line.configuration.to_string()).collect();
        assert_eq!(shown, ["a=2 b=low", "a=1 b=high"]);
        assert_eq!(
            refusal(lines_of(&study, "a,b,y\n1,low,1\n1,Low,1\n", &[])),
            "line 3: `Low` is no level of `b`, which has low, high"
        );
    }

    #[test]
    fn a_level_that_is_a_text_may_look_like_a_number() {
        let study = study(&TWO_BY_TWO.replace("[\"low\", \"high\"]", "[\"16\", \"auto\"]"));
        let lines = lines_of(&study, "a,b,y\n1, 16,5\n1,auto,6\n", &[]).unwrap();
        assert_eq!(lines[0].configuration.get("b"), Some(&Level::Text("16".to_owned())));
        assert_eq!(lines[1].configuration.to_string(), "a=1 b=auto");
    }

    #[test]
    fn a_value_that_is_not_finite_is_no_result() {
        let study = study(TWO_BY_TWO);
        for cell in ["NaN", "inf", "-infinity", "1e999", "0,5", "5 s"] {
            let table = format!("a,b,y\n1,low,\"{cell}\"\n");
            assert_eq!(
                refusal(lines_of(&study, &table, &[])),
                format!("line 2: `{cell}` is no finite number for `y`")
            );
        }
    }

    #[test]
    fn a_factor_that_does_not_exist_in_a_row_may_be_left_empty() {
        let text = TWO_BY_TWO
            .replace("[design]", "[factors.c]\nlevels = [5, 6]\nwhen = \"a == 1\"\n[design]");
        let study = study(&text.replace(", \"{b}\"]", ", \"{b}\", [\"{c}\"]]"));
        let lines = lines_of(&study, "a,b,c,y\n2,low,,1\n1,low,6,2\n", &[]).unwrap();
        assert_eq!(lines[0].configuration.to_string(), "a=2 b=low");
        assert_eq!(lines[1].configuration.to_string(), "a=1 b=low c=6");
        let empty = refusal(lines_of(&study, "a,b,c,y\n,low,5,1\n", &[]));
        assert_eq!(empty, "line 2: `` is no level of `a`, which has 1, 2");
    }

    #[test]
    fn a_range_takes_every_value_inside_it() {
        let text = TWO_BY_TWO
            .replace("levels = [1, 2]", "range = { from = 1.0, to = 3.0 }")
            .replace("type = \"full\"\nreplications = 2", "type = \"latin-hypercube\"\nruns = 4");
        let study = study(&text);
        let lines = lines_of(&study, "a,b,y\n1.7,low,1\n3,low,1\n", &[]).unwrap();
        assert_eq!(lines[0].configuration.get("a").unwrap().number(), Some(1.7));
        assert!(refusal(lines_of(&study, "a,b,y\n3.1,low,1\n", &[])).starts_with("line 2: `3.1`"));
    }

    #[test]
    fn a_computed_response_follows_from_what_was_measured() {
        let text = TWO_BY_TWO.to_owned()
            + "[metrics.z]\nexpr = \"100 / y\"\nobjective = \"minimize\"\n[analysis]\nresponse = \"z\"\n";
        let study = study(&text.replace("objective = \"maximize\"\n", ""));
        let lines = lines_of(&study, "a,b,y\n1,low,4\n1,high,\n", &[]).unwrap();
        let found: Vec<(&str, f64)> = lines[0]
            .measurements
            .as_ref()
            .unwrap()
            .iter()
            .map(|own| (own.metric.as_str(), own.value))
            .collect();
        assert_eq!(found, [("y", 4.0), ("z", 25.0)]);
        assert!(lines[1].measurements.is_none(), "without y there is no z");
        let error = refusal(lines_of(&study, "a,b,y\n1,low,0\n", &[]));
        assert!(error.starts_with("line 2: ") && error.contains('z'), "{error}");
    }

    #[test]
    fn replicates_are_numbered_in_the_order_of_the_file() {
        let study = study(TWO_BY_TWO);
        let (found, imported) = placed(&study, "a,b,y\n1,low,5\n2,high,6\n1,low,7\n").unwrap();
        let replicates: Vec<u32> = found.iter().map(|own| own.replicate).collect();
        assert_eq!(replicates, [1, 1, 2]);
        let trials = planned_trials(&study);
        for own in &found {
            let trial = trials.iter().find(|trial| Some(trial.number) == own.fills).unwrap();
            assert_eq!(trial.configuration, own.configuration);
            assert_eq!(trial.replicate, own.replicate);
        }
        let missing: Vec<String> =
            imported.missing_rows.iter().map(|own| own.configuration.to_string()).collect();
        assert_eq!(missing, ["a=2 b=low", "a=1 b=high"]);
        assert_eq!(imported.short_rows.len(), 1, "{:?}", imported.short_rows);
        assert_eq!((imported.short_rows[0].results, imported.short_rows[0].planned), (1, 2));
    }

    #[test]
    fn a_row_takes_no_more_results_than_planned() {
        let study = study(TWO_BY_TWO);
        let error = refusal(placed(&study, "a,b,y\n1,low,5\n1,low,6\n1,low,7\n"));
        assert_eq!(
            error,
            "line 4: row 1 (a=1 b=low) has more than the 2 results that the study plans; raise \
             `replications`"
        );
    }

    #[test]
    fn results_without_a_response_take_no_place() {
        let study = study(TWO_BY_TWO);
        let table = "a,b,y\n1,low,\n1,low,6\n1,low, \n1,low,7\n";
        let (found, imported) = placed(&study, table).unwrap();
        assert_eq!((found.len(), imported.kept), (2, 2));
        assert_eq!(imported.without_response, [2, 4]);
    }

    #[test]
    fn without_a_design_nothing_lies_outside_it() {
        let open = TWO_BY_TWO.replace("[design]\ntype = \"full\"\nreplications = 2\n", "");
        let (found, imported) =
            placed(&study(&open), "a,b,y\n1,low,5\n1,low,6\n2,low,7\n").unwrap();
        assert!(imported.outside_design.is_empty() && imported.missing_rows.is_empty());
        let places: Vec<_> = found.iter().map(|own| (own.fills, own.replicate)).collect();
        assert_eq!(places, [(None, 1), (None, 2), (None, 1)]);
    }

    proptest! {
        #[test]
        fn every_result_is_kept_once_in_whatever_order_they_come(order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle()) {
            let study = study(TWO_BY_TWO);
            let mut table = "a,b,y\n".to_owned();
            for &place in &order {
                let (a, b) = (1 + place % 2, if place / 2 % 2 == 0 { "low" } else { "high" });
                table += &format!("{a},{b},{place}\n");
            }
            let (found, imported) = placed(&study, &table).unwrap();
            prop_assert_eq!(imported.kept, 8);
            prop_assert!(imported.missing_rows.is_empty() && imported.short_rows.is_empty());
            let mut filled: Vec<u32> = found.iter().map(|own| own.fills.unwrap()).collect();
            filled.sort_unstable();
            prop_assert_eq!(filled, (1..=8).collect::<Vec<u32>>());
        }
    }
}
