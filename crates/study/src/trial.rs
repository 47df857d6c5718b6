//! One execution of a design row: what is planned, what came back.

pub(crate) mod capacities;
pub(crate) mod cluster;
pub(crate) mod gpu;
pub(crate) mod machine;
pub(crate) mod observation;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Configuration;
use cluster::ClusterTask;
use gpu::GpuUsage;

/// A trial as the plan lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// Position in the run order, from 1.
    pub number: u32,
    /// Row of the design in standard order, from 1; absent where no design asked for it.
    pub row: Option<u32>,
    /// Number among the repeats of that row, from 1.
    pub replicate: u32,
    /// What to run.
    pub configuration: Configuration,
    /// Seed given to the trial; fits 31 bits, as many programs want.
    pub seed: u32,
    /// Block that it runs in, from 1; absent where runs are not blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Group of runs between which hard-to-change factors are set anew, from 1; absent where all
    /// factors are easy to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_plot: Option<u32>,
}

/// Where a trial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrialState {
    /// Not started yet.
    Planned,
    /// Started by a runner, which may have died since.
    Running,
    /// All metrics measured.
    Finished,
    /// Ended by a NaN or infinite metric, or by its own word: kept, counted, left out of fits unless
    /// the study lets those with a response count.
    Diverged,
    /// Ended without its metrics.
    Failed,
    /// Ended early by a rule of the search, because it did worse than others had: kept, counted,
    /// left out of fits.
    #[serde(rename = "cut-short")]
    CutShort,
    /// Ended by the user; it will be run again.
    Stopped,
}

impl TrialState {
    /// All states, those that say most about a study first.
    pub const ALL: [Self; 7] = [
        Self::Finished,
        Self::Diverged,
        Self::Failed,
        Self::CutShort,
        Self::Stopped,
        Self::Running,
        Self::Planned,
    ];

    /// The word used in the store, in JSON and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Diverged => "diverged",
            Self::Failed => "failed",
            Self::CutShort => "cut-short",
            Self::Stopped => "stopped",
        }
    }

    /// The state of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

impl fmt::Display for TrialState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// All metrics measured.
    Finished,
    /// A metric was NaN or infinite, or the program says that it diverged.
    Diverged {
        /// Which metric, and what it was, or the program's words.
        reason: String,
    },
    /// The process failed, or a metric is missing.
    Failed {
        /// What went wrong, with the nearest lines where a rule found nothing.
        reason: String,
    },
    /// A rule of the search ended it early.
    #[serde(rename = "cut-short")]
    CutShort {
        /// Which rule, and why.
        reason: String,
    },
    /// The user ended it.
    Stopped,
}

impl Outcome {
    /// The state a trial is in after this outcome.
    pub fn state(&self) -> TrialState {
        match self {
            Self::Finished => TrialState::Finished,
            Self::Diverged { .. } => TrialState::Diverged,
            Self::Failed { .. } => TrialState::Failed,
            Self::CutShort { .. } => TrialState::CutShort,
            Self::Stopped => TrialState::Stopped,
        }
    }

    /// The reason of a trial that did not finish.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Diverged { reason } | Self::Failed { reason } | Self::CutShort { reason } => {
                Some(reason)
            }
            Self::Finished | Self::Stopped => None,
        }
    }
}

/// One value of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The metric's name.
    pub metric: String,
    /// Its value, finite.
    pub value: f64,
    /// Whether the value lies in the metric's range.
    pub in_range: bool,
}

