//! What is known of a training's time.

use serde::{Deserialize, Serialize};

/// What one rank did with the training time; evaluation and checkpoints are not in it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RankAccount {
    /// Which rank.
    pub rank: usize,
    /// Computing gradients.
    pub compute_s: f64,
    /// Waiting for examples.
    pub input_wait_s: f64,
    /// Waiting until the slowest rank had its gradients too.
    pub barrier_wait_s: f64,
    /// Exchanging gradients and parameters while nothing else was done.
    pub communication_s: f64,
    /// Exchanging while gradients were computed.
    pub hidden_communication_s: f64,
    /// Waiting at a server for its turn.
    pub server_queue_s: f64,
    /// The optimiser.
    pub update_s: f64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages: u64,
    /// Time of computing in which its thread had a core; absent where it was not measured.
    pub cpu_s: Option<f64>,
    /// Time of computing in which it was ready and had none; absent where it was not measured.
    pub run_queue_s: Option<f64>,
}

impl RankAccount {
    /// The time before ranks meet.
    pub(super) fn before_barrier_s(&self) -> f64 {
        self.compute_s + self.input_wait_s
    }

    /// All that is accounted for.
    pub(super) fn sum_s(&self) -> f64 {
        self.before_barrier_s()
            + self.barrier_wait_s
            + self.communication_s
            + self.server_queue_s
            + self.update_s
    }
}

/// How ranks go through their steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// They meet, so that the slowest sets the pace.
    Together,
    /// Each by itself.
    Alone,
}

/// What carries bytes from rank to rank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// The memory that they share.
    Memory,
    /// A network that all ranks share, as those of one machine do.
    Network {
        /// What it carries in a second; absent where it was not measured.
        bytes_per_s: Option<f64>,
        /// A byte there and back; absent where it was not measured.
        round_trip_s: Option<f64>,
    },
}

/// What the machine did meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct MachineUse {
    /// Seconds that threads were ready and had no core; all ranks of the machine.
    pub run_queue_s: Option<f64>,
    /// Bytes read from the disk.
    pub disk_read_bytes: Option<u64>,
    /// What the disk reads in a second.
    pub disk_bytes_per_s: Option<f64>,
    /// Cores in use on average.
    pub cores_in_use: Option<f64>,
    /// Cores that there are.
    pub cores: Option<u32>,
}

/// A training's time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingAccount {
    /// Training time by the clock, without evaluation and checkpoints.
    pub training_s: f64,
    /// Steps made in it.
    pub steps: u64,
    /// Every rank.
    pub ranks: Vec<RankAccount>,
    /// Threads that each rank computes with.
    pub threads: u32,
    /// How ranks go.
    pub pace: Pace,
    /// What is between them.
    pub link: Link,
    /// What the machine did.
    pub machine: MachineUse,
}
