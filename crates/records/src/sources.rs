//! What `prepare` reads: picture folders, IDX sets, libsvm files and CSV tables.
//!
//! A source is a numbered list of items. Listing it touches names, sizes and line starts only, so
//! that memory does not grow with the pictures.

mod class_names;
mod csv_table;
mod idx_set;
mod libsvm_file;
mod picture_folder;
mod text_file;

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

pub use csv_table::CsvTable;
pub use idx_set::IdxSet;
pub use libsvm_file::LibsvmFile;
pub use picture_folder::PictureFolder;

use crate::error::RecordsError;

/// Where records are made from.
pub enum Source {
    /// A folder of pictures, one folder a class.
    Pictures(PictureFolder),
    /// A folder with four IDX files, which have their own train and test part.
    Idx(IdxSet),
    /// A text file of sparse rows.
    Libsvm(LibsvmFile),
    /// A table with a header.
    Csv(CsvTable),
}

impl Source {
    /// Finds out what a path holds and lists it.
    ///
    /// A folder with the IDX files is an IDX set, any other a picture folder; a file that ends in
    /// `.csv` is a table, any other a libsvm file.
    ///
    /// # Errors
    /// When nothing is there, or it is none of these; file and line are named.
    pub fn open(path: &Path) -> Result<Self, RecordsError> {
        let metadata = fs::metadata(path)
            .map_err(|source| RecordsError::NoSource { path: path.to_owned(), source })?;
        if metadata.is_dir() {
            return if IdxSet::is_at(path) {
                IdxSet::open(path).map(Self::Idx)
            } else {
                PictureFolder::open(path).map(Self::Pictures)
            };
        }
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) {
            CsvTable::open(path).map(Self::Csv)
        } else {
            LibsvmFile::open(path).map(Self::Libsvm)
        }
    }

    /// The kind in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Pictures(_) => "pictures",
            Self::Idx(_) => "idx",
            Self::Libsvm(_) => "libsvm",
            Self::Csv(_) => "csv",
        }
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        match self {
            Self::Pictures(folder) => folder.items(),
            Self::Idx(set) => set.items(),
            Self::Libsvm(file) => file.items(),
            Self::Csv(table) => table.items(),
        }
    }

    /// Names of the classes in the order of their labels; none when labels are no classes.
    pub fn classes(&self) -> Vec<String> {
        match self {
            Self::Pictures(folder) => folder.classes().to_vec(),
            Self::Idx(set) => set.classes(),
            Self::Libsvm(file) => file.classes(),
            Self::Csv(table) => table.classes().to_vec(),
        }
    }

    /// The name of an item, which no other item of the source has.
    pub fn name(&self, item: usize) -> Cow<'_, str> {
        match self {
            Self::Pictures(folder) => Cow::Borrowed(folder.name(item)),
            Self::Idx(set) => Cow::Owned(set.name(item)),
            Self::Libsvm(file) => Cow::Owned(format!("line {}", file.line(item))),
            Self::Csv(table) => Cow::Owned(format!("row {}", table.row_number(item))),
        }
    }

    /// The part that the source itself puts an item into.
    pub fn own_part(&self, item: usize) -> Option<&'static str> {
        match self {
            Self::Idx(set) => Some(set.part(item)),
            _ => None,
        }
    }

    /// Files that lie in the source and are not read.
    pub fn passed_over(&self) -> &[String] {
        match self {
            Self::Pictures(folder) => folder.passed_over(),
            _ => &[],
        }
    }

    /// A SHA-256 over names, sizes and times of change of everything that is read.
    pub fn fingerprint(&self) -> String {
        match self {
            Self::Pictures(folder) => folder.fingerprint().to_owned(),
            Self::Idx(set) => set.fingerprint().to_owned(),
            Self::Libsvm(file) => file.fingerprint().to_owned(),
            Self::Csv(table) => table.fingerprint().to_owned(),
        }
    }
}

/// Collects what pins the content of files without reading it.
#[derive(Default)]
struct Fingerprint(Sha256);

impl Fingerprint {
    fn add(&mut self, name: &str, metadata: &fs::Metadata) {
        let changed = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let changed = changed.map_or(0, |since| since.as_nanos());
        for part in [name.as_bytes(), &metadata.len().to_le_bytes(), &changed.to_le_bytes()] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    fn of_file(path: &Path) -> Result<String, RecordsError> {
        let metadata = fs::metadata(path).map_err(|e| RecordsError::from(e).in_file(path))?;
        let mut fingerprint = Self::default();
        fingerprint.add(&path.file_name().unwrap_or_default().to_string_lossy(), &metadata);
        Ok(fingerprint.finish())
    }

    fn finish(self) -> String {
        crate::data_sets::published::hex(&self.0.finalize())
    }
}
