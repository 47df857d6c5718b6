//! The verbs `cloud catalog`, `cloud recommend`, `cloud tell` and `cloud replay`: which machines,
//! and how many.
//!
//! `recorded.rs` reads tables of runs, `own_runs.rs` those of the user's own, `catalog.rs` lists of machines; `recommend.rs` keeps a
//! search in a plain file and runs the job of `job.rs`, `replay.rs` plays methods against recorded runs.

pub(crate) mod catalog;
pub(crate) mod ernest;
pub(crate) mod job;
pub(crate) mod own_runs;
pub(crate) mod recommend;
pub(crate) mod recorded;
pub(crate) mod replay;
pub(crate) mod search_file;
