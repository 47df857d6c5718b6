//! The data path: fetching, preparing and checking records, and how fast they are read.

pub(crate) mod batches;
pub(crate) mod fetch;
pub(crate) mod preparation_page;
pub(crate) mod prepare;
pub(crate) mod speedtest;
