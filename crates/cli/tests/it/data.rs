//! From pictures to records, and how fast they are read.

mod prepared;
pub(crate) mod speedtest;
