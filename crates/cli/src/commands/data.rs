//! Verbs about data sets.

mod fetch;
mod prepare;
mod speedtest;

pub(super) use fetch::fetch;
pub(super) use prepare::{inspect, prepare, verify};
pub(super) use speedtest::speedtest;
