//! Rows that a study lists, in the file or in a table beside it.

use std::path::{Path, PathBuf};

use super::{Checker, at};
use crate::file::draft::DesignDraft;
use crate::file::locate::Step;
use crate::{Configuration, Domain, Factor, Level};

impl Checker<'_> {
    pub(super) fn table(
        &mut self,
        draft: &DesignDraft,
        factors: &[Factor],
    ) -> Option<Vec<Configuration>> {
        match (&draft.rows, &draft.file) {
            (Some(rows), None) => Some(self.inline_rows(rows, draft.coded, factors)),
            (None, Some(file)) => self.file_rows(at!["design", "file"], file, draft.coded, factors),
            _ => {
                let help = "give rows = [[...], ...] or file = \"rows.csv\"";
                self.fault(at!["design"], "a table design needs rows or a file", Some(help));
                None
            }
        }
    }

    fn inline_rows(
        &mut self,
        rows: &[Vec<Level>],
        coded: bool,
        factors: &[Factor],
    ) -> Vec<Configuration> {
        let mut configurations = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            if row.len() != factors.len() {
                let message = format!(
                    "row {} has {} cells for {} factors",
                    index + 1,
                    row.len(),
                    factors.len()
                );
                self.fault(at!["design", "rows", index], message, None);
                continue;
            }
            let mut pairs = Vec::new();
            for (column, (cell, factor)) in row.iter().zip(factors).enumerate() {
                match own_level(factor, cell, coded) {
                    Some(level) => pairs.push((factor.name.clone(), level)),
                    None => self.no_level(at!["design", "rows", index, column], cell, factor),
                }
            }
            configurations.push(Configuration::new(pairs));
        }
        configurations
    }

    /// The rows of a CSV file that the key at `place` names.
    pub(super) fn file_rows(
        &mut self,
        place: &[Step],
        file: &str,
        coded: bool,
        factors: &[Factor],
    ) -> Option<Vec<Configuration>> {
        let text = match (self.read_file)(Path::new(file)) {
            Ok(text) => text,
            Err(error) => {
                self.fault(place, format!("cannot read `{file}`: {error}"), None);
                return None;
            }
        };
        match rows_of_csv(&text, coded, factors) {
            Ok(rows) => Some(rows),
            Err(message) => {
                let file = PathBuf::from(file);
                self.fault(place, format!("{}: {message}", file.display()), None);
                None
            }
        }
    }

    pub(super) fn no_level(&mut self, place: &[Step], cell: &Level, factor: &Factor) {
        let message = format!("{cell} is no level of `{}`", factor.name);
        self.fault(place, message, Some(&levels_of(factor)));
    }
}

fn levels_of(factor: &Factor) -> String {
    let levels: Vec<String> = factor.levels.iter().map(Level::to_string).collect();
    if factor.domain == Domain::Range {
        return format!("it goes from {}", levels.join(" to "));
    }
    format!("its levels are {}", levels.join(", "))
}

/// The factor's level that a table cell means.
fn own_level(factor: &Factor, cell: &Level, coded: bool) -> Option<Level> {
    if !coded {
        return factor.value(cell);
    }
    let (low, high) = factor.low_and_high()?;
    match cell.number()? {
        -1.0 => Some(low.clone()),
        1.0 => Some(high.clone()),
        _ => None,
    }
}

fn rows_of_csv(text: &str, coded: bool, factors: &[Factor]) -> Result<Vec<Configuration>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut columns = Vec::new();
    for factor in factors {
        let column = header
            .iter()
            .position(|name| name.trim() == factor.name)
            .ok_or_else(|| format!("line 1 has no column `{}`", factor.name))?;
        columns.push(column);
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let mut pairs = Vec::new();
        for (factor, &column) in factors.iter().zip(&columns) {
            let cell = Level::parse(&record[column]);
            let level = own_level(factor, &cell, coded).ok_or_else(|| {
                let levels = levels_of(factor);
                format!("line {line}: {cell} is no level of `{}`; {levels}", factor.name)
            })?;
            pairs.push((factor.name.clone(), level));
        }
        rows.push(Configuration::new(pairs));
    }
    Ok(rows)
}
