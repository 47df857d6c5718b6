//! What a training job tells while it runs and at its end.

mod rank_times;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use trainwright_study::{Scaling, Strategy};

use crate::checkpoints::DamagedCheckpoint;
use crate::train::divergence::DivergedBy;
pub use rank_times::{Activity, RankTimeline, RankTimes, Span};

/// One thing that happened, as `{"event": "...", ...}` in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum TrainEvent {
    /// A step was made.
    Step(Step),
    /// An epoch was finished and the test part scored.
    Epoch(EpochEnd),
    /// The job came to its end.
    Done(Done),
    /// A loss was NaN or infinite, or exploded.
    Diverged(Diverged),
    /// The listener asked to stop.
    Stopped(Stopped),
    /// A damaged checkpoint was passed over before the first step.
    DamagedCheckpoint(DamagedCheckpoint),
    /// A rank was lost, and the others go on.
    RankLost(RankLost),
    /// A server was lost; all ranks are started again and go on from what was kept.
    Restarted(Restarted),
}

/// How a job ended; each is also the job's last event.
#[derive(Debug, Clone, PartialEq)]
pub enum TrainOutcome {
    /// The job came to its end.
    Done(Done),
    /// A loss was NaN or infinite, or exploded; the job has no result.
    Diverged(Diverged),
    /// The listener asked to stop before the last epoch's end.
    Stopped(Stopped),
}

/// Whether a job goes on after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// It goes on.
    Continue,
    /// It ends as [`TrainOutcome::Stopped`].
    Stop,
}

/// One step of the optimiser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Epoch it belongs to, from 1.
    pub epoch: u32,
    /// Steps so far, over all epochs.
    pub step: u64,
    /// Mean cross-entropy of the step's batch before its update, in nats.
    pub loss: f64,
    /// Learning rate of the step.
    pub lr: f64,
    /// Examples of the step.
    pub batch: usize,
}

/// The end of one pass over the training part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochEnd {
    /// The epoch, from 1.
    pub epoch: u32,
    /// Steps so far, over all epochs.
    pub step: u64,
    /// Mean loss over the epoch's batches, each before its update, in nats.
    pub train_loss: f64,
    /// Share of right answers over the epoch's batches, each before its update.
    pub train_accuracy: f64,
    /// Mean loss over the test part after the epoch, in nats.
    pub test_loss: f64,
    /// Share of right answers over the test part after the epoch.
    pub test_accuracy: f64,
    /// Training time of this epoch, without evaluation.
    pub seconds: f64,
    /// Learning rate at the epoch's start.
    pub lr: f64,
    /// Batch at the epoch's start.
    pub batch: usize,
    /// Area under the curve of hits over false alarms on the test part, for two classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_auc: Option<f64>,
    /// Mean loss over the part that is held out for early stopping, in nats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_loss: Option<f64>,
    /// Measured noise scale of the gradients, in examples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_scale: Option<f64>,
}

/// Why a job came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// All epochs were trained.
    Epochs,
    /// The held-out part got no better.
    EarlyStopping,
    /// The time was up; the last epoch may not be whole.
    TimeLimit,
}

/// The result of a finished job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Training time, without loading, evaluation and listeners.
    pub time_s: f64,
    /// As in the last [`EpochEnd`].
    pub train_accuracy: f64,
    /// As in the last [`EpochEnd`].
    pub train_loss: f64,
    /// As in the last [`EpochEnd`].
    pub test_accuracy: f64,
    /// As in the last [`EpochEnd`].
    pub test_loss: f64,
    /// Training examples seen in a second of `time_s`.
    pub examples_per_s: f64,
    /// Steps over all epochs.
    pub steps: u64,
    /// How training was spread over devices.
    pub strategy: Strategy,
    /// Replicas of the network.
    pub replicas: u32,
    /// Bytes that replicas sent to each other.
    pub bytes_sent: u64,
    /// How batch and rate followed the number of replicas.
    #[serde(default)]
    pub scaling: Scaling,
    /// What each rank did with its time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankTimes>,
    /// What each rank did, step by step; not part of the JSON.
    #[serde(skip)]
    pub timelines: Vec<RankTimeline>,
    /// SHA-256 of the final parameters as little-endian `f32`, in hexadecimal.
    pub parameters_hash: String,
    /// Time of `time_s` in which steps waited for their pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_wait_s: Option<f64>,
    /// Share of `time_s` in which they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_wait_share: Option<f64>,
    /// Time of all evaluations.
    pub evaluation_s: f64,
    /// Time to load the data.
    pub load_s: f64,
    /// Time to write checkpoints.
    pub checkpoint_s: f64,
    /// Epochs that were trained, the last of which may not be whole where the time was up.
    pub epochs: u32,
    /// Why it ended.
    pub ended: Ended,
    /// As in the last [`EpochEnd`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_auc: Option<f64>,
}

/// A rank that was lost, and with how many the job goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankLost {
    /// Why, with the rank as it was counted until then.
    pub why: String,
    /// Ranks that go on.
    pub ranks: usize,
    /// Steps that were made before.
    pub step: u64,
}

/// A server that was lost, and from where the job goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Restarted {
    /// Which server, and why.
    pub why: String,
    /// The checkpoint from which it goes on; absent where none was written yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<PathBuf>,
    /// How often ranks of the job were started again, this time included.
    pub restarts: u32,
}

/// Where a job diverged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diverged {
    /// Epoch in which it was seen, from 1.
    pub epoch: u32,
    /// Step whose loss was not finite, or the last step when the test loss was not.
    pub step: u64,
    /// Learning rate at that step.
    pub lr: f64,
    /// Training time until then.
    pub time_s: f64,
    /// Training examples seen in a second of `time_s`.
    pub examples_per_s: f64,
    /// What the loss did.
    pub by: DivergedBy,
    /// What was measured all the same; absent where the loss was not finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<DivergedScores>,
}

/// Scores of a job that diverged with finite losses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DivergedScores {
    /// Mean loss over the batches of the last epoch until then, in nats; absent without any.
    pub train_loss: Option<f64>,
    /// Share of right answers over those batches.
    pub train_accuracy: Option<f64>,
    /// Mean loss over the test part at the end, in nats.
    pub test_loss: f64,
    /// Share of right answers over the test part at the end.
    pub test_accuracy: f64,
}

/// Where a job was stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// Epochs that were finished.
    pub epochs: u32,
    /// Steps that were made.
    pub steps: u64,
    /// Training time until then.
    pub time_s: f64,
}

impl From<TrainOutcome> for TrainEvent {
    fn from(outcome: TrainOutcome) -> Self {
        match outcome {
            TrainOutcome::Done(done) => Self::Done(done),
            TrainOutcome::Diverged(diverged) => Self::Diverged(diverged),
            TrainOutcome::Stopped(stopped) => Self::Stopped(stopped),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_carry_their_name() {
        let step = TrainEvent::Step(Step { epoch: 1, step: 2, loss: 0.5, lr: 0.1, batch: 32 });
        let json = r#"{"event":"step","epoch":1,"step":2,"loss":0.5,"lr":0.1,"batch":32}"#;
        assert_eq!(serde_json::to_string(&step).unwrap(), json);
        assert_eq!(serde_json::from_str::<TrainEvent>(json).unwrap(), step);
    }
}
