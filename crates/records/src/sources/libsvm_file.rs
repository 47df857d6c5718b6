//! Text files of sparse rows, row by row; `crate::data_sets::libsvm` knows the lines.

use std::io::BufRead;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::Fingerprint;
use super::text_file::TextFile;
use crate::data_sets::libsvm::SparseRow;
use crate::error::RecordsError;

/// More different labels than this are numbers to predict, not classes.
const MOST_CLASSES: usize = 1000;

/// A libsvm file with the start of each row.
pub struct LibsvmFile {
    path: PathBuf,
    text: TextFile,
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
        let text = TextFile::open(path)?;
        let mut lines = text.whole()?;
        let (mut rows, mut labels) = (Vec::new(), Vec::<f64>::new());
        let (mut start, mut whole, mut row) = (0_u64, true, SparseRow::default());
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line);
            let read = read.map_err(|error| RecordsError::from(error).in_file(path))? as u64;
            if read == 0 {
                break;
            }
            number += 1;
            let content = line.strip_suffix(b"\n").unwrap_or(&line);
            if row.read(content).map_err(|error| error.in_line(number).in_file(path))? {
                rows.push((start, number));
                whole &= row.label.fract() == 0.0;
                if let Err(at) = labels.binary_search_by(|label| label.total_cmp(&row.label))
                    && labels.len() <= MOST_CLASSES
                {
                    labels.insert(at, row.label);
                }
            }
            start += read;
        }
        drop(lines);
        if rows.is_empty() {
            return Err(RecordsError::NoExamples.in_file(path));
        }
        let classes = whole && labels.len() <= MOST_CLASSES;
        let fingerprint = Fingerprint::of_file(path)?;
        let labels = classes.then_some(labels);
        Ok(Self { path: path.to_owned(), text, rows, labels, fingerprint })
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
        let number = self.rows[item].1;
        let mut memory = Vec::new();
        let text = self.text.read(self.place(item), &mut memory)?;
        let line = text.split(|&byte| byte == b'\n').next();
        let in_line = |error: RecordsError| error.in_line(number).in_file(&self.path);
        let mut row = SparseRow::default();
        match row.read(line.unwrap_or_default()) {
            Ok(true) => Ok(row),
            Ok(false) => Err(in_line(RecordsError::NoExamples)),
            Err(error) => Err(in_line(error)),
        }
    }

    /// The class of a label, when labels are classes: its place among the rising labels.
    pub fn class(&self, label: f64) -> Option<usize> {
        self.labels.as_ref()?.binary_search_by(|known| known.total_cmp(&label)).ok()
    }

    /// The labels as text in the order of their classes; none when they are no classes.
    pub fn classes(&self) -> Vec<String> {
        self.labels.iter().flatten().map(f64::to_string).collect()
    }

    /// From the start of a row to that of the next.
    fn place(&self, item: usize) -> Range<u64> {
        let end = self.rows.get(item + 1).map_or(self.text.bytes(), |next| next.0);
        self.rows[item].0..end
    }

    pub(super) fn line(&self, item: usize) -> u64 {
        self.rows[item].1
    }

    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn rows_and_classes_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "+1 1:0.5 7:2 \n# note\n\n-1 3:1e-3 # why\r\n+1").unwrap();
        let rows = LibsvmFile::open(file.path()).unwrap();
        assert_eq!((rows.items(), rows.classes()), (3, vec!["-1".to_owned(), "1".to_owned()]));
        let row = rows.row(0).unwrap();
        assert_eq!(row.features, [(1, 0.5), (7, 2.0)]);
        assert_eq!((rows.class(-1.0), rows.class(1.0), rows.class(0.0)), (Some(0), Some(1), None));
        assert_eq!((rows.line(1), rows.row(1).unwrap().features), (4, vec![(3, 0.001)]));
        assert!(rows.row(2).unwrap().features.is_empty());
    }

    #[test]
    fn labels_that_are_no_whole_numbers_are_no_classes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "0.5 1:1\n1 1:2\n").unwrap();
        assert!(LibsvmFile::open(file.path()).unwrap().classes().is_empty());
    }

    fn labelled(count: usize) -> LibsvmFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: String = (0..count).rev().map(|label| format!("{label} 1:1\n")).collect();
        fs::write(file.path(), text).unwrap();
        LibsvmFile::open(file.path()).unwrap()
    }

    #[test]
    fn a_thousand_labels_are_classes_and_one_more_are_numbers() {
        let classes = labelled(1000);
        assert_eq!((classes.classes().len(), classes.class(999.0)), (1000, Some(999)));
        let numbers = labelled(1001);
        assert_eq!((numbers.classes().len(), numbers.class(999.0)), (0, None));
    }

    #[test]
    fn a_compressed_file_has_the_same_rows() {
        let text = "# rows\n+1 3:0.5\n\n-1 2:4 9:1\n";
        let (plain, packed) =
            (tempfile::NamedTempFile::new().unwrap(), tempfile::NamedTempFile::new().unwrap());
        fs::write(plain.path(), text).unwrap();
        let mut writer =
            flate2::write::GzEncoder::new(packed.as_file(), flate2::Compression::fast());
        std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
        writer.finish().unwrap();
        let [plain, packed] = [plain, packed].map(|it| LibsvmFile::open(it.path()).unwrap());
        assert_eq!((packed.items(), packed.classes()), (2, plain.classes()));
        for item in 0..2 {
            assert_eq!(packed.row(item).unwrap(), plain.row(item).unwrap());
            assert_eq!(packed.line(item), plain.line(item));
        }
    }

    #[test]
    fn faults_are_told_with_file_and_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let fails = |text: &str| {
            fs::write(file.path(), text).unwrap();
            let message = LibsvmFile::open(file.path()).err().unwrap().to_string();
            message.strip_prefix(&format!("{}: ", file.path().display())).unwrap().to_owned()
        };
        assert_eq!(fails("1 1:1\n\n1 x:1\n"), "line 3: `x:1`: an id is a whole number below 2^32");
        assert_eq!(fails("# nothing\n\n"), "the data set has no examples");
    }
}
