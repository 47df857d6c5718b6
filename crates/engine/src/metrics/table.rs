//! A column of a CSV file with a header.

use std::path::Path;

use super::reported::STEP_KEYS;
use super::{Point, Reading, number};

/// The numbers of a column, row by row; empty cells are passed over.
///
/// A column `step` or `epoch` gives their positions.
pub(crate) fn read(path: &Path, column: &str) -> Reading {
    match read_rows(path, column) {
        Ok(reading) => reading,
        Err(error) => Reading::nothing(format!("{}: {error}", path.display())),
    }
}

fn read_rows(path: &Path, column: &str) -> Result<Reading, csv::Error> {
    let mut reading = Reading::new(path);
    let mut rows = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_path(path)?;
    let header = rows.byte_headers()?.clone();
    let position = |name: &str| header.iter().position(|cell| cell == name.as_bytes());
    let Some(wanted) = position(column) else {
        let known: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
        reading.complain(format!(
            "{} has no column `{column}`; it has {}",
            path.display(),
            known.join(", ")
        ));
        return Ok(reading);
    };
    let step = STEP_KEYS.iter().filter(|key| **key != column).find_map(|key| position(key));
    let mut row = csv::ByteRecord::new();
    while rows.read_byte_record(&mut row)? {
        let line = row.position().map_or(0, |position| position.line()) as usize;
        let cell = |index: usize| row.get(index).map(String::from_utf8_lossy).unwrap_or_default();
        let text = cell(wanted);
        if text.is_empty() {
            continue;
        }
        let Some(value) = number(&text) else {
            reading.complain(format!("line {line} of {}: `{text}` is no number", reading.place));
            continue;
        };
        let step = step.and_then(|step| number(&cell(step))).filter(|step| step.is_finite());
        reading.points.push(Point { line, text: text.as_ref().into(), value, step });
    }
    Ok(reading)
}
