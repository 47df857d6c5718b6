//! The verb `train`: one training job, told as events.

use trainwright_study::JobSpec;
use trainwright_train::{
    Flow, TrainEvent, TrainOptions, TrainOutcome, WorkRequest, Workers, train_with, work,
};

use crate::Error;

/// Trains one network; `on_event` hears every step and may stop it.
///
/// Where nothing is said of workers, this program is started for each.
///
/// # Errors
/// The job is wrong, its data cannot be read, or what it keeps cannot be written.
pub fn train(
    job: &JobSpec,
    options: &TrainOptions,
    on_event: &mut dyn FnMut(&TrainEvent) -> Flow,
) -> Result<TrainOutcome, Error> {
    let workers = options.workers.clone().or_else(started_here);
    Ok(train_with(job, &TrainOptions { workers, ..options.clone() }, on_event)?)
}

/// Works for a job that another process trains.
///
/// # Errors
/// It is refused there, the data cannot be read here, or another worker is lost.
pub fn worker(request: &WorkRequest) -> Result<(), Error> {
    Ok(work(request)?)
}

/// Workers that are processes of this program.
pub(super) fn started_here() -> Option<Workers> {
    let program = std::env::current_exe().ok()?;
    Some(Workers::Started { program })
}
