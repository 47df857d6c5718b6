//! How fast pictures become batches: out of picture files, or out of prepared records.
//!
//! A file is read, decoded, scaled and cut; a record is parsed and decoded, since its picture has
//! its size already. Either ends as a batch of pixels in memory. Only times are taken here: what
//! they mean is worked out elsewhere. `workers.rs` does the reading, `page_cache.rs` makes files
//! cold.

mod page_cache;
mod prepared;
mod workers;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::RecordsError;
use crate::files::bucket::{Bucket, Object, is_remote};
use crate::pictures::PixelLimit;
pub use prepared::prepare_for_speed;
use workers::{read_files, read_records};

/// Endings of picture files.
const PICTURE_ENDINGS: [&str; 3] = ["jpg", "jpeg", "png"];

/// Ending of shards.
const SHARD_ENDING: &str = "tfrecord";

/// What pictures are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadSource {
    /// One file a picture, of any size.
    Files,
    /// Shards of pictures that were prepared.
    Records,
}

impl ReadSource {
    /// Both, in the order of tables.
    pub const ALL: [Self; 2] = [Self::Files, Self::Records];

    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Records => "records",
        }
    }
}

/// What is read in one go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRun {
    /// What it is read from.
    pub source: ReadSource,
    /// Pictures a batch.
    pub batch_size: NonZeroUsize,
    /// Batches.
    pub batch_number: NonZeroUsize,
    /// Threads, each of which reads whole batches.
    pub threads: NonZeroUsize,
    /// Where among the files or shards to begin; goes on from the first after the last.
    pub start: usize,
    /// Most pixels that a picture may have.
    pub max_pixels: PixelLimit,
}

impl ReadRun {
    /// Pictures to read.
    pub fn images(&self) -> usize {
        self.batch_size.get().saturating_mul(self.batch_number.get())
    }
}

/// What one reading took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReadTime {
    /// Pictures that were read.
    pub images: u64,
    /// Bytes of their files or records.
    pub bytes: u64,
    /// Wall time.
    pub seconds: f64,
}

/// The pictures to read, in both forms.
pub struct ReadSpeed {
    bucket: Arc<dyn Bucket>,
    files: Vec<Object>,
    shards: Vec<Object>,
    size: usize,
}

impl ReadSpeed {
    /// Pictures in the order in which they are to be read, and the shards below a folder of the
    /// same place; `size` is the side in pixels to which files are brought.
    ///
    /// # Errors
    /// When the folder cannot be read or holds no shards.
    pub fn new(
        bucket: Arc<dyn Bucket>,
        files: Vec<Object>,
        records: &Path,
        size: NonZeroUsize,
    ) -> Result<Self, RecordsError> {
        let shards = list(&*bucket, records, "shards (.tfrecord)", &[SHARD_ENDING])?;
        Ok(Self { bucket, files, shards, size: size.get() })
    }

    /// The picture files in the order in which they are read.
    pub fn files(&self) -> &[Object] {
        &self.files
    }

    /// The shards in the order in which they are read.
    pub fn shards(&self) -> &[Object] {
        &self.shards
    }

    /// Reads batches and takes the time.
    ///
    /// # Errors
    /// When something cannot be read or decoded; the file is named.
    pub fn time(&self, run: &ReadRun) -> Result<ReadTime, RecordsError> {
        let (bytes, elapsed) = match run.source {
            ReadSource::Files => read_files(&*self.bucket, &self.files, self.size, run)?,
            ReadSource::Records => read_records(&*self.bucket, &self.shards, run)?,
        };
        Ok(ReadTime { images: run.images() as u64, bytes, seconds: elapsed.as_secs_f64() })
    }

    /// Drops what a run will read from the cache of this system. A cache below it, of the machine
    /// that hosts it or of the disk, stays as it is.
    ///
    /// # Errors
    /// When the files are not local or cannot be opened.
    pub fn make_cold(&self, run: &ReadRun) -> Result<(), RecordsError> {
        for object in self.read_by(run) {
            if is_remote(&object.address) {
                return Err(RecordsError::ColdRemote { address: object.address.clone() });
            }
            page_cache::forget(&object.address)
                .map_err(|error| RecordsError::from(error).in_file(&object.address))?;
        }
        Ok(())
    }

    fn read_by(&self, run: &ReadRun) -> Vec<&Object> {
        match run.source {
            ReadSource::Files => around(&self.files, run.start).take(run.images()).collect(),
            ReadSource::Records => self.shards.iter().collect(),
        }
    }
}

/// The picture files below a folder, in the order of their addresses.
///
/// # Errors
/// When the folder cannot be read or holds none.
pub fn list_pictures(bucket: &dyn Bucket, folder: &Path) -> Result<Vec<Object>, RecordsError> {
    list(bucket, folder, "pictures (.jpg, .jpeg, .png)", &PICTURE_ENDINGS)
}

/// The items from one of them on, again and again.
fn around<T>(items: &[T], start: usize) -> impl Iterator<Item = &T> {
    items.iter().cycle().skip(start % items.len())
}

fn list(
    bucket: &dyn Bucket,
    folder: &Path,
    what: &'static str,
    endings: &[&str],
) -> Result<Vec<Object>, RecordsError> {
    let has_ending = |path: &PathBuf| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| endings.contains(&ending.as_str()))
    };
    let objects = bucket.list(folder)?;
    let found: Vec<_> = objects.into_iter().filter(|it| has_ending(&it.address)).collect();
    if found.is_empty() {
        return Err(RecordsError::NothingToRead { folder: folder.to_owned(), what });
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
