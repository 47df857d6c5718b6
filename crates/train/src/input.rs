//! Pictures on their way to a network: gathered from memory, or streamed from shards or files.
//!
//! `batches.rs` gathers, `stream.rs` is the streamed side. Either way the time that training spends on getting its
//! batches is measured: it is what a faster disk, decoder or pipeline could save.

pub(crate) mod batches;
mod stream;

use std::path::Path;
use std::time::{Duration, Instant};

use trainwright_networks::{Batch, Network, Team};
use trainwright_records::pictures::PixelLimit;
use trainwright_records::pipeline::{PictureUse, Pipeline, PipelineOptions, PixelKind};
use trainwright_records::{LabelledImages, Splits, StreamedPictures, load};
use trainwright_study::{Augmentation, JobSpec, Seed};

use crate::error::TrainError;
use crate::input::batches::{BatchBuffer, View, changed_shape, changes, check_changes};
use stream::{Numbers, Stream};

/// Part of a job's seed that orders and changes streamed pictures.
const STREAM: u64 = 6;

/// Records that are mixed at a time; the buffer holds their numbers alone.
const SHUFFLE: usize = 1 << 16;

/// Batches that are made ahead.
const PREFETCH: usize = 4;

/// Side of the squares that picture files are made, unless the job says otherwise.
const PICTURE_SIZE: usize = 64;

/// The pictures of a job.
pub(crate) struct Pictures {
    data: PictureData,
    augmentation: Augmentation,
}

enum PictureData {
    /// All in memory, as small sets are.
    Memory(Splits),
    /// Read and decoded ahead of the trainer.
    Streamed(StreamedPictures),
}

/// The part of a set that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetPart {
    Train,
    Test,
}

impl Pictures {
    /// Opens the data of a job; the limit is what the environment says where `None`.
    ///
    /// # Errors
    /// When there is no such data, or it cannot be read.
    pub(crate) fn open(job: &JobSpec, limit: Option<PixelLimit>) -> Result<Self, TrainError> {
        let options = PipelineOptions {
            batch: job.batch as usize,
            shuffle: SHUFFLE,
            seed: Seed::new(job.seed).derive(STREAM).value(),
            threads: job.threads as usize,
            prefetch: PREFETCH,
            pixels: PixelKind::F32,
            augment: changes(job.augment),
            max_pixels: limit.map_or_else(PixelLimit::from_environment, Ok)?,
            ..PipelineOptions::default()
        };
        let size = job.size.map_or(PICTURE_SIZE, |size| size as usize);
        let data = match StreamedPictures::open(Path::new(&job.data), size, &options)? {
            Some(streamed) => PictureData::Streamed(streamed),
            None => PictureData::Memory(load(&job.data, job.data_dir.as_deref())?),
        };
        Ok(Self { data, augmentation: job.augment })
    }

    /// Rows, columns and channels of each picture once it is changed.
    pub(crate) fn input_shape(&self) -> [usize; 3] {
        changed_shape(self.shape(), self.augmentation)
    }

    /// Whether the pictures can be changed as the job asks.
    ///
    /// # Errors
    /// When they cannot.
    pub(crate) fn check_changes(&self) -> Result<(), TrainError> {
        check_changes(self.shape(), self.augmentation)
    }

    /// Rows, columns and channels of each picture before it is changed.
    pub(crate) fn shape(&self) -> [usize; 3] {
        match &self.data {
            PictureData::Memory(splits) => {
                let images = splits.train();
                [images.rows(), images.columns(), images.channels()]
            }
            PictureData::Streamed(set) => set.shape,
        }
    }

    /// The highest byte of a part; `None` where it is not known before all was read.
    pub(crate) fn highest_pixel(&self, part: SetPart) -> Option<u8> {
        match self.source(part) {
            Source::Memory(images) => images.pixels().iter().max().copied(),
            Source::Streamed(..) => None,
        }
    }

    /// How many classes there are.
    pub(crate) fn classes(&self) -> usize {
        match &self.data {
            PictureData::Memory(splits) => splits.train().classes(),
            PictureData::Streamed(set) => set.classes,
        }
    }

