//! Named columns of numbers or categories, as a CSV file holds them.

pub(crate) mod columns;

use std::collections::BTreeSet;
use std::io::Read;

use crate::error::AnalysisError;

/// A table of named columns of equal length.
///
/// ```
/// use trainwright_analysis::Table;
///
/// let table = Table::from_csv("cost,lr\n0.5,slow\n0.25,fast\n".as_bytes(), &[])?;
/// assert_eq!(table.rows(), 2);
/// # Ok::<(), trainwright_analysis::AnalysisError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    rows: usize,
    /// Line of each row in the file it was read from.
    lines: Vec<u64>,
    columns: Vec<(String, Column)>,
    /// Columns of the file that were passed over.
    not_held: Vec<String>,
}

/// The cells of a column as one text, which takes less room than a text a cell.
#[derive(Default, Clone)]
struct Cells {
    text: String,
    ends: Vec<usize>,
}

impl Cells {
    fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

/// The cells of one column; an empty cell is `None`.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers, all finite.
    Numeric(Vec<Option<f64>>),
    /// Texts.
    Categorical(Vec<Option<String>>),
}

impl Table {
    /// Reads a CSV file with a header.
    ///
    /// A column is numeric if every cell is a number, empty or a word that programs write for a
    /// missing value (`NA`, `N/A`, `null`), unless `categorical` names it; a column with
    /// any other text is categorical.
    ///
    /// # Errors
    /// A file that is not CSV, rows of unequal length, a repeated header, no rows, an infinite
    /// number, or a name in `categorical` that the header lacks.
    pub fn from_csv(source: impl Read, categorical: &[String]) -> Result<Self, AnalysisError> {
        Self::read(source, categorical, |_| true)
    }

    /// The same, but holds only the columns of these names, which saves memory in a long table.
    ///
    /// # Errors
    /// As [`Self::from_csv`], but other columns are not looked into; a name that the header lacks
    /// is found when the column is asked for.
    pub fn from_csv_columns(
        source: impl Read,
        categorical: &[String],
        names: &[&str],
    ) -> Result<Self, AnalysisError> {
        Self::read(source, categorical, |name| names.contains(&name))
    }

    /// A table of columns that a program put together; its rows are counted from 1, as its lines.
    ///
    /// # Errors
    /// No row, a name that stands twice, columns of unequal length, or a number that is not finite.
    pub fn from_columns(columns: Vec<(String, Column)>) -> Result<Self, AnalysisError> {
        let cells = |column: &Column| match column {
            Column::Numeric(cells) => cells.len(),
            Column::Categorical(cells) => cells.len(),
        };
        let rows = columns.first().map_or(0, |(_, column)| cells(column));
        if rows == 0 {
            return Err(AnalysisError::NoRows);
        }
        let mut seen = BTreeSet::new();
        for (name, column) in &columns {
            if !seen.insert(name.as_str()) {
                return Err(AnalysisError::DuplicateColumn { name: name.clone() });
            }
            if cells(column) != rows {
                let (first, length) = (columns[0].0.clone(), cells(column));
                return Err(AnalysisError::UnequalColumns {
                    name: name.clone(),
                    length,
                    first,
                    rows,
                });
            }
            if let Column::Numeric(cells) = column
                && let Some((row, value)) = cells
                    .iter()
                    .enumerate()
                    .find_map(|(row, cell)| Some((row, cell.filter(|own| !own.is_finite())?)))
            {
                let (line, value) = (row as u64 + 1, value.to_string());
                return Err(AnalysisError::NotFinite { line, column: name.clone(), value });
            }
        }
        let lines = (1..=rows as u64).collect();
        Ok(Self { rows, lines, columns, not_held: Vec::new() })
    }

    fn read(
        source: impl Read,
        categorical: &[String],
        holds: impl Fn(&str) -> bool,
    ) -> Result<Self, AnalysisError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(source);
        let names: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        if names.iter().all(String::is_empty) {
            return Err(AnalysisError::NoHeader);
        }
        let mut seen = BTreeSet::new();
        if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(AnalysisError::DuplicateColumn { name: name.clone() });
        }
        if let Some(name) = categorical.iter().find(|name| !names.contains(name)) {
            return Err(unknown(name, names.iter()));
        }
        let mut lines = Vec::new();
        let mut columns: Vec<Option<Cells>> =
            names.iter().map(|name| holds(name).then(Cells::default)).collect();
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record)? {
            lines.push(record.position().map_or(0, csv::Position::line));
            for (column, cell) in columns.iter_mut().zip(record.iter()) {
                if let Some(column) = column {
                    column.push(cell);
                }
            }
        }
        if lines.is_empty() {
            return Err(AnalysisError::NoRows);
        }
        let absent = names.iter().zip(&columns).filter(|(_, cells)| cells.is_none());
        let not_held = absent.map(|(name, _)| name.clone()).collect();
        let columns = names
            .into_iter()
            .zip(columns)
            .filter_map(|(name, cells)| Some((name, cells?)))
            .map(|(name, cells)| {
                let column = if categorical.contains(&name) {
                    Column::Categorical(cells.iter().map(text_cell).collect())
                } else {
                    read_column(&name, &cells, &lines)?
                };
                Ok((name, column))
            })
            .collect::<Result<_, AnalysisError>>()?;
        Ok(Self { rows: lines.len(), lines, columns, not_held })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The column of a name.
    ///
    /// # Errors
    /// A name that the table lacks.
    pub fn column(&self, name: &str) -> Result<&Column, AnalysisError> {
        match self.columns.iter().find(|(n, _)| n == name) {
            Some((_, column)) => Ok(column),
            None => {
                let held = self.columns.iter().map(|(n, _)| n);
                Err(unknown(name, held.chain(&self.not_held)))
            }
        }
    }

    /// Line of a row in the file, the header being line 1.
    pub fn line(&self, row: usize) -> u64 {
        self.lines[row]
    }
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> AnalysisError {
    let known: Vec<String> = known.map(|n| format!("`{n}`")).collect();
    AnalysisError::UnknownColumn { name: name.to_owned(), known: known.join(", ") }
}

