//! The verb `import`: results measured elsewhere, checked against the design.

pub(crate) mod direction_guess;
pub(crate) mod foreign;
mod lines;
mod places;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use trainwright_design::{Construction, Design};
use trainwright_store::{Durability, ImportedTrial, StoredTrial};
use trainwright_study::{Configuration, Study, TrialState};

use crate::running::lock::Lock;
use crate::studies::import::foreign::ForeignKind;
use crate::studies::import::lines::{Line, read_lines};
use crate::studies::import::places::{Places, Spot};
use crate::studies::plan_change::Accepted;
use crate::studies::planned::{Planned, design_of, planned};
use crate::whole_file::WholeFile;
use crate::{Error, Place};

/// What an import kept and what it could not place.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Imported {
    /// Results kept.
    pub kept: usize,
    /// Lines without a value for the response, which were left out.
    #[serde(rename = "lines_without_response")]
    pub without_response: Vec<u64>,
    /// Metrics with values outside their range, and how many those are.
    pub out_of_range: BTreeMap<String, usize>,
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

/// Where results come from.
#[derive(Debug, Clone, Copy)]
pub struct ImportSource<'a> {
    /// A table with a header, or what another program kept: see [`ForeignKind`].
    pub file: &'a Path,
    /// Which of several studies of Optuna, or experiments of MLflow.
    pub which: Option<&'a str>,
    /// What it is, where that is not to be guessed.
    pub kind: Option<ForeignKind>,
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for ImportSource<'a> {
    fn from(file: &'a P) -> Self {
        Self { file: file.as_ref(), which: None, kind: None }
    }
}

/// Keeps the results in a file as trials of a study.
///
/// `columns` maps a factor or metric to the column that holds it where the names differ.
///
/// # Errors
/// The file does not read, a cell is no level or no number, a row has more results than the
/// study plans, or the study already has results.
pub fn import<'a>(
    study: &Study,
    source: impl Into<ImportSource<'a>>,
    columns: &BTreeMap<String, String>,
    store: Option<&Path>,
) -> Result<Imported, Error> {
    let ImportSource { file, which, kind } = source.into();
    let mut columns = columns.clone();
    let kind = kind.map_or_else(|| ForeignKind::of(file), Ok)?;
    let input: Box<dyn std::io::Read> = if kind == ForeignKind::Csv {
        Box::new(WholeFile::open(file)?)
    } else {
        let found = foreign::read(file, kind, which)?;
        found.add_columns(study, &mut columns);
        Box::new(std::io::Cursor::new(found.table()))
    };
    let refused = |message: String| Error::Import { file: file.to_owned(), message };
    let design = design_of(study)?;
    let lines = read_lines(study, &design, input, &columns).map_err(refused)?;
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
        for own in measurements.iter().filter(|own| !own.in_range) {
            *imported.out_of_range.entry(own.metric.clone()).or_default() += 1;
        }
        let Spot { fills, replicate, in_design } = places.next(number, &configuration)?;
        // Where there is no design, nothing can lie outside it.
        if !in_design && design.kind() != Construction::Open {
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

#[cfg(test)]
mod tests;
