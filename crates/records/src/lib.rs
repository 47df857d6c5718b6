//! Bytes and pictures: framed records, the messages in them, and data sets.
//!
//! Start with [`load`] for a data set, [`RecordReader`] for a TFRecord file and [`read_scalars`]
//! for a TensorBoard event file. Nothing here trains, draws or downloads unasked.

mod error;
pub mod events;
pub mod example;
pub mod fetch;
mod idx;
mod images;
mod libsvm;
mod load;
mod published;
mod sample;
pub mod tfrecord;
mod wire;

pub use error::{RecordPart, RecordsError};
pub use events::{RunScalars, Scalar, read_scalars, scan_scalars};
pub use example::{Example, Feature};
pub use fetch::{FetchProgress, FetchSource, PUBLISHED_URL, fetch_fashion_mnist};
pub use idx::{IdxBytes, read_idx, unpacked};
pub use images::{LabelledImages, Splits};
pub use libsvm::{SparseExamples, parse_libsvm, read_libsvm};
pub use load::{DEBIAN_FASHION_MNIST, cache_folder, load};
pub use tfrecord::{MAX_RECORD_BYTES, RecordReader, RecordWriter};
