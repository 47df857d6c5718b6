//! Files of framed records: reading, writing, indexing and checking them.
//!
//! [`framing`] knows one record after another, `compression.rs` what may lie around them and
//! `index.rs` where each begins. `writer.rs` makes a shard that appears whole, `bytes.rs` gives the
//! bytes of one wherever it lies (`mapped_file.rs` maps a local one), `paths.rs` finds them. `verify.rs` lists all damage, `inspect.rs`
//! shows what is in a file.

pub(crate) mod block_writer;
pub(crate) mod bytes;
pub(crate) mod compression;
pub(crate) mod framing;
pub(crate) mod index;
pub(crate) mod inspect;
pub(crate) mod mapped_file;
pub(crate) mod paths;
pub(crate) mod verify;
pub(crate) mod writer;
