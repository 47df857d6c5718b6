//! Scalars out of TensorBoard event files.
//!
//! An event file is a TFRecord file of `Event` messages. Both ways of writing a scalar are read:
//! `simple_value` of the first version and the one-element float or double tensor of the second.
//! Images, histograms, texts, graphs and hyperparameter sessions are other kinds of events and
//! are passed over. A last record that is cut off is a file still being written, not damage.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::RecordsError;
use crate::messages::protobuf::Fields;
use crate::shards::framing::RecordReader;

const DT_FLOAT: u64 = 1;
const DT_DOUBLE: u64 = 2;

/// One logged number; NaN and infinities are kept as they were logged.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// Name of the curve.
    pub tag: String,
    /// Training step the number belongs to.
    pub step: i64,
    /// When it was logged, in seconds since 1970.
    pub wall_time: f64,
    /// The number.
    pub value: f64,
}

/// The scalars of one folder of event files.
#[derive(Debug, Clone, PartialEq)]
pub struct RunScalars {
    /// Folder relative to the scanned one, with `/` between parts; empty for itself.
    pub run: String,
    /// The scalars in the order of file names and of records within each file.
    pub scalars: Vec<Scalar>,
}

/// Reads every scalar of an event file in the order of its records.
///
/// # Errors
/// When a record other than a cut-off last one is damaged, or holds no `Event`.
pub fn read_scalars(input: impl Read) -> Result<Vec<Scalar>, RecordsError> {
    let mut reader = RecordReader::new(input);
    let mut collected = Collected::default();
    loop {
        let number = reader.records_read();
        match reader.next_record() {
            Ok(Some(record)) => {
                collected.add_event(record).map_err(|error| error.in_record(number))?;
            }
            Ok(None) => return Ok(collected.scalars),
            Err(RecordsError::TruncatedRecord { record, offset, .. }) => {
                tracing::warn!(record, offset, "event file ends inside a record");
                return Ok(collected.scalars);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Reads the scalars of every `*tfevents*` file in a folder and the folders below it.
///
/// # Errors
/// When a folder or file cannot be read, or a file is damaged; the file is named.
pub fn scan_scalars(folder: &Path) -> Result<Vec<RunScalars>, RecordsError> {
    let mut files = BTreeMap::new();
    find_event_files(folder, String::new(), &mut files)?;
    let mut runs = Vec::new();
    for (run, paths) in files {
        let mut scalars = Vec::new();
        for path in paths {
            let file = File::open(&path).map_err(RecordsError::from);
            let read = file.and_then(|file| read_scalars(BufReader::with_capacity(1 << 16, file)));
            scalars.extend(read.map_err(|error| error.in_file(path))?);
        }
        runs.push(RunScalars { run, scalars });
    }
    Ok(runs)
}

fn find_event_files(
    folder: &Path,
    run: String,
    files: &mut BTreeMap<String, Vec<PathBuf>>,
) -> Result<(), RecordsError> {
    let in_folder = |error: std::io::Error| RecordsError::from(error).in_file(folder);
    let mut entries = fs::read_dir(folder)
        .map_err(in_folder)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(in_folder)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        // The entry's own type, so that a symbolic link cannot lead the scan in a circle.
        let kind = entry.file_type().map_err(in_folder)?;
        if kind.is_dir() {
            let below = if run.is_empty() { name } else { format!("{run}/{name}") };
            find_event_files(&entry.path(), below, files)?;
        } else if name.contains("tfevents") {
            files.entry(run.clone()).or_default().push(entry.path());
        }
    }
    Ok(())
}

/// Scalars so far, and the plugin that each tag was first declared for.
#[derive(Default)]
struct Collected {
    scalars: Vec<Scalar>,
    plugins: BTreeMap<String, String>,
}

#[derive(Default)]
struct SummaryValue<'a> {
    tag: &'a str,
    simple: Option<f32>,
    tensor: Option<Tensor>,
    plugin: Option<&'a str>,
}

/// What a tensor says about being a scalar; elements of other kinds are not kept.
#[derive(Default)]
struct Tensor {
    kind: u64,
    dimensions: usize,
    values: Vec<f64>,
}

impl Collected {
    fn add_event(&mut self, event: &[u8]) -> Result<(), RecordsError> {
        let (mut wall_time, mut step) = (0.0, 0);
        let mut summaries = Vec::new();
        for field in Fields::new("Event", event) {
            let field = field?;
            match field.number {
                1 => wall_time = field.double()?,
                2 => step = field.varint()? as i64,
                5 => summaries.push(field.bytes()?),
                _ => {}
            }
        }
        for summary in summaries {
            for field in Fields::new("Summary", summary) {
                let field = field?;
                if field.number == 1 {
                    let value = parse_value(field.bytes()?)?;
                    self.add_value(value, step, wall_time)?;
                }
            }
        }
        Ok(())
    }

    fn add_value(
        &mut self,
        value: SummaryValue<'_>,
        step: i64,
        wall_time: f64,
    ) -> Result<(), RecordsError> {
        let tag = value.tag.to_owned();
        if let Some(plugin) = value.plugin {
            self.plugins.entry(tag.clone()).or_insert_with(|| plugin.to_owned());
        }
        // Writers may name the plugin on a tag's first value only.
        let declared = self.plugins.get(&tag).map(String::as_str);
        let number = match (value.simple, value.tensor) {
            (Some(simple), _) => f64::from(simple),
            (None, Some(tensor)) => {
                let numeric = tensor.kind == DT_FLOAT || tensor.kind == DT_DOUBLE;
                let is_scalar = declared.is_none_or(|plugin| plugin == "scalars");
                if !numeric || !is_scalar || (declared.is_none() && tensor.dimensions > 0) {
                    return Ok(());
                }
                match tensor.values[..] {
                    [number] => number,
                    _ => {
                        let values = tensor.values.len();
                        return Err(RecordsError::ScalarShape { tag, step, values });
                    }
                }
            }
            (None, None) => return Ok(()),
        };
        self.scalars.push(Scalar { tag, step, wall_time, value: number });
        Ok(())
    }
}

fn parse_value(bytes: &[u8]) -> Result<SummaryValue<'_>, RecordsError> {
    let mut value = SummaryValue::default();
    for field in Fields::new("Summary.Value", bytes) {
        let field = field?;
        match field.number {
            1 => value.tag = field.text()?,
            2 => value.simple = Some(field.float()?),
            8 => value.tensor = Some(parse_tensor(field.bytes()?)?),
            9 => value.plugin = parse_plugin(field.bytes()?)?,
            _ => {}
        }
    }
    Ok(value)
}

/// The plugin's name out of `SummaryMetadata { 1: PluginData { 1: plugin_name } }`.
fn parse_plugin(bytes: &[u8]) -> Result<Option<&str>, RecordsError> {
    let mut name = None;
    for field in Fields::new("SummaryMetadata", bytes) {
        let field = field?;
        if field.number == 1 {
            for field in Fields::new("PluginData", field.bytes()?) {
                let field = field?;
                if field.number == 1 {
                    name = Some(field.text()?);
                }
            }
        }
    }
    Ok(name)
}

fn parse_tensor(bytes: &[u8]) -> Result<Tensor, RecordsError> {
    let mut tensor = Tensor::default();
    let (mut content, mut floats, mut doubles) = (&[][..], Vec::new(), Vec::new());
    for field in Fields::new("TensorProto", bytes) {
        let field = field?;
        match field.number {
            1 => tensor.kind = field.varint()?,
            2 => {
                for field in Fields::new("TensorShapeProto", field.bytes()?) {
                    tensor.dimensions += usize::from(field?.number == 2);
                }
            }
            4 => content = field.bytes()?,
            5 => field.floats_into(&mut floats)?,
            6 => field.doubles_into(&mut doubles)?,
            _ => {}
        }
    }
    tensor.values = match tensor.kind {
        DT_FLOAT => {
            let stored = whole_numbers(content)?.iter().copied().map(f32::from_le_bytes);
            stored.chain(floats).map(f64::from).collect()
        }
        DT_DOUBLE => {
            let stored = whole_numbers(content)?.iter().copied().map(f64::from_le_bytes);
            stored.chain(doubles).collect()
        }
        _ => Vec::new(),
    };
    Ok(tensor)
}

fn whole_numbers<const N: usize>(content: &[u8]) -> Result<&[[u8; N]], RecordsError> {
    match content.as_chunks() {
        (numbers, []) => Ok(numbers),
        _ => Err(RecordsError::MessageFieldType {
            message: "TensorProto",
            number: 4,
            expected: "whole numbers of its data type",
        }),
    }
}

#[cfg(test)]
mod tests;
