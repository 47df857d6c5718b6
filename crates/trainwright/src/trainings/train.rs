//! The verb `train`: one training job, told as events.

use trainwright_study::JobSpec;
use trainwright_train::{Flow, TrainEvent, TrainOptions, TrainOutcome, train_with};

use crate::Error;

/// Trains one network; `on_event` hears every step and may stop it.
///
/// # Errors
/// The job is wrong, its data cannot be read, or what it keeps cannot be written.
pub fn train(
    job: &JobSpec,
    options: &TrainOptions,
    on_event: &mut dyn FnMut(&TrainEvent) -> Flow,
) -> Result<TrainOutcome, Error> {
    Ok(train_with(job, options, on_event)?)
}
