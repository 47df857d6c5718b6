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
                    None if coded => {
                        self.no_code(at!["design", "rows", index, column], cell, factor)
                    }
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

    fn no_code(&mut self, place: &[Step], cell: &Level, factor: &Factor) {
        let message = format!("{cell} is no code of `{}`", factor.name);
        self.fault(place, message, Some(&codes_of(factor)));
    }
}

fn levels_of(factor: &Factor) -> String {
    let levels: Vec<String> = factor.levels.iter().map(Level::to_string).collect();
    if factor.domain == Domain::Range {
        return format!("it goes from {}", levels.join(" to "));
    }
    format!("its levels are {}", levels.join(", "))
}

fn codes_of(factor: &Factor) -> String {
    match factor.low_and_high() {
        Some((low, high)) => format!("write -1 for {low} and 1 for {high}"),
        None => {
            let levels = factor.levels.len();
            format!("only factors of two levels have codes, this has {levels}")
        }
    }
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
                let (what, own) = match coded {
                    true => ("code", codes_of(factor)),
                    false => ("level", levels_of(factor)),
                };
                format!("line {line}: {cell} is no {what} of `{}`; {own}", factor.name)
            })?;
            pairs.push((factor.name.clone(), level));
        }
        rows.push(Configuration::new(pairs));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DesignKind;
    use crate::file::check::tests::{check, taken, with_file};

    /// Rows of a CSV text for `a` of 1 or 2 and `b` of x or y.
    fn rows(csv: &str, coded: bool) -> Result<Vec<String>, String> {
        let factors = taken("\"s\"", "\"t\"").factors;
        let rows = rows_of_csv(csv, coded, &factors)?;
        Ok(rows.iter().map(Configuration::to_string).collect())
    }

    #[track_caller]
    fn refused(csv: &str, coded: bool, words: &str) {
        assert_eq!(rows(csv, coded).unwrap_err(), words, "{csv}");
    }

    #[test]
    fn columns_are_found_by_name_wherever_they_stand() {
        let csv = "note, b ,a\nfirst,x,1\n\"second, quoted\", y ,2.0\n";
        assert_eq!(rows(csv, false).unwrap(), ["a=1 b=x", "a=2 b=y"]);
    }

    #[test]
    fn a_mark_of_the_byte_order_and_other_line_ends_are_taken() {
        assert_eq!(rows("\u{feff}a,b\r\n1,x\r\n", false).unwrap(), ["a=1 b=x"]);
    }

    #[test]
    fn a_file_without_rows_has_none() {
        assert_eq!(rows("a,b\n", false).unwrap(), Vec::<String>::new());
        refused("", false, "line 1 has no column `a`");
    }

    #[test]
    fn a_missing_column_and_a_strange_cell_are_named() {
        refused("a,c\n1,x\n", false, "line 1 has no column `b`");
        refused("A,b\n1,x\n", false, "line 1 has no column `a`");
        refused("a,b\n1,x\n3,x\n", false, "line 3: 3 is no level of `a`; its levels are 1, 2");
        refused("a,b\n1,z\n", false, "line 2: z is no level of `b`; its levels are x, y");
    }

    #[test]
    fn a_row_of_another_length_is_named_by_its_line() {
        let words = rows("a,b\n1,x\n2\n", false).unwrap_err();
        assert!(words.contains("line: 3") && words.contains("1 fields"), "{words}");
    }

    #[test]
    fn coded_cells_are_the_lower_and_the_higher_level() {
        assert_eq!(rows("a,b\n-1,+1\n1.0,-1\n", true).unwrap(), ["a=1 b=y", "a=2 b=x"]);
    }

    #[test]
    fn a_coded_cell_that_is_none_is_told_the_two_that_are() {
        refused("a,b\n0,1\n", true, "line 2: 0 is no code of `a`; write -1 for 1 and 1 for 2");
        refused("a,b\n1,x\n", true, "line 2: x is no code of `b`; write -1 for x and 1 for y");
        check(
            "type = \"full\"",
            "type = \"table\"\ncoded = true\nrows = [[1, 1], [2, 1]]",
            &["11:18: 2 is no code of `a` (write -1 for 1 and 1 for 2)"],
        );
    }

    #[test]
    fn a_factor_of_three_levels_has_no_codes() {
        let text = "[1, 2, 3]\n[factors.c]\nlevels = [5, 6]";
        let factors = taken("[1, 2]", text).factors;
        let words = rows_of_csv("a,b,c\n1,1,1\n", true, &factors).unwrap_err();
        assert_eq!(
            words,
            "line 2: 1 is no code of `a`; only factors of two levels have codes, this has 3"
        );
    }

    #[test]
    fn a_cell_of_a_range_is_told_where_it_goes() {
        let factors = taken("levels = [1, 2]", "range = { from = 1, to = 2 }").factors;
        let rows = rows_of_csv("a,b\n1.5,x\n", false, &factors).unwrap();
        assert_eq!(rows[0].to_string(), "a=1.5 b=x");
        assert_eq!(
            rows_of_csv("a,b\n2.5,x\n", false, &factors).unwrap_err(),
            "line 2: 2.5 is no level of `a`; it goes from 1 to 2"
        );
    }

    #[test]
    fn a_table_has_its_rows_in_one_place() {
        let words = "8:2: a table design needs rows or a file (give rows = [[...], ...] or file = \"rows.csv\")";
        check("type = \"full\"", "type = \"table\"", &[words]);
        let both = "type = \"table\"\nrows = []\nfile = \"rows.csv\"";
        check("type = \"full\"", both, &[words]);
    }

    #[test]
    fn every_faulty_cell_of_listed_rows_is_told() {
        check(
            "type = \"full\"",
            "type = \"table\"\nrows = [[3, \"x\"], [1], [1, \"z\"], [1, \"x\", 2]]",
            &[
                "10:10: 3 is no level of `a` (its levels are 1, 2)",
                "10:19: row 2 has 1 cells for 2 factors",
                "10:28: z is no level of `b` (its levels are x, y)",
                "10:34: row 4 has 3 cells for 2 factors",
            ],
        );
    }

    #[test]
    fn rows_of_a_file_beside_the_study_are_a_table_or_candidates() {
        let table = "type = \"table\"\nfile = \"rows.csv\"";
        let study = with_file("type = \"full\"", table, "rows.csv", "a,b\n2,y\n").unwrap();
        let DesignKind::Table { rows } = study.design.kind else { panic!() };
        assert_eq!(rows.iter().map(Configuration::to_string).collect::<Vec<_>>(), ["a=2 b=y"]);
        let optimal = "type = \"d-optimal\"\nruns = 2\ncandidates = \"rows.csv\"";
        let study = with_file("type = \"full\"", optimal, "rows.csv", "a,b\n2,y\n1,x\n").unwrap();
        let DesignKind::DOptimal { candidates, .. } = study.design.kind else { panic!() };
        assert_eq!(candidates.len(), 2);
    }

    #[test]
    fn a_fault_in_a_file_of_rows_names_the_file_and_stands_at_its_key() {
        let table = "type = \"table\"\nfile = \"rows.csv\"";
        let refused = |name: &str, content: &str| {
            with_file("type = \"full\"", table, name, content).unwrap_err()
        };
        assert_eq!(
            refused("rows.csv", "a\n1\n"),
            "study.toml:10:8: rows.csv: line 1 has no column `b`"
        );
        assert_eq!(
            refused("other.csv", "a,b\n"),
            "study.toml:10:8: cannot read `rows.csv`: entity not found"
        );
    }
}
