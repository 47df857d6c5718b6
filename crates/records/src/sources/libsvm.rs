//! Text files of sparse rows: `label index:value index:value ...`, one row a line.
//!
//! The form of the LIBSVM tools (Chang and Lin): indices rise within a row, values that are not
//! there are zero, a `#` begins a comment. Ranking files with `qid:` are not read.

use std::path::{Path, PathBuf};

use super::Fingerprint;
use crate::error::RecordsError;
use crate::shard_bytes::ShardBytes;

/// More different labels than this are numbers to predict, not classes.
const MOST_CLASSES: usize = 1000;

/// One row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseRow {
    /// The label as written.
    pub label: f64,
    /// Indices of the values, rising.
    pub indices: Vec<i64>,
    /// The values.
    pub values: Vec<f32>,
}

/// A libsvm file, mapped, with the start of each row.
pub struct LibsvmFile {
    path: PathBuf,
    bytes: ShardBytes,
    /// First byte and number of the line of each row.
    rows: Vec<(u64, u64)>,
    /// Different labels, rising, when they are classes.
    labels: Option<Vec<f64>>,
    fingerprint: String,
}

impl LibsvmFile {
    /// Reads and checks a whole file; it may be GZIP-compressed.
    ///
    /// # Errors
    /// When a line is no row; file and line are named.
    pub fn open(path: &Path) -> Result<Self, RecordsError> {
        let bytes = ShardBytes::open_text(path)?;
        let (mut rows, mut labels) = (Vec::new(), Vec::<f64>::new());
        let (mut start, mut whole) = (0_u64, true);
        for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            let number = number as u64 + 1;
            let row =
                parse_libsvm_line(line).map_err(|error| error.in_line(number).in_file(path))?;
            if let Some(row) = row {
                rows.push((start, number));
                whole &= row.label.fract() == 0.0;
                if let Err(at) = labels.binary_search_by(|label| label.total_cmp(&row.label))
                    && labels.len() <= MOST_CLASSES
                {
                    labels.insert(at, row.label);
                }
            }
            start += line.len() as u64 + 1;
        }
        if rows.is_empty() {
            return Err(RecordsError::NoExamples.in_file(path));
        }
        let classes = whole && labels.len() <= MOST_CLASSES;
        let fingerprint = Fingerprint::of_file(path)?;
        let labels = classes.then_some(labels);
        Ok(Self { path: path.to_owned(), bytes, rows, labels, fingerprint })
    }

    /// How many rows there are.
    pub fn items(&self) -> usize {
        self.rows.len()
    }

    /// A row.
    ///
    /// # Errors
    /// When the file has changed since it was opened.
    pub fn row(&self, item: usize) -> Result<SparseRow, RecordsError> {
        let (start, number) = self.rows[item];
        let line = self.bytes[start as usize..].split(|&byte| byte == b'\n').next();
        let in_line = |error: RecordsError| error.in_line(number).in_file(&self.path);
        parse_libsvm_line(line.unwrap_or_default())
            .map_err(in_line)?
            .ok_or_else(|| in_line(RecordsError::NoExamples))
    }

    /// The class of a label, when labels are classes: its place among the rising labels.
    pub fn class(&self, label: f64) -> Option<usize> {
        self.labels.as_ref()?.binary_search_by(|known| known.total_cmp(&label)).ok()
    }

    /// The labels as text in the order of their classes; none when they are no classes.
    pub fn classes(&self) -> Vec<String> {
        self.labels.iter().flatten().map(f64::to_string).collect()
    }

    pub(super) fn line(&self, item: usize) -> u64 {
        self.rows[item].1
    }

    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// Reads one line; `None` when it is blank or a comment.
///
/// # Errors
/// When a word is no number or pair of numbers, or indices do not rise.
pub fn parse_libsvm_line(line: &[u8]) -> Result<Option<SparseRow>, RecordsError> {
    let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(label) = words.next() else { return Ok(None) };
    let mut row = SparseRow { label: number(label, "label")?, ..SparseRow::default() };
    for word in words {
        let bad = || bad_word(word, "pair `index:value`");
        let colon = word.iter().position(|&byte| byte == b':').ok_or_else(bad)?;
        let index: i64 = std::str::from_utf8(&word[..colon])
            .ok()
            .and_then(|it| it.parse().ok())
            .ok_or_else(bad)?;
        let previous = row.indices.last().copied().unwrap_or(-1);
        if index <= previous {
            return Err(RecordsError::IndexOrder { previous, index });
        }
        row.indices.push(index);
        row.values.push(number(&word[colon + 1..], "number")? as f32);
    }
    Ok(Some(row))
}

fn number(word: &[u8], expected: &'static str) -> Result<f64, RecordsError> {
    let number = std::str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok());
    number.filter(|number| number.is_finite()).ok_or_else(|| bad_word(word, expected))
}

fn bad_word(word: &[u8], expected: &'static str) -> RecordsError {
    RecordsError::BadWord { text: String::from_utf8_lossy(word).into_owned(), expected }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_and_classes_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "+1 1:0.5 7:2 \n# note\n\n-1 3:1e-3 # why\r\n+1").unwrap();
        let rows = LibsvmFile::open(file.path()).unwrap();
        assert_eq!((rows.items(), rows.classes()), (3, vec!["-1".to_owned(), "1".to_owned()]));
        let row = rows.row(0).unwrap();
        assert_eq!((row.indices, row.values), (vec![1, 7], vec![0.5, 2.0]));
        assert_eq!((rows.class(-1.0), rows.class(1.0), rows.class(0.0)), (Some(0), Some(1), None));
        assert_eq!((rows.line(1), rows.row(1).unwrap().values), (4, vec![0.001]));
        assert!(rows.row(2).unwrap().indices.is_empty());
    }

    #[test]
    fn labels_that_are_no_whole_numbers_are_no_classes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "0.5 1:1\n1 1:2\n").unwrap();
        assert!(LibsvmFile::open(file.path()).unwrap().classes().is_empty());
    }

    #[track_caller]
    fn check(line: &str, message: &str) {
        assert_eq!(parse_libsvm_line(line.as_bytes()).unwrap_err().to_string(), message);
    }

    #[test]
    fn faults_are_shown() {
        check("x 1:1", "`x` is no label");
        check("1 2", "`2` is no pair `index:value`");
        check("1 qid:3", "`qid:3` is no pair `index:value`");
        check("1 2:nan", "`nan` is no number");
        check("1 3:1 3:1", "index 3 does not follow 3; indices must rise within a row");
        check("1 -3:1", "index -3 does not follow -1; indices must rise within a row");
    }

    proptest! {
        #[test]
        fn rows_survive_the_round_trip(
            label: i32, pairs in prop::collection::btree_map(0..1_000_000_i64, -1e30..1e30_f32, 0..9),
        ) {
            let words: Vec<_> = pairs.iter().map(|(i, v)| format!("{i}:{v}")).collect();
            let line = format!("{label} {}", words.join(" "));
            let row = parse_libsvm_line(line.as_bytes()).unwrap().unwrap();
            prop_assert_eq!(row.label, f64::from(label));
            prop_assert!(row.indices.iter().copied().eq(pairs.keys().copied()));
            prop_assert!(row.values.iter().copied().eq(pairs.values().copied()));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = parse_libsvm_line(&bytes);
        }

        #[test]
        fn arbitrary_text_never_panics(text in "[0-9:.e# +-]{0,40}") {
            let _ = parse_libsvm_line(text.as_bytes());
        }
    }
}
