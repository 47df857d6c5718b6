//! A prepared set of shards as pictures in memory.

use std::path::{Path, PathBuf};

use crate::error::RecordsError;
use crate::images::{LabelledImages, Splits};
use crate::pipeline::{Images, Pipeline, PipelineOptions, PixelKind};

/// Pictures that are decoded at a time.
const BATCH: usize = 64;

/// Folders of the parts, as `data prepare --split` writes them.
const TRAIN: &str = "train";
const TEST: &str = "test";

/// Whether a folder holds a set that was prepared in parts.
pub(crate) fn is_prepared(folder: &Path) -> bool {
    [TRAIN, TEST].iter().all(|part| shards(&folder.join(part)).is_ok_and(|it| !it.is_empty()))
}

/// Loads the training and the test part; the pictures of both must have one size.
pub(crate) fn load_prepared(folder: &Path) -> Result<Splits, RecordsError> {
    let part = |name: &str| {
        let folder = folder.join(name);
        load_part(&shards(&folder)?).map_err(|error| error.in_file(folder))
    };
    Splits::new(part(TRAIN)?, part(TEST)?).map_err(|error| error.in_file(folder))
}

fn shards(folder: &Path) -> Result<Vec<PathBuf>, RecordsError> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "tfrecord") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn load_part(paths: &[PathBuf]) -> Result<LabelledImages, RecordsError> {
    let options = PipelineOptions {
        batch: BATCH,
        shuffle: 1,
        interleave: 1,
        pixels: PixelKind::U8,
        ..PipelineOptions::default()
    };
    let pipeline = Pipeline::open(paths, options)?;
    let (mut pixels, mut labels, mut size) = (Vec::new(), Vec::new(), None);
    for batch in pipeline.epoch(0)? {
        let batch = batch?;
        let Images::U8(own) = &batch.images else { unreachable!("bytes were asked for") };
        let [rows, columns, _] = *size.get_or_insert(batch.shape);
        if size != Some(batch.shape) {
            let train = (rows, columns);
            return Err(RecordsError::SplitShape { train, test: (batch.shape[0], batch.shape[1]) });
        }
        pixels.extend_from_slice(own);
        for &label in &batch.labels {
            let example = labels.len();
            let label = u8::try_from(label).map_err(|_| RecordsError::LabelRange {
                example,
                label: label.unsigned_abs(),
                classes: 256,
            })?;
            labels.push(label);
        }
    }
    let classes = labels.iter().max().map_or(0, |&label| usize::from(label) + 1);
    let shape = size.ok_or(RecordsError::NoExamples)?;
    LabelledImages::with_channels(pixels, shape, labels, classes)
}
