//! Batches of pictures for training, read, shuffled, decoded and augmented ahead of the trainer.
//!
//! An epoch is planned as a list of record numbers ([`order`]): shards in a random order, several
//! read in turn, a shuffle buffer, every replica's share. Workers turn stretches of that list into
//! batches ([`fill`]), and batches come out in the planned order. Everything random depends on
//! seed, epoch and record, so batches are the same for any number of threads.

mod augment;
mod cache;
mod fill;
mod order;
mod zoom;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use augment::Augment;
pub use cache::CacheKind;

use crate::error::RecordsError;
use crate::index::{IndexEntry, index_path, read_index};
use crate::ordered::Ordered;
use crate::shard_bytes::ShardBytes;
use crate::tfrecord::RecordSlices;
use cache::Cache;
use fill::Filler;
pub(crate) use fill::picture_of;

/// How batches are made.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineOptions {
    /// Pictures in a batch.
    pub batch: usize,
    /// What happens to pictures that fill no whole batch.
    pub remainder: Remainder,
    /// Records in the shuffle buffer; 1 keeps the order in which shards are read.
    pub shuffle: usize,
    /// Shards that are read in turn.
    pub interleave: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Threads that decode.
    pub threads: usize,
    /// Batches that are made ahead.
    pub prefetch: usize,
    /// Whether decoded pictures are kept for later epochs.
    pub cache: CacheKind,
    /// Which share of the records this pipeline gives.
    pub replica: Replica,
    /// Random changes of each picture.
    pub augment: Augment,
    /// Kind of numbers in a batch.
    pub pixels: PixelKind,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        Self {
            batch: 32,
            remainder: Remainder::Keep,
            shuffle: 1024,
            interleave: 4,
            seed: 1,
            threads: 1,
            prefetch: 2,
            cache: CacheKind::None,
            replica: Replica { index: 0, count: 1 },
            augment: Augment::default(),
            pixels: PixelKind::F32,
        }
    }
}

/// What happens to pictures that fill no whole batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remainder {
    /// The last batch is smaller.
    Keep,
    /// They are left out of the epoch.
    Drop,
}

/// One of several pipelines that together give every record once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replica {
    /// Which one, counting from 0.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

/// Kind of numbers in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PixelKind {
    /// Bytes from 0 to 255.
    U8,
    /// Floats from 0 to 1.
    F32,
}

/// Pictures of one size with their labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// Pixels of all pictures: picture, row, column, channel.
    pub images: Images,
    /// The class of each picture.
    pub labels: Vec<i64>,
    /// Rows, columns and channels of a picture.
    pub shape: [usize; 3],
}

/// Pixels of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Images {
    /// Bytes from 0 to 255.
    U8(Vec<u8>),
    /// Floats from 0 to 1.
    F32(Vec<f32>),
}

/// A set of shards that batches are made of.
pub struct Pipeline {
    shared: Arc<Shared>,
}

/// What workers and epochs have in common.
struct Shared {
    shards: Vec<Shard>,
    /// Number of the first record of each shard, and at the end that of all records.
    starts: Vec<usize>,
    options: PipelineOptions,
    cache: Cache,
    /// Memory of batches that the trainer gave back.
    spare: Mutex<Vec<Batch>>,
}

struct Shard {
    path: PathBuf,
    bytes: ShardBytes,
    index: Vec<IndexEntry>,
}

impl Pipeline {
    /// Opens shards, in the order given, and finds their records by index file or by length.
    ///
    /// # Errors
    /// When there is no record, a shard cannot be read, or an option is out of range.
    pub fn open(paths: &[PathBuf], options: PipelineOptions) -> Result<Self, RecordsError> {
        check(&options)?;
        let shards = paths.iter().map(|path| Shard::open(path)).collect::<Result<Vec<_>, _>>()?;
        let mut starts = vec![0];
        for shard in &shards {
            starts.push(starts.last().expect("it begins with 0") + shard.index.len());
        }
        let records = *starts.last().expect("it begins with 0");
        if records == 0 {
            return Err(RecordsError::NoExamples);
        }
        let cache = Cache::new(&options.cache, records)?;
        let spare = Mutex::new(Vec::new());
        Ok(Self { shared: Arc::new(Shared { shards, starts, options, cache, spare }) })
    }

    /// Records of all shards, those of other replicas included.
    pub fn records(&self) -> usize {
        self.shared.records()
    }

