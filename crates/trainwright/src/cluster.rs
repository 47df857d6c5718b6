//! Data preparation, speed tests and training on a Spark cluster, and what its executors run.
//!
//! Trials run there by the engine of `trainwright_engine`; see `running/run.rs`. `start.rs` starts
//! an application, `executor.rs` is what a task's process does, and each other file is one verb.

pub(crate) mod executor;
pub(crate) mod prepare;
pub(crate) mod set_up;
pub(crate) mod speedtest;
pub(crate) mod start;
pub(crate) mod train;
