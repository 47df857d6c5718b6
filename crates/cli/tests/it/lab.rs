//! The program in a folder of its own, and files that tests give it or read.

pub(crate) mod event_files;
pub(crate) mod pictures;
pub(crate) mod program;
pub(crate) mod record_files;
