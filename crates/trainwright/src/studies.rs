//! Studies before and after their trials: made, checked, planned, taken in, read back, shown.
//!
//! `planned.rs` is what `run` begins with, `results.rs` what every reading verb begins with.

pub(crate) mod analyze;
pub(crate) mod check;
pub(crate) mod derived;
pub(crate) mod exclude;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod metric_rules;
pub(crate) mod place;
pub(crate) mod plan_change;
pub(crate) mod planned;
pub(crate) mod report;
pub(crate) mod rereading;
pub(crate) mod results;
pub(crate) mod status;
pub(crate) mod studies_compared;
pub(crate) mod trial_files;

#[cfg(test)]
mod tests;
