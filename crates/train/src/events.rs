//! What a training job tells while it runs and at its end.

use serde::{Deserialize, Serialize};
use trainwright_study::Strategy;

/// One thing that happened, as `{"event": "...", ...}` in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum TrainEvent {
    /// A step was made.
    Step(Step),
    /// An epoch was finished and the test part scored.
    Epoch(EpochEnd),
    /// The last epoch was finished.
    Done(Done),
    /// A loss was NaN or infinite.
    Diverged(Diverged),
    /// The listener asked to stop.
    Stopped(Stopped),
}

/// How a job ended; each is also the job's last event.
#[derive(Debug, Clone, PartialEq)]
pub enum TrainOutcome {
    /// All epochs were trained.
    Done(Done),
    /// A loss was NaN or infinite; the job has no result.
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
    /// SHA-256 of the final parameters as little-endian `f32`, in hexadecimal.
    pub parameters_hash: String,
    /// Time of all evaluations.
    pub evaluation_s: f64,
    /// Time to load the data.
    pub load_s: f64,
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
        let step = TrainEvent::Step(Step { epoch: 1, step: 2, loss: 0.5 });
        let json = r#"{"event":"step","epoch":1,"step":2,"loss":0.5}"#;
        assert_eq!(serde_json::to_string(&step).unwrap(), json);
        assert_eq!(serde_json::from_str::<TrainEvent>(json).unwrap(), step);
    }
}
