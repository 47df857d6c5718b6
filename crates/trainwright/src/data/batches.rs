//! Batches of pictures for a program that trains elsewhere: out of shards, or a folder of files.

use std::path::{Path, PathBuf};

use trainwright_records::pipeline::{Epoch, Pipeline, PipelineOptions};
use trainwright_records::{RecordsError, StreamedPictures, shard_paths};

use crate::Error;

/// Which pictures are wanted, and how.
#[derive(Debug, Clone)]
pub struct BatchRequest {
    /// Where they are.
    pub source: BatchSource,
    /// How batches are made of them.
    pub options: PipelineOptions,
}

/// Where pictures come from.
#[derive(Debug, Clone)]
pub enum BatchSource {
    /// Shards: a folder of `*.tfrecord` files, a file, or a pattern.
    Shards(String),
    /// The training part of a prepared set or of a folder of picture files, made squares.
    TrainingPart {
        /// The folder.
        folder: PathBuf,
        /// Side of the squares of picture files.
        size: usize,
    },
    /// Its test part.
    TestPart {
        /// The folder.
        folder: PathBuf,
        /// Side of the squares of picture files.
        size: usize,
    },
}

/// Pictures that batches are made of, an epoch at a time.
pub struct PictureBatches {
    pipeline: Pipeline,
}

/// Opens pictures.
///
/// # Errors
/// There are none, they cannot be read, or an option is out of range.
pub fn open_batches(request: &BatchRequest) -> Result<PictureBatches, Error> {
    let options = request.options.clone();
    let pipeline = match &request.source {
        BatchSource::Shards(pattern) => Pipeline::open(&shard_paths(pattern)?, options)?,
        BatchSource::TrainingPart { folder, size } => parts(folder, *size, &options)?.train,
        BatchSource::TestPart { folder, size } => parts(folder, *size, &options)?.test,
    };
    Ok(PictureBatches { pipeline })
}

fn parts(folder: &Path, size: usize, options: &PipelineOptions) -> Result<StreamedPictures, Error> {
    let found = StreamedPictures::open(folder, size, options)?;
    let pattern = || folder.display().to_string();
    Ok(found.ok_or_else(|| RecordsError::NoMatch { pattern: pattern() })?)
}

impl PictureBatches {
    /// Pictures in all, those of other replicas included.
    pub fn records(&self) -> usize {
        self.pipeline.records()
    }

    /// Rows, columns and channels of a picture before any change.
    ///
    /// # Errors
    /// The first picture cannot be read.
    pub fn shape(&self) -> Result<[usize; 3], Error> {
        Ok(self.pipeline.shape()?)
    }

    /// Batches of an epoch, whose order depends on seed and epoch.
    ///
    /// # Errors
    /// A decoder cannot be set up.
    pub fn epoch(&self, epoch: u64) -> Result<Epoch, Error> {
        Ok(self.pipeline.epoch(epoch)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_pictures_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let request = |source| BatchRequest { source, options: PipelineOptions::default() };
        let pattern = folder.path().display().to_string();
        for source in [
            BatchSource::Shards(pattern.clone()),
            BatchSource::TrainingPart { folder: folder.path().to_owned(), size: 8 },
        ] {
            let error = open_batches(&request(source)).err().unwrap();
            assert!(error.to_string().contains(&pattern), "{error}");
        }
    }
}
