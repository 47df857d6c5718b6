//! The verb `export` in Parquet, for programs that read columns.

use std::io::Write;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use trainwright_study::Level;

use crate::Error;
use crate::studies::export::{ExportTable, cell_text};

/// The table as Parquet: each column optional and of its own type.
///
/// # Errors
/// The bytes cannot be written.
pub fn export_parquet(table: &ExportTable, output: impl Write + Send) -> Result<(), Error> {
    let columns: Vec<(&str, Column)> = (0..)
        .zip(&table.columns)
        .map(|(place, name)| {
            let cells: Vec<Option<&Level>> =
                table.rows.iter().map(|row: &Vec<_>| row[place].as_ref()).collect();
            (name.as_str(), Column::of(&cells))
        })
        .collect();
    write(&columns, output)
        .map_err(|error| Error::Request(format!("cannot write Parquet: {error}")))
}

/// A column with a place for every row.
enum Column {
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<ByteArray>>),
}

impl Column {
    /// The narrowest type that holds every cell.
    fn of(cells: &[Option<&Level>]) -> Self {
        let present = || cells.iter().flatten();
        if present().all(|cell| matches!(cell, Level::Integer(_))) {
            let integer = |cell: &Option<&Level>| match cell {
                Some(Level::Integer(whole)) => Some(*whole),
                _ => None,
            };
            return Self::Integers(cells.iter().map(integer).collect());
        }
        if present().all(|cell| matches!(cell, Level::Integer(_) | Level::Number(_))) {
            return Self::Numbers(cells.iter().map(|cell| cell.and_then(Level::number)).collect());
        }
        let text = |cell: &Option<&Level>| Some(ByteArray::from(cell_text((*cell)?).as_str()));
        Self::Texts(cells.iter().map(text).collect())
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Integers(_) => "INT64",
            Self::Numbers(_) => "DOUBLE",
            Self::Texts(_) => "BYTE_ARRAY",
        }
    }

    fn logical_type(&self) -> &'static str {
        if matches!(self, Self::Texts(_)) { " (UTF8)" } else { "" }
    }
}

fn write(columns: &[(&str, Column)], output: impl Write + Send) -> Result<(), ParquetError> {
    let fields: String = columns
        .iter()
        .map(|(name, column)| {
            format!("OPTIONAL {} {name}{}; ", column.kind(), column.logical_type())
        })
        .collect();
    let schema = Arc::new(parse_message_type(&format!("message trials {{ {fields} }}"))?);
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(output, schema, properties)?;
    let mut group = file.next_row_group()?;
    for (_, column) in columns {
        match column {
            Column::Integers(cells) => write_column::<Int64Type, _>(&mut group, cells)?,
            Column::Numbers(cells) => write_column::<DoubleType, _>(&mut group, cells)?,
            Column::Texts(cells) => write_column::<ByteArrayType, _>(&mut group, cells)?,
        }
    }
    group.close()?;
    file.close()?;
    Ok(())
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: &[Option<T::T>],
) -> Result<(), ParquetError> {
    let present: Vec<T::T> = cells.iter().flatten().cloned().collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let mut writer = group.next_column()?.expect("the schema has a column for each of ours");
    writer.typed::<T>().write_batch(&present, Some(&levels), None)?;
    writer.close()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    #[test]
    fn columns_read_back_with_their_types_and_gaps() {
        let text = |word: &str| Some(Level::Text(word.to_owned()));
        let whole = |number| Some(Level::Integer(number));
        let table = ExportTable {
            study: "s".to_owned(),
            columns: ["trial", "accuracy", "state"].map(str::to_owned).to_vec(),
            rows: vec![
                vec![whole(1), Some(Level::Number(0.5)), text("finished")],
                vec![whole(2), None, text("failed")],
                vec![whole(3), whole(2), None],
            ],
        };
        let mut bytes = Vec::new();
        export_parquet(&table, &mut bytes).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let rows: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(
            rows,
            [
                "{trial: 1, accuracy: 0.5, state: \"finished\"}",
                "{trial: 2, accuracy: null, state: \"failed\"}",
                "{trial: 3, accuracy: 2.0, state: null}",
            ]
        );
    }
}