/// What a trial used, by the kernel's accounts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Seconds from start to exit.
    pub wall_s: f64,
    /// CPU seconds in user mode, process tree.
    pub user_s: f64,
    /// CPU seconds in kernel mode, process tree.
    pub system_s: f64,
    /// Largest resident memory of the process tree that was seen; absent for a trial that was
    /// over before anyone could look and used no more than the runner.
    pub peak_memory_bytes: Option<u64>,
    /// Bytes read from storage by the process tree, where the kernel tells.
    pub disk_read_bytes: Option<u64>,
    /// Bytes written to storage by the process tree, where the kernel tells.
    pub disk_write_bytes: Option<u64>,
    /// Network bytes during the trial; absent while another slot ran.
    pub network: Option<NetworkUsage>,
    /// Seconds that threads of the process tree were ready and had no core, at least; absent where
    /// the kernel does not tell, or nobody looked in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_queue_s: Option<f64>,
    /// Times that the process tree had to wait for a page of memory from storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// What it used of each GPU; empty without one, or where it touched none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuUsage>,
    /// Seconds of `wall_s` that belong to earlier attempts, from whose checkpoint this one went on;
    /// all other sums count those attempts too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_s: Option<f64>,
    /// Exit code, unless a signal ended the process.
    pub exit_code: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<i32>,
}

impl Usage {
    /// The usage of a trial in all that went on where an earlier attempt, which used this much,
    /// was cut short. GPUs and the exit are those of the last attempt.
    pub fn after(self, earlier: &Self) -> Self {
        fn sum<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
            a.zip(b).map(|(a, b)| a + b)
        }
        let network =
            self.network.zip(earlier.network.as_ref()).map(|(own, before)| NetworkUsage {
                received_bytes: own.received_bytes + before.received_bytes,
                sent_bytes: own.sent_bytes + before.sent_bytes,
                loopback_bytes: own.loopback_bytes + before.loopback_bytes,
                scope: own.scope,
            });
        Self {
            wall_s: self.wall_s + earlier.wall_s,
            user_s: self.user_s + earlier.user_s,
            system_s: self.system_s + earlier.system_s,
            peak_memory_bytes: self.peak_memory_bytes.max(earlier.peak_memory_bytes),
            disk_read_bytes: sum(self.disk_read_bytes, earlier.disk_read_bytes),
            disk_write_bytes: sum(self.disk_write_bytes, earlier.disk_write_bytes),
            network,
            run_queue_s: sum(self.run_queue_s, earlier.run_queue_s),
            major_faults: sum(self.major_faults, earlier.major_faults),
            gpus: self.gpus,
            earlier_s: Some(earlier.wall_s),
            exit_code: self.exit_code,
            signal: self.signal,
        }
    }

    /// Seconds of the last attempt alone.
    pub fn last_attempt_s(&self) -> f64 {
        self.wall_s - self.earlier_s.unwrap_or(0.0)
    }
}

/// Network bytes during a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkUsage {
    /// Bytes received over interfaces other than loopback.
    pub received_bytes: u64,
    /// Bytes sent over interfaces other than loopback.
    pub sent_bytes: u64,
    /// Bytes over loopback.
    pub loopback_bytes: u64,
    /// Whose bytes these are.
    pub scope: NetworkScope,
}

/// Whose bytes a network figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkScope {
    /// All of the machine's.
    Machine,
    /// The trial's process tree alone.
    Tree,
}

/// A quantity followed over a trial: a learning curve or a telemetry channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// `metric.<name>` for learning curves, `cpu.user`, `memory` and the like for telemetry.
    pub name: String,
    /// What the positions count: `s` since the start, `step`, or `report` where no step was told.
    pub axis: String,
    /// Unit of the values.
    pub unit: String,
    /// Positions, ascending.
    pub at: Vec<f64>,
    /// Values, one a position.
    pub values: Vec<f64>,
}

/// Everything kept of one ended trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// How it ended.
    pub outcome: Outcome,
    /// The metrics measured.
    pub measurements: Vec<Measurement>,
    /// What it used; absent when the process never started.
    pub usage: Option<Usage>,
    /// Curves and telemetry.
    pub series: Vec<Series>,
    /// The command line as started.
    pub command: Vec<String>,
    /// The variables that the engine set for the trial.
    pub environment: BTreeMap<String, String>,
    /// Start, in milliseconds since 1970.
    pub started_ms: i64,
    /// The last lines of the output.
    pub output_end: String,
    /// The attempts that a cluster made at it, where one ran it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cluster: Vec<ClusterTask>,
}
