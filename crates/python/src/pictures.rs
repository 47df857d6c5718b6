//! Batches of pictures out of shards or folders, read ahead on threads of their own.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use trainwright::records::{
    Augment, CacheKind, Epoch, Images, PipelineOptions, PixelKind, Remainder, Replica,
};
use trainwright::{BatchRequest, BatchSource, open_batches};

use crate::fault::{bad_input, raised};

/// What batches are wanted, as `Pictures` of the package says it.
#[derive(FromPyObject)]
pub(crate) struct BatchWishes {
    path: PathBuf,
    part: Option<String>,
    size: usize,
    batch: usize,
    shuffle: usize,
    seed: u64,
    threads: usize,
    prefetch: usize,
    drop_last: bool,
    cache: bool,
    flip: bool,
    crop: Option<usize>,
    floats: bool,
    replica: usize,
    replicas: usize,
}

impl BatchWishes {
    fn request(self) -> PyResult<BatchRequest> {
        let (folder, size) = (self.path.clone(), self.size);
        let source = match self.part.as_deref() {
            None => BatchSource::Shards(self.path.to_string_lossy().into_owned()),
            Some("train") => BatchSource::TrainingPart { folder, size },
            Some("test") => BatchSource::TestPart { folder, size },
            Some(other) => {
                let words = format!("there is no part `{other}`; parts are train and test");
                return Err(bad_input(words));
            }
        };
        let options = PipelineOptions {
            batch: self.batch,
            remainder: if self.drop_last { Remainder::Drop } else { Remainder::Keep },
            shuffle: self.shuffle,
            seed: self.seed,
            threads: self.threads,
            prefetch: self.prefetch,
            cache: if self.cache { CacheKind::Memory } else { CacheKind::None },
            replica: Replica { index: self.replica, count: self.replicas },
            augment: Augment { flip: self.flip, crop: self.crop, ..Augment::default() },
            pixels: if self.floats { PixelKind::F32 } else { PixelKind::U8 },
            ..PipelineOptions::default()
        };
        Ok(BatchRequest { source, options })
    }
}

/// Pictures that batches are made of.
#[pyclass(frozen)]
pub(crate) struct PictureBatches {
    batches: trainwright::PictureBatches,
}

#[pymethods]
impl PictureBatches {
    /// Opens pictures.
    #[new]
    fn new(py: Python<'_>, wishes: BatchWishes) -> PyResult<Self> {
        let request = wishes.request()?;
        py.detach(|| Ok(Self { batches: open_batches(&request).map_err(raised)? }))
    }

    /// Pictures in all.
    #[getter]
    fn records(&self) -> usize {
        self.batches.records()
    }

    /// Rows, columns and channels of a picture before any change.
    fn shape(&self, py: Python<'_>) -> PyResult<(usize, usize, usize)> {
        py.detach(|| Ok(self.batches.shape().map_err(raised)?.into()))
    }

    /// Batches of an epoch.
    fn epoch(&self, py: Python<'_>, epoch: u64) -> PyResult<PictureEpoch> {
        py.detach(|| {
            let epoch = Mutex::new(self.batches.epoch(epoch).map_err(raised)?);
            Ok(PictureEpoch { epoch })
        })
    }
}

/// Batches of one epoch, one after the other.
#[pyclass(frozen)]
pub(crate) struct PictureEpoch {
    epoch: Mutex<Epoch>,
}

/// Pixels and labels as bytes, and how many pictures, rows, columns and channels there are.
type BatchBytes<'py> =
    (Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, (usize, usize, usize, usize));

#[pymethods]
impl PictureEpoch {
    /// How many batches there are in all.
    fn __len__(&self) -> usize {
        self.epoch.lock().unwrap_or_else(PoisonError::into_inner).batches()
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<BatchBytes<'py>>> {
        let next = py.detach(|| self.epoch.lock().unwrap_or_else(PoisonError::into_inner).next());
        let Some(batch) = next else { return Ok(None) };
        let batch = batch.map_err(raised)?;
        let pixels = match &batch.images {
            Images::U8(pixels) => PyByteArray::new(py, pixels),
            Images::F32(pixels) => PyByteArray::new(py, bytes_of(pixels)),
        };
        let labels: Vec<u8> = batch.labels.iter().flat_map(|own| own.to_ne_bytes()).collect();
        let [rows, columns, channels] = batch.shape;
        let shape = (batch.labels.len(), rows, columns, channels);
        let reply = (pixels, PyByteArray::new(py, &labels), shape);
        self.epoch.lock().unwrap_or_else(PoisonError::into_inner).recycle(batch);
        Ok(Some(reply))
    }
}

/// Floats as the bytes that they are.
fn bytes_of(floats: &[f32]) -> &[u8] {
    // SAFETY: every byte of a float is a byte, and the length is that of the same memory.
    unsafe { std::slice::from_raw_parts(floats.as_ptr().cast(), size_of_val(floats)) }
}
