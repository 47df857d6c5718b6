//! Sets of labelled examples: by name, out of files, or fetched.
//!
//! `load.rs` finds a set and takes it into memory (`idx.rs` and `sample.rs` read it, [`fetch`] gets
//! it, `published.rs` knows what it must be); `streamed_pictures.rs` is a set that is read while it
//! is needed, `loose_pictures.rs` pictures that need belong to none. `libsvm.rs` reads sparse
//! examples.

pub mod fetch;
pub(crate) mod idx;
pub(crate) mod labelled_images;
pub(crate) mod libsvm;
pub(crate) mod load;
pub(crate) mod loose_pictures;
pub(crate) mod published;
pub(crate) mod sample;
pub(crate) mod streamed_pictures;
