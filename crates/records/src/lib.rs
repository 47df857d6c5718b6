//! Bytes and pictures: framed records, the messages in them, and data sets.
//!
//! Start with [`load`] for a data set, [`RecordReader`] for a TFRecord file and [`read_scalars`]
//! for a TensorBoard event file. Nothing here trains, draws or downloads unasked.
//!
//! | room | holds |
//! |---|---|
//! | `shards` | TFRecord files: framing, compression, index, writing, finding, checking |
//! | `messages` | what records hold: examples and TensorBoard events |
//! | `pictures` | JPEG and PNG: headers, pixels, another size, and back |
//! | `sources` | what records are made from: picture folders, IDX sets, libsvm files, CSV tables |
//! | `prepare` | sources into shards, in parallel, repeatable, resumable |
//! | `pipeline` | shards or picture files into batches for training |
//! | `data_sets` | sets by name, in memory or streamed, and fetching them |
//! | `read_speed` | how fast pictures become batches |
//! | `files` | where bytes lie: local files, object stores, either made slow; files written whole |

mod data_sets;
mod error;
mod files;
mod messages;
pub mod pictures;
pub mod pipeline;
pub mod prepare;
mod read_speed;
mod shards;
pub mod sources;

pub use data_sets::fetch::{self, FetchProgress, FetchSource, PUBLISHED_URL, fetch_fashion_mnist};
pub use data_sets::idx::{IdxBytes, read_idx, unpacked};
pub use data_sets::labelled_images::{LabelledImages, Splits};
pub use data_sets::libsvm::{SparseExamples, SparseRow, parse_libsvm, read_libsvm};
pub use data_sets::load::{DEBIAN_FASHION_MNIST, cache_folder, is_data_set, load};
pub use data_sets::loose_pictures::{LoosePictures, load_pictures};
pub use data_sets::streamed_pictures::StreamedPictures;
pub use error::{RecordPart, RecordsError};
pub use files::bucket::{self, Bucket, Limits, bucket_of, is_remote};
pub use files::durable::{remove_stale, write_whole};
pub use messages::event_writer;
pub use messages::events::{self, RunScalars, Scalar, each_scalar, read_scalars, scan_scalars};
pub use messages::example::{self, Example, Feature};
pub use messages::example_view::ExampleView;
pub use messages::sequence_example::SequenceExample;
pub use read_speed::{ReadRun, ReadSource, ReadSpeed, ReadTime, list_pictures, prepare_for_speed};
pub use shards::bytes::{ShardBytes, open_shard};
pub use shards::compression::{Compression, unpacked_records};
pub use shards::framing::{MAX_RECORD_BYTES, RecordReader, RecordSlices, RecordWriter};
pub use shards::index::{IndexEntry, index_path, parse_index, read_index, write_index};
pub use shards::inspect::{FeatureSummary, Inspection, inspect};
pub use shards::paths::{shard_paths, shard_paths_of_parts};
pub use shards::verify::{Damage, DamageKind, FileVerdict, verify};
pub use shards::writer::{IndexFile, ShardSize, ShardWriter};
