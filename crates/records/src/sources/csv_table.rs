//! A CSV table with a header: one item a row, one feature a column.
//!
//! A column whose cells are all whole numbers becomes integers, one of numbers floats, any other
//! byte strings. A column `label` or `class` of text is counted through in sorted order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use csv::{ByteRecord, ReaderBuilder};

use super::Fingerprint;
use super::class_names::check_class_names;
use super::text_file::TextFile;
use crate::error::RecordsError;
use crate::messages::example::{Example, Feature};

/// Most bytes that the parser of one row takes at a time.
const ROW_BUFFER_BYTES: usize = 1 << 13;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CellKind {
    Ints,
    Floats,
    Text,
}

struct Column {
    name: String,
    kind: CellKind,
    is_label: bool,
}

/// A table with the start of each row.
pub struct CsvTable {
    path: PathBuf,
    text: TextFile,
    columns: Vec<Column>,
    /// First byte and line of each row.
    rows: Vec<(u64, u64)>,
    classes: Vec<String>,
    fingerprint: String,
}

impl CsvTable {
    /// Reads and checks a whole table.
    ///
    /// # Errors
    /// When it has no rows, rows of different lengths, or a column twice.
    pub fn open(path: &Path) -> Result<Self, RecordsError> {
        Self::open_unnamed(path).map_err(|error| match error {
            named @ RecordsError::InFile { .. } => named,
            other => other.in_file(path),
        })
    }

    fn open_unnamed(path: &Path) -> Result<Self, RecordsError> {
        let text = TextFile::open(path)?;
        let mut reader = ReaderBuilder::new().from_reader(text.whole()?);
        let mut columns = named_columns(reader.headers()?)?;
        let (mut rows, mut cells) =
            (Vec::<(u64, u64)>::new(), vec![BTreeSet::new(); columns.len()]);
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record)? {
            let place = record.position().expect("a record that was read has a position");
            // Rows that end in a carriage return alone are all in the first line.
            let line = rows.last().map_or(place.line(), |last| place.line().max(last.1 + 1));
            rows.push((place.byte(), line));
            for ((column, cells), cell) in columns.iter_mut().zip(&mut cells).zip(&record) {
                column.kind = column.kind.max(kind_of(cell));
                if column.is_label && !cells.contains(cell) {
                    cells.insert(cell.to_vec());
                }
            }
        }
        if rows.is_empty() {
            return Err(RecordsError::NoExamples);
        }
        let is_named = |column: &Column| column.is_label && column.kind == CellKind::Text;
        let named = columns.iter().zip(cells).filter(|(column, _)| is_named(column));
        let name = |class: Vec<u8>| String::from_utf8_lossy(&class).into_owned();
        let classes: BTreeSet<String> = named.flat_map(|(_, cells)| cells).map(name).collect();
        let classes: Vec<String> = classes.into_iter().collect();
        check_class_names(&classes)?;
        drop(reader);
        let fingerprint = Fingerprint::of_file(path)?;
        Ok(Self { path: path.to_owned(), text, columns, rows, classes, fingerprint })
    }

    /// How many rows there are below the header.
    pub fn items(&self) -> usize {
        self.rows.len()
    }

    /// The classes of a label column of text, sorted.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Appends a row as an encoded example with one feature a column; an empty cell is a feature
    /// without values.
    ///
    /// # Errors
    /// When the file has changed since it was opened.
    pub(crate) fn encode(&self, item: usize, out: &mut Vec<u8>) -> Result<(), RecordsError> {
        let (start, line) = self.rows[item];
        let end = self.rows.get(item + 1).map_or(self.text.bytes(), |next| next.0);
        let mut memory = Vec::new();
        let row = self.text.read(start..end, &mut memory)?;
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .buffer_capacity(row.len().min(ROW_BUFFER_BYTES))
            .from_reader(row);
        let mut record = ByteRecord::new();
        reader
            .read_byte_record(&mut record)
            .map_err(|e| RecordsError::from(e).in_line(line).in_file(&self.path))?;
        let mut example = Example::default();
        for (column, cell) in self.columns.iter().zip(&record) {
            let feature = self
                .feature(column, cell)
                .map_err(|error| error.in_line(line).in_file(&self.path))?;
            example.features.insert(&column.name, feature);
        }
        out.extend_from_slice(&example.encode());
        Ok(())
    }

    fn feature<'a>(&self, column: &Column, cell: &'a [u8]) -> Result<Feature<'a>, RecordsError> {
        let text = || String::from_utf8_lossy(cell);
        let bad = |expected| RecordsError::BadWord { text: text().into_owned(), expected };
        Ok(match column.kind {
            CellKind::Text if column.is_label => {
                let class = self.classes.iter().position(|class| *class == text());
                Feature::Ints(vec![class.ok_or_else(|| bad("known class"))? as i64])
            }
            CellKind::Text => Feature::Bytes(vec![cell]),
            CellKind::Ints if cell.is_empty() => Feature::Ints(Vec::new()),
            CellKind::Floats if cell.is_empty() => Feature::Floats(Vec::new()),
            CellKind::Ints => Feature::Ints(vec![text().parse().map_err(|_| bad("whole number"))?]),
            CellKind::Floats => Feature::Floats(vec![text().parse().map_err(|_| bad("number"))?]),
        })
    }

    pub(super) fn row_number(&self, item: usize) -> u64 {
        self.rows[item].1
    }

    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

