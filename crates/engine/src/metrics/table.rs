//! A column of a CSV file with a header.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use super::reported::STEP_KEYS;
use super::{Point, Reading, number, shown};
use crate::output::open::open_regular;

/// Bytes of a row; a quote that is never closed would make the rest of the file one.
const LONGEST_ROW: usize = 1 << 20;

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
    let mut rows = csv::ReaderBuilder::new();
    let left = Rc::new(Cell::new(LONGEST_ROW));
    let input = Rationed { input: open_regular(path)?, left: left.clone() };
    let mut rows = rows.flexible(true).trim(csv::Trim::All).from_reader(input);
    let header = rows.byte_headers()?.clone();
    let position = |name: &str| header.iter().position(|cell| cell == name.as_bytes());
    let Some(wanted) = position(column) else {
        let known: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
        reading.complain(format!(
            "{} has no column `{column}`; it has {}",
            path.display(),
            shown(&known.join(", "))
        ));
        return Ok(reading);
    };
    let step = STEP_KEYS.iter().filter(|key| **key != column).find_map(|key| position(key));
    let mut row = csv::ByteRecord::new();
    let mut short: Option<(usize, String)> = None;
    loop {
        left.set(LONGEST_ROW);
        if !rows.read_byte_record(&mut row)? {
            // A short row is none of ours, unless it is the last and has no end.
            if let Some((line, text)) = short.filter(|_| !ends_with_line(path)) {
                let (place, text) = (&reading.place, shown(&text));
                let complaint = format!("line {line} of {place} was cut off: `{text}`");
                reading.complain(complaint);
            }
            return Ok(reading);
        }
        let line = row.position().map_or(0, |position| position.line()) as usize;
        let cell = |index: usize| row.get(index).map(String::from_utf8_lossy).unwrap_or_default();
        let text = cell(wanted);
        if row.len() <= wanted && row.len() < header.len() {
            short =
                Some((line, row.iter().map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")));
            continue;
        }
        short = None;
        if text.is_empty() {
            continue;
        }
        let Some(value) = number(&text) else {
            reading.complain(format!(
                "line {line} of {}: `{}` is no number",
                reading.place,
                shown(&text)
            ));
            continue;
        };
        let step = step.and_then(|step| number(&cell(step))).filter(|step| step.is_finite());
        reading.values.add(Point { line, text: shown(&text).into(), value, step });
    }
}

/// Whether the last byte of a file ends a line.
fn ends_with_line(path: &Path) -> bool {
    let last = || {
        let mut file = open_regular(path)?;
        file.seek(SeekFrom::End(-1))?;
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        Ok::<u8, io::Error>(byte[0])
    };
    last().is_ok_and(|byte| matches!(byte, b'\n' | b'\r'))
}

/// Gives so many bytes until there is a new ration.
struct Rationed<R> {
    input: R,
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Rationed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::other("a row has more than a mebibyte; is a quote left open?"));
        }
        let most = buffer.len().min(self.left.get());
        let length = self.input.read(&mut buffer[..most])?;
        self.left.set(self.left.get() - length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn a_ration_ends_and_begins_anew() {
        let left = Rc::new(Cell::new(4));
        let mut input = Rationed { input: &b"abcdefgh"[..], left: left.clone() };
        let mut buffer = [0; 8];
        assert_eq!(input.read(&mut buffer).unwrap(), 4);
        assert!(input.read(&mut buffer).unwrap_err().to_string().contains("is a quote left open?"));
        left.set(10);
        assert_eq!(input.read(&mut buffer).unwrap(), 4);
    }

    #[test]
    fn a_quote_that_is_never_closed_does_not_take_the_rest_for_a_row() {
        let text = format!("y\n1\n\"{}", "x\n".repeat(LONGEST_ROW));
        let reading = read(file(&text).path(), "y");
        assert!(reading.values.is_empty());
        assert!(
            reading.complaints[0].contains("a row has more than a mebibyte"),
            "{:?}",
            reading.complaints
        );
    }

    #[test]
    fn the_end_of_a_file_tells_whether_its_line_is_whole() {
        assert!(ends_with_line(file("a\n").path()) && ends_with_line(file("a\r").path()));
        assert!(!ends_with_line(file("a").path()) && !ends_with_line(file("").path()));
    }

    #[test]
    fn a_column_that_is_a_step_itself_has_no_other_step() {
        let reading = read(file("step,loss\n1,5\n2,4\n").path(), "step");
        let points: Vec<(f64, Option<f64>)> =
            reading.values.iter().map(|(_, point)| (point.value, point.step)).collect();
        assert_eq!(points, [(1.0, None), (2.0, None)]);
        let reading = read(file("step,loss\n1,5\nNaN,4\n").path(), "loss");
        let steps: Vec<Option<f64>> = reading.values.iter().map(|(_, point)| point.step).collect();
        assert_eq!(steps, [Some(1.0), None]);
    }
}
