//! Where bytes lie, and how they get there.
//!
//! `bucket.rs` is a place for bytes, local or remote; `durable.rs` writes files that appear whole or
//! not at all; `regular_file.rs` opens nothing but files.

pub mod bucket;
pub(crate) mod durable;
pub(crate) mod regular_file;
