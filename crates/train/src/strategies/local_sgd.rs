//! Replicas drift apart for some steps, then their parameters are averaged.
//!
//! They are threads of this process or processes, as those of the strategies whose replicas stay
//! equal; what they do between two averages is in `learners/dense/drifting.rs`.

use trainwright_study::JobSpec;

use super::{mirrored, multi_worker};
use crate::error::TrainError;
use crate::events::TrainOutcome;
use crate::train::{Listener, TrainOptions};

/// Trains a job on the job's replicas or workers.
///
/// # Errors
/// When its data cannot be read, its network not be built, or a replica fails.
pub(crate) fn train(
    job: &JobSpec,
    options: &TrainOptions,
    on_event: Listener<'_>,
) -> Result<TrainOutcome, TrainError> {
    match job.workers {
        1 => mirrored::train(job, options, on_event),
        _ => multi_worker::train(job, options, on_event),
    }
}
