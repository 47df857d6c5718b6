//! Why bytes could not be read as records, messages or pictures.

use std::fmt;
use std::path::PathBuf;

use crate::pictures::PictureFormat;

/// What went wrong while reading, writing or fetching data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum RecordsError {
    #[error("{}: {problem}", path.display())]
    InFile { path: PathBuf, problem: Box<RecordsError> },
    #[error("{0}")]
    Io(#[from] std::io::Error),

    #[error(
        "record {record} (counting from 0) at byte {offset} is cut off: {found} of {expected} \
         bytes of its {part} are there"
    )]
    TruncatedRecord { record: u64, offset: u64, part: RecordPart, expected: u64, found: u64 },
    #[error(
        "record {record} (counting from 0) at byte {offset} is damaged: its {part} has checksum \
         {computed:08x}, the file says {stored:08x}"
    )]
    ChecksumMismatch { record: u64, offset: u64, part: RecordPart, stored: u32, computed: u32 },
    #[error(
        "record {record} (counting from 0) at byte {offset} claims {length} bytes, over the limit \
         of {limit}"
    )]
    RecordTooLong { record: u64, offset: u64, length: u64, limit: u64 },
    #[error(
        "record {record} (counting from 0) at byte {offset} is {found} bytes long with its \
         frame, the index says {expected}"
    )]
    IndexDisagrees { record: u64, offset: u64, expected: u64, found: u64 },
    #[error("the index ends at byte {expected}, its file at byte {found}; delete the index")]
    IndexEnd { expected: u64, found: u64 },
    #[error("the picture is {found:?} (rows, columns, channels) where its batch has {expected:?}")]
    BatchShape { expected: [usize; 3], found: [usize; 3] },
    #[error(
        "a batch of {pictures} pictures of {shape:?} (rows, columns, channels) would need at least \
         {bytes} bytes, more than this machine has; take smaller batches or pictures"
    )]
    BatchTooLarge { pictures: usize, shape: [usize; 3], bytes: u64 },
    #[error("line {line} of the index is `{text}`, expected `offset size`")]
    IndexLine { line: usize, text: String },
    #[error("record {record} (counting from 0): {problem}")]
    InRecord { record: u64, problem: Box<RecordsError> },

    #[error("message `{message}` is cut off at byte {offset}")]
    MessageTruncated { message: &'static str, offset: usize },
    #[error("message `{message}` has a number longer than 64 bits at byte {offset}")]
    MessageNumber { message: &'static str, offset: usize },
    #[error("message `{message}` has a field with number {number} at byte {offset}")]
    MessageField { message: &'static str, offset: usize, number: u64 },
    #[error("message `{message}` has unknown wire type {wire_type} at byte {offset}")]
    MessageWireType { message: &'static str, offset: usize, wire_type: u8 },
    #[error("field {number} of message `{message}` is not stored as {expected}")]
    MessageFieldType { message: &'static str, number: u32, expected: &'static str },
    #[error("field {number} of message `{message}` is not UTF-8 text")]
    MessageText { message: &'static str, number: u32 },

    #[error("feature `{feature}` is missing")]
    FeatureMissing { feature: &'static str },
    #[error("feature `{feature}` does not hold exactly one {expected}")]
    FeatureShape { feature: &'static str, expected: &'static str },
    #[error("scalar `{tag}` at step {step} holds {values} values where 1 is needed")]
    ScalarShape { tag: String, step: i64, values: usize },

    #[error("not an IDX file: it starts with {start:02x?}, expected [00, 00, 08, dimensions]")]
    IdxMagic { start: [u8; 4] },
    #[error("IDX file ends inside its header")]
    IdxHeader,
    #[error("IDX file has {found} dimensions where {expected} are needed")]
    IdxDimensions { expected: usize, found: usize },
    #[error("IDX dimensions {dimensions:?} are beyond what this machine can address")]
    IdxTooLarge { dimensions: Vec<u32> },
    #[error("IDX file is cut off: {found} of {expected} bytes after the header are there")]
    IdxTruncated { expected: u64, found: u64 },
    #[error("IDX file goes on after its {expected} bytes of values")]
    IdxTrailing { expected: u64 },

    #[error("neither JPEG nor PNG: it starts with {start:02x?}")]
    NoPicture { start: Vec<u8> },
    #[error("the {format} header is damaged or cut off")]
    PictureHeader { format: PictureFormat },
    #[error("the {format} picture is damaged: {reason}")]
    PictureDamaged { format: PictureFormat, reason: String },
    #[error(
        "the picture claims {rows} x {columns} = {pixels} pixels, over the limit of {limit}; allow \
         more by --max-pixels, or by the variable TRAINWRIGHT_MAX_PIXELS for the jobs of a study"
    )]
    PictureTooLarge { rows: usize, columns: usize, pixels: u64, limit: u64 },
    #[error("the picture cannot be encoded: {reason}")]
    PictureEncode { reason: String },

    #[error("cannot read {}: {source}", path.display())]
    NoSource { path: PathBuf, source: std::io::Error },
    #[error(
        "no pictures (.jpg, .jpeg, .png) in the folders of {}; put them into one folder a class",
        folder.display()
    )]
    NoPictures { folder: PathBuf },
    #[error("the name {} is not UTF-8 text; rename it", path.display())]
    NameNotText { path: PathBuf },
    #[error("class `{}` has a line break in its name; rename it", class.escape_debug())]
    ClassName { class: String },
    #[error("it was {before} bytes long and was shortened while it was read; begin again")]
    Shortened { before: u64 },
    #[error("line {line}: {problem}")]
    InLine { line: u64, problem: Box<RecordsError> },
    #[error("`{text}` is no {expected}")]
    BadWord { text: String, expected: &'static str },
    #[error("cannot read the table: {0}")]
    Table(#[from] csv::Error),
    #[error("column `{column}` appears twice")]
    ColumnTwice { column: String },

    #[error("{option} {value} is not {expected}")]
    BadOption { option: &'static str, value: String, expected: &'static str },
    #[error(
        "{} was begun with other options or from other files:\n{}\ngo back to those, choose \
         another --out, or delete the folder",
        folder.display(), indented(differences)
    )]
    PreparedOtherwise { folder: PathBuf, differences: Vec<String> },
    #[error(
        "this machine sees another source, or runs another program:\n{}",
        indented(differences)
    )]
    SeenOtherwise { differences: Vec<String> },
    #[error(
        "{} was finished, but `{file}` {} since, where {expected} bytes were written; delete the \
         folder and prepare it again, or put the file back",
        folder.display(), now_has(*found)
    )]
    FinishedChanged { folder: PathBuf, file: String, expected: u64, found: Option<u64> },
    #[error("{} holds `{file}` already; choose an empty folder", folder.display())]
    FolderNotEmpty { folder: PathBuf, file: String },
    #[error("another process is writing to {}; wait for it to end", folder.display())]
    FolderInUse { folder: PathBuf },
    #[error(
        "{} of the pictures cannot be used:\n{}\nmend or remove them and use another --out, or \
         leave them out with --skip-corrupt",
        pictures.len(), indented(pictures)
    )]
    CorruptPictures { pictures: Vec<String> },
    #[error("no file matches `{pattern}`")]
    NoMatch { pattern: String },
    #[error("{} is none of the classes {}", folder.display(), classes.join(", "))]
    UnknownClass { folder: PathBuf, classes: Vec<String> },
    #[error(
        "picture files become squares, but pictures of {rows} x {columns} are wanted; prepare records of that size"
    )]
    NotSquare { rows: usize, columns: usize },
    #[error("`{word}`: {problem}")]
    LibsvmWord { word: String, problem: &'static str },

    #[error(
        "feature id {id} is too large: what is kept for each id up to it would take {bytes} bytes, \
         over the limit of {limit}; hash the ids into fewer by hash_bits, such as 22"
    )]
    LargestId { id: u32, bytes: u64, limit: u64 },

    #[error("label {label} is not one of the {classes} classes, which count from 0")]
    ClassRange { label: i64, classes: usize },
    #[error("{images} images but {labels} labels")]
    LabelCount { images: usize, labels: usize },
    #[error("{bytes} bytes of pixels are no whole number of {rows} x {columns} images")]
    PixelCount { bytes: usize, rows: usize, columns: usize },
    #[error("label {label} of example {example} is not below the {classes} classes")]
    LabelRange { example: usize, label: u64, classes: usize },
    #[error("the data set has no examples")]
    NoExamples,
    #[error(
        "training images are {} x {}, test images {} x {}",
        train.0, train.1, test.0, test.1
    )]
    SplitShape { train: (usize, usize), test: (usize, usize) },
    #[error("pictures of the training part have {train} channels, those of the test part {test}")]
    SplitChannels { train: usize, test: usize },
    #[error("the classes of the training part are {train}, those of the test part {test}")]
    SplitClasses { train: String, test: String },

    #[error(
        "`{name}` is neither a data set ({}) nor a folder with the four IDX files",
        known.join(", ")
    )]
    UnknownData { name: String, known: Vec<&'static str> },
    #[error("data set `{name}` is not in {}; {advice}", list(searched))]
    DataNotFound { name: &'static str, searched: Vec<PathBuf>, advice: &'static str },
    #[error("{} has no `{file}` (plain or .gz)", folder.display())]
    FileMissing { folder: PathBuf, file: &'static str },

    #[error(
        "{origin}: SHA-256 of the unpacked content is {computed}, that of the published file \
         is {expected}"
    )]
    WrongContent { origin: String, expected: String, computed: String },
    #[error(
        "cannot download {url}: {source}; check the network, or get the files in another way and \
         name their folder with --from"
    )]
    Download { url: String, source: Box<ureq::Error> },
    #[error(
        "{}: this program was built without object stores; build it with `cargo build --release \
         --features object-stores`",
        address.display()
    )]
    NoObjectStores { address: PathBuf },
    #[error("{}: no bucket is named; write it as s3://bucket/folder/name", address.display())]
    NoBucket { address: PathBuf },
    #[error("{}: {source}", address.display())]
    ObjectStore { address: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("it ends before byte {}", range.end)]
    RangeBeyondEnd { range: std::ops::Range<u64> },
    #[error("{} holds no {what}", folder.display())]
    NothingToRead { folder: PathBuf, what: &'static str },
    #[error("{}: an object store has no cache of this system to leave cold", address.display())]
    ColdRemote { address: PathBuf },
    #[error("no cache folder: set TRAINWRIGHT_CACHE, XDG_CACHE_HOME or HOME")]
    NoCacheFolder,
}