fn named_columns(header: &csv::StringRecord) -> Result<Vec<Column>, RecordsError> {
    let mut columns: Vec<Column> = Vec::new();
    for name in header {
        if columns.iter().any(|column| column.name == name) {
            return Err(RecordsError::ColumnTwice { column: name.to_owned() });
        }
        let is_label = matches!(name, "label" | "class");
        columns.push(Column { name: name.to_owned(), kind: CellKind::Ints, is_label });
    }
    Ok(columns)
}

fn kind_of(cell: &[u8]) -> CellKind {
    let text = std::str::from_utf8(cell);
    match text {
        Ok("") => CellKind::Ints,
        Ok(text) if text.parse::<i64>().is_ok() => CellKind::Ints,
        Ok(text) if text.parse::<f32>().is_ok_and(f32::is_finite) => CellKind::Floats,
        _ => CellKind::Text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(text: &str) -> Result<CsvTable, RecordsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        CsvTable::open(&path)
    }

    #[test]
    fn columns_get_the_kind_that_all_their_cells_have() {
        let table = table("a,b,label\n1,2,rose\n2,2.5,\"tulip, red\"\n,3,rose\n").unwrap();
        assert_eq!(
            (table.items(), table.classes()),
            (3, &["rose".into(), "tulip, red".into()][..])
        );
        let mut bytes = Vec::new();
        table.encode(1, &mut bytes).unwrap();
        let example = Example::parse(&bytes).unwrap();
        assert_eq!(example.features["a"], Feature::Ints(vec![2]));
        assert_eq!(example.features["b"], Feature::Floats(vec![2.5]));
        assert_eq!(example.int("label").unwrap(), 1);
        bytes.clear();
        table.encode(2, &mut bytes).unwrap();
        assert_eq!(Example::parse(&bytes).unwrap().features["a"], Feature::Ints(vec![]));
    }

    #[test]
    fn faults_are_told() {
        let fails = |text| table(text).err().unwrap().to_string();
        assert!(fails("a,a\n1,2\n").ends_with("column `a` appears twice"));
        assert!(fails("a,b\n").ends_with("the data set has no examples"));
        assert!(fails("a,label\n1,\"x\ny\"\n").contains("class `x\\ny` has a line break"));
        assert!(fails("a,b\n1\n").contains("found record with 1 fields"));
    }

    /// The features of a row.
    fn row(table: &CsvTable, item: usize) -> Vec<(String, Vec<u8>)> {
        let mut bytes = Vec::new();
        table.encode(item, &mut bytes).unwrap();
        let shown = |feature: &Feature<'_>| match feature {
            Feature::Bytes(list) => list.concat(),
            other => format!("{other:?}").into_bytes(),
        };
        let example = Example::parse(&bytes).unwrap();
        example.features.iter().map(|(name, it)| ((*name).to_owned(), shown(it))).collect()
    }

    #[test]
    fn the_kind_of_a_cell_is_the_narrowest_that_holds_it() {
        for (cell, kind) in [
            ("", CellKind::Ints),
            ("-7", CellKind::Ints),
            ("9223372036854775807", CellKind::Ints),
            ("9223372036854775808", CellKind::Floats),
            ("1e-3", CellKind::Floats),
            ("1e40", CellKind::Text),
            ("nan", CellKind::Text),
            ("inf", CellKind::Text),
            (" 1", CellKind::Text),
            ("0x10", CellKind::Text),
        ] {
            assert_eq!(kind_of(cell.as_bytes()), kind, "{cell}");
        }
        assert_eq!(kind_of(b"\xff"), CellKind::Text);
    }

    #[test]
    fn any_ending_of_lines_gives_the_same_rows() {
        let text = "a,b\n1,x\n\n2,\"y, z\"\n3,\n";
        let expected: Vec<_> = (0..3).map(|item| row(&table(text).unwrap(), item)).collect();
        assert_eq!(expected[1][1], ("b".to_owned(), b"y, z".to_vec()));
        for ending in ["\r\n", "\r"] {
            let table = table(&text.replace('\n', ending)).unwrap();
            let found: Vec<_> = (0..table.items()).map(|item| row(&table, item)).collect();
            assert_eq!(found, expected, "{ending:?}");
        }
    }

    #[test]
    fn no_two_rows_have_the_same_name() {
        for ending in ["\n", "\r\n", "\r"] {
            let table = table(&"a,b\n1,x\n2,y\n\n3,\"two\nlines\"\n4,z\n".replace('\n', ending));
            let table = table.unwrap();
            let numbers: Vec<u64> = (0..table.items()).map(|item| table.row_number(item)).collect();
            assert!(numbers.is_sorted_by(|a, b| a < b), "{ending:?}: {numbers:?}");
        }
    }

    #[test]
    fn numbers_of_one_label_column_are_no_classes_of_another() {
        let table = table("label,class\n7,tulip\n3,rose\n").unwrap();
        assert_eq!(table.classes(), ["rose", "tulip"]);
        assert_eq!(
            row(&table, 0),
            [
                ("class".to_owned(), b"Ints([1])".to_vec()),
                ("label".to_owned(), b"Ints([7])".to_vec()),
            ]
        );
    }

    #[test]
    fn a_label_column_of_numbers_is_stored_as_it_is() {
        let table = table("label\n7\n3\n").unwrap();
        assert!(table.classes().is_empty());
        assert_eq!(row(&table, 1), [("label".to_owned(), b"Ints([3])".to_vec())]);
    }

    proptest! {
        #[test]
        fn texts_of_any_kind_survive_the_table(
            rows in prop::collection::vec(["t\\PC{0,6}", "t[,\"\r\n']{0,6}"], 1..8),
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(["a", "b"]).unwrap();
            rows.iter().for_each(|cells| writer.write_record(cells).unwrap());
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), writer.into_inner().unwrap()).unwrap();
            let table = CsvTable::open(file.path()).unwrap();
            prop_assert_eq!(table.items(), rows.len());
            // Taken out of their order, as preparing does.
            for (item, [a, b]) in rows.iter().enumerate().rev() {
                let expected = [("a", a), ("b", b)];
                let expected =
                    expected.map(|(name, text)| (name.to_owned(), text.clone().into_bytes()));
                prop_assert_eq!(row(&table, item), expected);
            }
        }
    }
}