    /// How many pictures a part has.
    pub(crate) fn len(&self, part: SetPart) -> usize {
        match self.source(part) {
            Source::Memory(images) => images.len(),
            Source::Streamed(pipeline, _) => pipeline.records(),
        }
    }

    /// The order of an epoch over the pictures of `pool`.
    pub(crate) fn order(&self, epoch: u32, seed: Seed, pool: &[u32]) -> Vec<u32> {
        let PictureData::Streamed(set) = &self.data else {
            return seed.shuffled(pool.to_vec());
        };
        let mut order = set.train.order(epoch.into());
        if pool.len() < order.len() {
            let mut wanted = vec![false; order.len()];
            pool.iter().for_each(|&record| wanted[record as usize] = true);
            order.retain(|&record| wanted[record as usize]);
        }
        order
    }

    /// What hands out batches of up to `capacity` pictures of a part.
    ///
    /// # Errors
    /// When the pictures cannot be changed as the job asks.
    pub(crate) fn feed(
        &self,
        part: SetPart,
        capacity: usize,
        network: &Network,
    ) -> Result<Feed<'_>, TrainError> {
        let source = match self.source(part) {
            Source::Memory(images) => {
                let augmentation = self.augmentation;
                FeedSource::Memory(BatchBuffer::new(images, augmentation, capacity, network)?)
            }
            Source::Streamed(pipeline, set) => {
                let numbers = match network.input_rows() {
                    Some(_) => Numbers::Bytes,
                    None => Numbers::UpToOne,
                };
                let (classes, shape) = (set.classes, self.input_shape());
                FeedSource::Streamed(Stream::new(pipeline, classes, shape, numbers))
            }
        };
        Ok(Feed { source, waited: Duration::ZERO })
    }

    fn source(&self, part: SetPart) -> Source<'_> {
        match (&self.data, part) {
            (PictureData::Memory(splits), SetPart::Train) => Source::Memory(splits.train()),
            (PictureData::Memory(splits), SetPart::Test) => Source::Memory(splits.test()),
            (PictureData::Streamed(set), SetPart::Train) => Source::Streamed(&set.train, set),
            (PictureData::Streamed(set), SetPart::Test) => Source::Streamed(&set.test, set),
        }
    }
}

enum Source<'a> {
    Memory(&'a LabelledImages),
    Streamed(&'a Pipeline, &'a StreamedPictures),
}

/// Hands out batches of a part.
pub(crate) struct Feed<'a> {
    source: FeedSource<'a>,
    waited: Duration,
}

enum FeedSource<'a> {
    Memory(BatchBuffer<'a>),
    Streamed(Stream<'a>),
}

impl Feed<'_> {
    /// Tells which pictures will be asked for: those of `now`, then so many `later` as `next`
    /// lists. What is being made already goes on where that is what was foretold.
    ///
    /// # Errors
    /// When a stream cannot be started.
    pub(crate) fn foretell(
        &mut self,
        now: &[u32],
        later: usize,
        next: &dyn Fn() -> Vec<u32>,
        wanted: PictureUse,
    ) -> Result<(), TrainError> {
        match &mut self.source {
            FeedSource::Memory(_) => Ok(()),
            FeedSource::Streamed(stream) => stream.foretell(now, (later, next), wanted),
        }
    }

    /// The batch of these pictures, which are the next of those foretold; `view` is how memory
    /// shows them, and the team gathers them from there.
    ///
    /// # Errors
    /// When a picture cannot be read or does not fit the others.
    pub(crate) fn batch(
        &mut self,
        chosen: &[u32],
        view: View,
        team: &mut Team,
    ) -> Result<Batch<'_>, TrainError> {
        let start = Instant::now();
        let batch = match &mut self.source {
            FeedSource::Memory(buffer) => Ok(buffer.gather(chosen, view, team)),
            FeedSource::Streamed(stream) => stream.batch(chosen),
        };
        self.waited += start.elapsed();
        batch
    }

    /// Time that it took to get all batches so far.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }
}

#[cfg(test)]
mod tests;
