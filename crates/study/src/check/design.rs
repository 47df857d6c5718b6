//! Rules about the design table.

use std::path::{Path, PathBuf};

use super::{Checker, at};
use crate::draft::{DesignDraft, DesignType};
use crate::locate::Step;
use crate::{Configuration, DesignKind, DesignSpec, Factor, Level};

impl Checker<'_> {
    pub(super) fn design(&mut self, draft: DesignDraft, factors: &[Factor]) -> Option<DesignSpec> {
        if factors.is_empty() {
            let help = "add a table such as [factors.lr] with levels = [0.001, 0.01]";
            self.fault(at!["design"], "the study has no factors", Some(help));
        }
        if draft.replications == 0 {
            self.fault(at!["design", "replications"], "replications must be at least 1", None);
        }
        self.keys_that_do_not_fit(&draft);
        let (order, replications) = (draft.order, draft.replications);
        let kind = match draft.kind {
            DesignType::Full => DesignKind::Full,
            DesignType::OneFactor => {
                DesignKind::OneFactor { baseline: self.baseline(&draft, factors) }
            }
            DesignType::Fractional => {
                if draft.runs.is_none() && draft.generators.is_empty() {
                    let help = "add runs = 8 or generators = [\"c = a*b\"]";
                    self.fault(
                        at!["design"],
                        "a fractional design needs runs or generators",
                        Some(help),
                    );
                }
                DesignKind::Fractional {
                    runs: draft.runs,
                    generators: draft.generators,
                    resolution: draft.resolution,
                }
            }
            DesignType::Table => DesignKind::Table { rows: self.table(&draft, factors)? },
            DesignType::PlackettBurman
            | DesignType::CentralComposite
            | DesignType::BoxBehnken
            | DesignType::LatinHypercube => {
                let help = "there are one-factor, full, fractional and table";
                self.fault(at!["design", "type"], "this design is not built in yet", Some(help));
                return None;
            }
        };
        Some(DesignSpec { kind, replications, order })
    }

    fn keys_that_do_not_fit(&mut self, draft: &DesignDraft) {
        let keys = [
            ("runs", draft.runs.is_some(), DesignType::Fractional),
            ("resolution", draft.resolution.is_some(), DesignType::Fractional),
            ("generators", !draft.generators.is_empty(), DesignType::Fractional),
            ("baseline", !draft.baseline.0.is_empty(), DesignType::OneFactor),
            ("rows", draft.rows.is_some(), DesignType::Table),
            ("file", draft.file.is_some(), DesignType::Table),
            ("coded", draft.coded, DesignType::Table),
        ];
        for (key, present, kind) in keys {
            if present && kind != draft.kind {
                let message = format!("`{key}` does not go with this type of design");
                self.fault(at!["design", key], message, Some("leave it out"));
            }
        }
    }

    fn baseline(&mut self, draft: &DesignDraft, factors: &[Factor]) -> Configuration {
        let mut pairs = Vec::new();
        for (name, level) in &draft.baseline.0 {
            let place = at!["design", "baseline", name];
            match factors.iter().find(|factor| &factor.name == name) {
                None => {
                    let names = factors.iter().map(|factor| factor.name.as_str());
                    self.unknown_name(place, format!("`{name}` is no factor"), name, names);
                }
                Some(factor) => match factor.level(level) {
                    Some(level) => pairs.push((name.clone(), level.clone())),
                    None => self.no_level(place, level, factor),
                },
            }
        }
        Configuration::new(pairs)
    }

    fn table(&mut self, draft: &DesignDraft, factors: &[Factor]) -> Option<Vec<Configuration>> {
        match (&draft.rows, &draft.file) {
            (Some(rows), None) => Some(self.inline_rows(rows, draft.coded, factors)),
            (None, Some(file)) => self.file_rows(file, draft.coded, factors),
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
                    Some(level) => pairs.push((factor.name.clone(), level.clone())),
                    None => self.no_level(at!["design", "rows", index, column], cell, factor),
                }
            }
            configurations.push(Configuration::new(pairs));
        }
        configurations
    }

    fn file_rows(
        &mut self,
        file: &str,
        coded: bool,
        factors: &[Factor],
    ) -> Option<Vec<Configuration>> {
        let place = at!["design", "file"];
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

    fn no_level(&mut self, place: &[Step], cell: &Level, factor: &Factor) {
        let message = format!("{cell} is no level of `{}`", factor.name);
        self.fault(place, message, Some(&levels_of(factor)));
    }
}

fn levels_of(factor: &Factor) -> String {
    let levels: Vec<String> = factor.levels.iter().map(Level::to_string).collect();
    format!("its levels are {}", levels.join(", "))
}

/// The factor's level that a table cell means.
fn own_level<'a>(factor: &'a Factor, cell: &Level, coded: bool) -> Option<&'a Level> {
    if !coded {
        return factor.level(cell);
    }
    let (low, high) = factor.low_and_high()?;
    match cell.number()? {
        -1.0 => Some(low),
        1.0 => Some(high),
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
            pairs.push((factor.name.clone(), level.clone()));
        }
        rows.push(Configuration::new(pairs));
    }
    Ok(rows)
}