impl RecordsError {
    /// The same error, with the file it happened in.
    pub fn in_file(self, path: impl Into<PathBuf>) -> Self {
        Self::InFile { path: path.into(), problem: Box::new(self) }
    }

    /// Whether the user's input is at fault, as against the machine.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::InFile { problem, .. } | Self::InRecord { problem, .. } => problem.is_bad_input(),
            Self::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
            Self::DataNotFound { .. }
            | Self::WrongContent { .. }
            | Self::Download { .. }
            | Self::NoCacheFolder
            | Self::ObjectStore { .. }
            | Self::FolderInUse { .. } => false,
            _ => true,
        }
    }

    /// The same error, with the line it happened in, counting from 1.
    pub(crate) fn in_line(self, line: u64) -> Self {
        Self::InLine { line, problem: Box::new(self) }
    }

    /// Whether it says that a file or object is not there.
    pub(crate) fn is_missing(&self) -> bool {
        match self {
            Self::InFile { problem, .. } => problem.is_missing(),
            Self::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
            _ => false,
        }
    }

    /// Whether it says that a line of an index is none.
    pub(crate) fn is_bad_index_line(&self) -> bool {
        match self {
            Self::InFile { problem, .. } => problem.is_bad_index_line(),
            Self::IndexLine { .. } => true,
            _ => false,
        }
    }

    /// The same error, with the record it happened in.
    pub(crate) fn in_record(self, record: u64) -> Self {
        Self::InRecord { record, problem: Box::new(self) }
    }
}

