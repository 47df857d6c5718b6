//! One training job: data, network, optimiser and loop, told as events.
//!
//! [`train`] is the whole of it; `events.rs` is what it tells. `train.rs` is the loop, `dense.rs`
//! and `sparse.rs` are what it drives, `checkpoint.rs` keeps a job on disk. Strategies that spread
//! a job over devices will sit between the gradients of a step and its update. Nothing here
//! prints.

mod batches;
mod board;
mod checkpoint;
mod dense;
mod described;
mod divergence;
mod early_stopping;
mod error;
mod events;
mod export;
mod fingerprint;
mod input;
mod learner;
mod optimizers;
mod pace;
mod predict;
mod progress;
mod sparse;
mod stopwatch;
mod train;
mod trained;

/// Prefixes of names in a checkpoint.
const PARAMETERS: &str = "parameters";
const STATE: &str = "state";

pub use checkpoint::{CheckpointEvery, CheckpointOptions, CheckpointStart};
pub use divergence::DivergedBy;
pub use error::TrainError;
pub use events::{Diverged, Done, Ended, EpochEnd, Flow, Step, Stopped, TrainEvent, TrainOutcome};
pub use predict::{ClassScore, PredictRequest, Predicted, Predictions, predict};
pub use train::{TrainOptions, train, train_with};
