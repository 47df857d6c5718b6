//! Bytes and pictures: framed records, the messages in them, and data sets.
//!
//! Start with [`load`] for a data set, [`RecordReader`] for a TFRecord file and [`read_scalars`]
//! for a TensorBoard event file. Nothing here trains, draws or downloads unasked.

mod block_writer;
pub mod bucket;
mod compression;
mod durable;
mod error;
pub mod event_writer;
pub mod events;
pub mod example;
mod example_view;
pub mod fetch;
mod idx;
mod images;
mod index;
mod inspect;
mod libsvm;
mod load;
mod load_pictures;
mod ordered;
pub mod pictures;
pub mod pipeline;
pub mod prepare;
mod published;
mod random;
mod read_speed;
mod sample;
mod sequence_example;
mod shard_bytes;
mod shard_paths;
mod shard_writer;
pub mod sources;
mod streamed;
pub mod tfrecord;
mod verify;
mod wire;

pub use bucket::{Bucket, Limits, bucket_of, is_remote};
pub use compression::{Compression, unpacked_records};
pub use error::{RecordPart, RecordsError};
pub use events::{RunScalars, Scalar, each_scalar, read_scalars, scan_scalars};
pub use example::{Example, Feature};
pub use example_view::ExampleView;
pub use fetch::{FetchProgress, FetchSource, PUBLISHED_URL, fetch_fashion_mnist};
pub use idx::{IdxBytes, read_idx, unpacked};
pub use images::{LabelledImages, Splits};
pub use index::{IndexEntry, index_path, parse_index, read_index, write_index};
pub use inspect::{FeatureSummary, Inspection, inspect};
pub use libsvm::{SparseExamples, SparseRow, parse_libsvm, read_libsvm};
pub use load::{DEBIAN_FASHION_MNIST, cache_folder, is_data_set, load};
pub use load_pictures::{LoosePictures, load_pictures};
pub use read_speed::{ReadRun, ReadSource, ReadSpeed, ReadTime, list_pictures, prepare_for_speed};
pub use sequence_example::SequenceExample;
pub use shard_bytes::{ShardBytes, open_shard};
pub use shard_paths::shard_paths;
pub use shard_writer::{IndexFile, ShardSize, ShardWriter};
pub use streamed::StreamedPictures;
pub use tfrecord::{MAX_RECORD_BYTES, RecordReader, RecordSlices, RecordWriter};
pub use verify::{Damage, DamageKind, FileVerdict, verify};