/// The part of a framed record that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordPart {
    /// Length and its checksum, the first 12 bytes.
    Header,
    /// Payload and its checksum.
    Data,
}

impl fmt::Display for RecordPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Data => "data",
        })
    }
}

fn now_has(bytes: Option<u64>) -> String {
    match bytes {
        Some(bytes) => format!("has become {bytes} bytes long"),
        None => "has gone".to_owned(),
    }
}

fn indented(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    fn io(kind: ErrorKind) -> RecordsError {
        Error::from(kind).into()
    }

    #[test]
    fn places_are_told_from_the_outside_in() {
        let error = RecordsError::FeatureMissing { feature: "label" };
        assert_eq!(
            error.in_record(4).in_file("a.tfrecord").to_string(),
            "a.tfrecord: record 4 (counting from 0): feature `label` is missing"
        );
        let word = RecordsError::BadWord { text: "x".into(), expected: "whole number" };
        assert_eq!(
            word.in_line(7).in_file("t.csv").to_string(),
            "t.csv: line 7: `x` is no whole number"
        );
    }

    #[test]
    fn whose_fault_an_error_is_does_not_depend_on_where_it_is_wrapped() {
        let wrapped = |error: RecordsError| error.in_record(1).in_file("a").in_file("b");
        assert!(wrapped(RecordsError::NoExamples).is_bad_input());
        assert!(wrapped(io(ErrorKind::NotFound)).is_bad_input());
        assert!(!wrapped(io(ErrorKind::StorageFull)).is_bad_input());
        assert!(!wrapped(RecordsError::NoCacheFolder).is_bad_input());
        assert!(!wrapped(RecordsError::FolderInUse { folder: "x".into() }).is_bad_input());
        assert!(
            RecordsError::BadWord { text: "x".into(), expected: "n" }.in_line(1).is_bad_input()
        );
    }

    #[test]
    fn only_what_is_not_there_is_missing() {
        assert!(io(ErrorKind::NotFound).in_file("a").in_file("b").is_missing());
        assert!(!io(ErrorKind::PermissionDenied).in_file("a").is_missing());
        assert!(!RecordsError::NoExamples.in_file("a").is_missing());
    }

    #[test]
    fn a_bad_line_of_an_index_is_known_in_its_file_too() {
        let line = || RecordsError::IndexLine { line: 2, text: "x".into() };
        assert!(line().is_bad_index_line() && line().in_file("a").is_bad_index_line());
        assert!(!RecordsError::IndexEnd { expected: 1, found: 2 }.in_file("a").is_bad_index_line());
    }

    #[test]
    fn lists_are_shown_with_one_item_a_line_or_between_commas() {
        let pictures = vec!["a.png: torn".to_owned(), "b.png: empty".to_owned()];
        assert_eq!(
            RecordsError::CorruptPictures { pictures }.to_string(),
            "2 of the pictures cannot be used:\n  a.png: torn\n  b.png: empty\nmend or remove \
             them and use another --out, or leave them out with --skip-corrupt"
        );
        let searched = vec!["here".into(), "there".into()];
        assert_eq!(
            RecordsError::DataNotFound { name: "mnist", searched, advice: "get it" }.to_string(),
            "data set `mnist` is not in here, there; get it"
        );
    }
}
