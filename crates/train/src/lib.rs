//! One training job: data, network, optimiser and loop, told as events.
//!
//! [`train`] is the whole of it; `events.rs` is what it tells. Strategies that spread a job over
//! devices will sit between the gradients of a step and its update. Nothing here prints, and
//! nothing is written to disk.

mod batches;
mod error;
mod events;
mod fingerprint;
mod stopwatch;
mod train;

pub use error::TrainError;
pub use events::{Diverged, Done, EpochEnd, Flow, Step, Stopped, TrainEvent, TrainOutcome};
pub use train::train;
