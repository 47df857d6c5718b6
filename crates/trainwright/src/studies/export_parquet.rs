//! The verb `export` in Parquet, for programs that read columns.

use std::io::Write;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::Value;
use trainwright_study::Study;

use crate::studies::export::{Groups, header, row};
use crate::{Error, Results};

/// The trials as Parquet: the columns of the CSV, each optional and of its own type.
///
/// # Errors
/// The bytes cannot be written.
pub fn export_parquet(
    study: &Study,
    results: &Results,
    output: impl Write + Send,
) -> Result<(), Error> {
    let groups = Groups::of(results);
    let rows: Vec<_> = results.trials.iter().map(|trial| row(study, groups, trial)).collect();
    let columns: Vec<(&str, Column)> = header(study, groups)
        .map(|name| {
            let cells: Vec<&Value> = rows.iter().map(|row| &row[name]).collect();
            (name, Column::of(&cells))
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
    fn of(cells: &[&Value]) -> Self {
        let all = |fits: fn(&Value) -> bool| cells.iter().all(|cell| cell.is_null() || fits(cell));
        if all(Value::is_i64) {
            return Self::Integers(cells.iter().map(|cell| cell.as_i64()).collect());
        }
        if all(Value::is_number) {
            return Self::Numbers(cells.iter().map(|cell| cell.as_f64()).collect());
        }
        let text = |cell: &&Value| match cell {
            Value::Null => None,
            Value::String(text) => Some(ByteArray::from(text.as_str())),
            other => Some(ByteArray::from(other.to_string().as_str())),
        };
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
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_read_back_with_their_types_and_gaps() {
        let cells = [
            ("trial", json!([1, 2, 3])),
            ("accuracy", json!([0.5, null, 2])),
            ("state", json!(["finished", "failed", null])),
        ];
        let columns: Vec<(&str, Column)> = cells
            .iter()
            .map(|(name, cells)| {
                let cells: Vec<&Value> = cells.as_array().unwrap().iter().collect();
                (*name, Column::of(&cells))
            })
            .collect();
        let mut bytes = Vec::new();
        write(&columns, &mut bytes).unwrap();
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