    /// Starts an epoch; its order depends on seed and epoch.
    ///
    /// # Errors
    /// When a decoder cannot be set up.
    pub fn epoch(&self, epoch: u64) -> Result<Epoch, RecordsError> {
        let shared = &self.shared;
        let order = order::epoch_order(&shared.starts, &shared.options, epoch);
        let options = &shared.options;
        let mut jobs: Vec<Vec<u32>> = order.chunks(options.batch).map(<[u32]>::to_vec).collect();
        if options.remainder == Remainder::Drop && !order.len().is_multiple_of(options.batch) {
            jobs.pop();
        }
        let fillers = (0..options.threads)
            .map(|_| Filler::new(Arc::clone(shared), epoch))
            .collect::<Result<Vec<_>, _>>()?;
        let workers: Vec<_> = fillers
            .into_iter()
            .map(|mut filler| move |records: Vec<u32>| filler.fill(&records))
            .collect();
        let batches = jobs.len();
        let window = options.prefetch.max(options.threads);
        let ordered = Ordered::start(workers, window, jobs.into_iter());
        Ok(Epoch { ordered, shared: Arc::clone(shared), batches, failed: false })
    }
}

/// The batches of one epoch.
pub struct Epoch {
    ordered: Ordered<Vec<u32>, Result<Batch, RecordsError>>,
    shared: Arc<Shared>,
    batches: usize,
    failed: bool,
}

impl Epoch {
    /// Batches of the whole epoch.
    pub fn batches(&self) -> usize {
        self.batches
    }

    /// Takes a batch back, to use its memory again.
    pub fn recycle(&self, batch: Batch) {
        self.shared.spare.lock().expect("nobody panics while holding it").push(batch);
    }

    /// How long the trainer has waited for batches in this epoch: with enough threads and
    /// prefetch little more than the first batch takes.
    pub fn waited(&self) -> Duration {
        self.ordered.waited()
    }
}

impl Iterator for Epoch {
    type Item = Result<Batch, RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = self.ordered.next();
        self.failed = matches!(batch, Some(Err(_)));
        batch
    }
}

impl Shared {
    fn records(&self) -> usize {
        *self.starts.last().expect("it begins with 0")
    }

    /// The checked payload of a record.
    fn record(&self, number: usize) -> Result<&[u8], RecordsError> {
        let shard = self.starts.partition_point(|&start| start <= number) - 1;
        let (within, shard) = (number - self.starts[shard], &self.shards[shard]);
        RecordSlices::at(&shard.bytes, shard.index[within], within as u64)
            .map_err(|error| error.in_file(&shard.path))
    }

    /// An error with the place of the record it happened in.
    fn placed(&self, number: usize, error: RecordsError) -> RecordsError {
        let shard = self.starts.partition_point(|&start| start <= number) - 1;
        let record = (number - self.starts[shard]) as u64;
        error.in_record(record).in_file(&self.shards[shard].path)
    }
}

impl Shard {
    fn open(path: &Path) -> Result<Self, RecordsError> {
        let bytes = ShardBytes::open(path)?;
        let beside = index_path(path);
        let index = if matches!(bytes, ShardBytes::Mapped(_)) && beside.is_file() {
            read_index(&beside)?
        } else {
            RecordSlices::index(&bytes).map_err(|error| error.in_file(path))?
        };
        // An index of another version of the file would hide records.
        let end = index.last().map_or(0, |last| last.offset + last.bytes);
        if end != bytes.len() as u64 {
            let found = bytes.len() as u64;
            return Err(RecordsError::IndexEnd { expected: end, found }.in_file(beside));
        }
        Ok(Self { path: path.to_owned(), bytes, index })
    }
}

fn check(options: &PipelineOptions) -> Result<(), RecordsError> {
    let counts = [
        ("batch", options.batch),
        ("shuffle", options.shuffle),
        ("interleave", options.interleave),
        ("threads", options.threads),
        ("prefetch", options.prefetch),
        ("replica count", options.replica.count),
    ];
    for (option, value) in counts {
        if value == 0 {
            let (value, expected) = (value.to_string(), "at least 1");
            return Err(RecordsError::BadOption { option, value, expected });
        }
    }
    if options.replica.index >= options.replica.count {
        let (option, expected) = ("replica", "below the number of replicas");
        let value = options.replica.index.to_string();
        return Err(RecordsError::BadOption { option, value, expected });
    }
    options.augment.check()
}

#[cfg(test)]
mod tests;
