//! Where and when a cluster ran something, as the cluster's scheduler tells it.

use serde::{Deserialize, Serialize};

use super::Usage;

/// One attempt at a task on an executor of a cluster.
///
/// A scheduler sees its own part alone: times of waiting and running, and which executor it was.
/// What the process used is told by the process itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterTask {
    /// What it did, such as `trial 3` or `rank 1`.
    pub label: String,
    /// Its number among the tasks of its job.
    pub partition: u32,
    /// Which attempt it was, from 1.
    pub attempt: u32,
    /// The executor that ran it.
    pub executor: String,
    /// The executor's machine.
    pub host: String,
    /// How it ended: `success`, `failed` or `killed`; `running` where it still was.
    pub status: String,
    /// Whether it was started beside an attempt that took long.
    pub speculative: bool,
    /// When it was given to the executor, in milliseconds since 1970.
    pub launched_ms: i64,
    /// Seconds until it had ended.
    pub duration_s: Option<f64>,
    /// Seconds of that for sending the task and its result, without running it.
    pub scheduler_delay_s: Option<f64>,
    /// What was said where it failed: the end of its process's standard error, or the scheduler's
    /// words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What its own process used; absent where it told nothing, as when it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}
