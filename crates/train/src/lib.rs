//! One training job: data, network, optimiser and loop, told as events.
//!
//! [`train()`] is the whole of it, [`TrainEvent`] what it tells. Nothing here prints.
//!
//! | room | holds |
//! |---|---|
//! | `train` | the loop, and what it watches: pace, divergence, patience, progress |
//! | `strategies` | who runs the loop and who follows: one device, replicas on threads, processes |
//! | `learners` | what the loop drives: the trait `Learner`, a network on pictures, a sparse table |
//! | `input` | pictures on their way to a learner, from memory or streamed |
//! | `checkpoints` | a job kept on disk, and taken up again |
//! | `outputs` | exports, TensorBoard's files, traces, the fingerprint of the parameters |
//! | `predict` | a trained network applied to other examples |
//! | `account` | what a rank does with its time |
//! | `events` | what a job tells while it runs and at its end |

mod account;
mod checkpoints;
mod error;
mod events;
mod input;
mod learners;
mod outputs;
mod predict;
mod strategies;
mod train;

/// Prefixes of names in a checkpoint.
const PARAMETERS: &str = "parameters";
const STATE: &str = "state";

pub use checkpoints::{
    CheckpointEvery, CheckpointOptions, CheckpointStart, DamagedCheckpoint, last_checkpoint,
};
pub use error::TrainError;
pub use events::{
    Activity, Diverged, DivergedScores, Done, Ended, EpochEnd, Flow, RankLost, RankTimeline,
    RankTimes, Restarted, Span, Step, Stopped, TrainEvent, TrainOutcome,
};
pub use learners::memory_limit::MemoryLimit;
pub use learners::split::{ExchangeTime, exchange_time, split_memory};
pub use predict::{ClassScore, PredictRequest, Predicted, Predictions, predict};
pub use strategies::multi_worker::{
    Meeting, WorkRequest, Workers, processes, work, work_with_secret,
};
pub use train::divergence::DivergedBy;
pub use train::{TrainOptions, train, train_with};
