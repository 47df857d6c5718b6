//! Batches of pictures for training, read, shuffled, decoded and augmented ahead of the trainer.
//!
//! Pictures come out of shards or out of a folder of picture files ([`origin`]). An epoch is planned
//! as a list of record numbers ([`order`]): shards in a random order, several read in turn, a
//! shuffle buffer, every replica's share. Workers turn stretches of that list into batches
//! ([`fill`]), and batches come out in the planned order. Everything random depends on seed, epoch
//! and record, so batches are the same for any number of threads.

mod augment;
mod cache;
mod fill;
mod order;
pub(crate) mod ordered_work;
mod origin;
mod zoom;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use augment::Augment;
pub use cache::CacheKind;

use crate::error::RecordsError;
use crate::pictures::{Picture, PixelLimit};
use cache::Cache;
use fill::Filler;
pub(crate) use fill::picture_of;
use ordered_work::Ordered;
pub use origin::FolderPart;
use origin::{Origin, PictureReader};

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
    /// Most pixels that a picture may have.
    pub max_pixels: PixelLimit,
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
            max_pixels: PixelLimit::default(),
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

/// What pictures are wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureUse {
    /// To learn from: changed at random, in another way each epoch.
    Learning {
        /// The epoch.
        epoch: u64,
    },
    /// To judge by: as they are, or what a crop would leave of them in the middle.
    Judging,
}

/// A set of shards, or of picture files, that batches are made of.
pub struct Pipeline {
    shared: Arc<Shared>,
}

/// What workers and epochs have in common.
struct Shared {
    origin: Origin,
    options: PipelineOptions,
    cache: Cache,
    /// Memory of batches that the trainer gave back.
    spare: Mutex<Vec<Batch>>,
}

impl Pipeline {
    /// Opens shards, in the order given, and finds their records by index file or by length.
    ///
    /// # Errors
    /// When there is no record, a shard cannot be read, or an option is out of range.
    pub fn open(paths: &[PathBuf], options: PipelineOptions) -> Result<Self, RecordsError> {
        Self::new(Origin::shards(paths)?, options)
    }

    /// Takes pictures from files of a folder and makes them squares; a file counts as a record.
    ///
    /// # Errors
    /// When there is no picture, or an option is out of range.
    pub fn open_folder(part: FolderPart, options: PipelineOptions) -> Result<Self, RecordsError> {
        Self::new(Origin::Folder(part), options)
    }

    fn new(origin: Origin, options: PipelineOptions) -> Result<Self, RecordsError> {
        check(&options)?;
        let records = origin.records();
        if records == 0 {
            return Err(RecordsError::NoExamples);
        }
        let cache = Cache::new(&options.cache, records)?;
        let spare = Mutex::new(Vec::new());
        Ok(Self { shared: Arc::new(Shared { origin, options, cache, spare }) })
    }

    /// Records of all shards, those of other replicas included.
    pub fn records(&self) -> usize {
        self.shared.origin.records()
    }

    /// The same with decoded pictures kept for later epochs.
    ///
    /// # Errors
    /// When the cache cannot be made.
    pub fn with_cache(self, kind: CacheKind) -> Result<Self, RecordsError> {
        let shared = Arc::into_inner(self.shared).expect("no batch is being made yet");
        let options = PipelineOptions { cache: kind, ..shared.options };
        Self::new(shared.origin, options)
    }

    /// Rows, columns and channels of the first picture before any change.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn shape(&self) -> Result<[usize; 3], RecordsError> {
        let Shared { origin, options, .. } = &*self.shared;
        let (mut reader, mut picture) =
            (PictureReader::new(options.max_pixels)?, Picture::default());
        reader.read(origin, 0, picture.room()).map_err(|error| origin.placed(0, error))?;
        Ok([picture.rows, picture.columns, picture.channels])
    }

    /// The class of a record.
    ///
    /// # Errors
    /// When the record is damaged or has no label.
    pub fn label(&self, record: usize) -> Result<i64, RecordsError> {
        self.shared.origin.label(record)
    }

    /// Record numbers in the order of an epoch, which depends on seed and epoch.
    pub fn order(&self, epoch: u64) -> Vec<u32> {
        order::epoch_order(&self.shared.origin.starts(), &self.shared.options, epoch)
    }

    /// Starts an epoch; its order depends on seed and epoch.
    ///
    /// # Errors
    /// When a decoder cannot be set up.
    pub fn epoch(&self, epoch: u64) -> Result<Epoch, RecordsError> {
        let options = &self.shared.options;
        let mut order = self.order(epoch);
        if options.remainder == Remainder::Drop {
            order.truncate(order.len() / options.batch * options.batch);
        }
        self.batches(&order, PictureUse::Learning { epoch })
    }

    /// Batches of these records, in this order; the last may be smaller.
    ///
    /// # Errors
    /// When a decoder cannot be set up.
    pub fn batches(&self, records: &[u32], wanted: PictureUse) -> Result<Epoch, RecordsError> {
        let shared = &self.shared;
        let options = &shared.options;
        let jobs: Vec<Vec<u32>> = records.chunks(options.batch).map(<[u32]>::to_vec).collect();
        let fillers = (0..options.threads)
            .map(|_| Filler::new(Arc::clone(shared), wanted))
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

/// Batches that are being made, such as those of one epoch.
pub struct Epoch {
    ordered: Ordered<Vec<u32>, Result<Batch, RecordsError>>,
    shared: Arc<Shared>,
    batches: usize,
    failed: bool,
}

impl Epoch {
    /// How many batches there are in all.
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