fn text_cell(cell: &str) -> Option<String> {
    if cell.is_empty() { None } else { Some(cell.to_owned()) }
}

/// Whether a cell of a column of numbers stands for no value.
pub(crate) fn is_missing(cell: impl AsRef<[u8]>) -> bool {
    matches!(cell.as_ref(), b"" | b"NA" | b"N/A" | b"n/a" | b"null" | b"NULL")
}

fn read_column(name: &str, cells: &Cells, lines: &[u64]) -> Result<Column, AnalysisError> {
    let numeric = cells.iter().all(|c| is_missing(c) || c.parse::<f64>().is_ok());
    if !numeric || cells.iter().all(is_missing) {
        return Ok(Column::Categorical(cells.iter().map(text_cell).collect()));
    }
    let mut values = Vec::with_capacity(lines.len());
    for (cell, &line) in cells.iter().zip(lines) {
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => values.push(Some(value)),
            Ok(_) => {
                let (column, value) = (name.to_owned(), cell.to_owned());
                return Err(AnalysisError::NotFinite { line, column, value });
            }
            Err(_) => values.push(None),
        }
    }
    Ok(Column::Numeric(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Table, AnalysisError> {
        Table::from_csv(text.as_bytes(), &[])
    }

    #[test]
    fn columns_are_numeric_until_a_text_appears() {
        let table = read("y,stack.loss,g\n1,2.5,a\n,3e-2,1\n2,NA,2\n").unwrap();
        assert_eq!(*table.column("y").unwrap(), Column::Numeric(vec![Some(1.0), None, Some(2.0)]));
        assert_eq!(
            *table.column("stack.loss").unwrap(),
            Column::Numeric(vec![Some(2.5), Some(0.03), None])
        );
        assert!(matches!(table.column("g").unwrap(), Column::Categorical(_)));
        assert_eq!(table.line(1), 3);
    }

    #[test]
    fn words_for_a_missing_value_leave_a_column_numeric() {
        for word in ["NA", "N/A", "n/a", "null", "NULL"] {
            let table = read(&format!("x,g\n1,a\n{word},{word}\n")).unwrap();
            let numbers = Column::Numeric(vec![Some(1.0), None]);
            assert_eq!(*table.column("x").unwrap(), numbers, "{word}");
            let texts = Column::Categorical(vec![Some("a".to_owned()), Some(word.to_owned())]);
            assert_eq!(*table.column("g").unwrap(), texts, "{word} among texts");
        }
        let levels = read("dropout\n0.5\nNone\n").unwrap();
        let told = "a setting may well be None";
        assert!(matches!(levels.column("dropout").unwrap(), Column::Categorical(_)), "{told}");
    }

    #[test]
    fn numbers_named_as_categorical_stay_text() {
        let table = Table::from_csv("y,dose\n1,0.5\n".as_bytes(), &["dose".to_owned()]).unwrap();
        let expected = Column::Categorical(vec![Some("0.5".to_owned())]);
        assert_eq!(*table.column("dose").unwrap(), expected);
    }

    #[test]
    fn columns_of_a_program_are_held_to_the_same_rules_as_a_file() {
        let numbers =
            |values: &[f64]| Column::Numeric(values.iter().map(|own| Some(*own)).collect());
        let named = |name: &str, values: &[f64]| (name.to_owned(), numbers(values));
        let words = |columns| Table::from_columns(columns).unwrap_err().to_string();
        let table = Table::from_columns(vec![named("x", &[1.0, 2.0])]).unwrap();
        assert_eq!((table.rows(), table.line(1)), (2, 2));
        assert_eq!(words(vec![]), "the table has a header but no rows");
        assert_eq!(
            words(vec![named("x", &[1.0]), named("y", &[1.0, 2.0])]),
            "`y` has 2 values where `x` has 1"
        );
        assert_eq!(
            words(vec![named("x", &[1.0, f64::INFINITY])]),
            "line 2, column `x`: `inf` is not a finite number"
        );
        assert!(words(vec![named("x", &[1.0]), named("x", &[1.0])]).contains("twice"));
    }

    #[track_caller]
    fn check(text: &str, message: &str) {
        assert_eq!(read(text).unwrap_err().to_string(), message);
    }

    #[test]
    fn faulty_files_are_named_by_line_and_column() {
        check("y,x\n1,2\n3,inf\n", "line 3, column `x`: `inf` is not a finite number");
        check("y,y\n1,2\n", "the header names column `y` twice");
        check("y,x\n", "the table has a header but no rows");
        check("", "the table is empty: it has neither a header nor rows");
        assert!(read("y,x\n1,2\n3\n").unwrap_err().to_string().contains("line: 3"));
        let table = read("y,x\n1,2\n").unwrap();
        let error = table.column("z").unwrap_err().to_string();
        assert_eq!(error, "there is no column `z`; the table has `y`, `x`");
    }
}
