//! One device does everything.

use std::time::Instant;

use trainwright_study::{JobSpec, NetworkName};

use super::rank::{lead, opened};
use crate::error::TrainError;
use crate::events::TrainOutcome;
use crate::learners::sparse::{SparseLearner, SparseSplits};
use crate::train::{Listener, TrainOptions, run};

/// Trains a job alone.
///
/// # Errors
/// When its data cannot be read, or its network not be built.
pub(crate) fn train(
    job: &JobSpec,
    options: &TrainOptions,
    on_event: Listener<'_>,
) -> Result<TrainOutcome, TrainError> {
    if job.network != NetworkName::Logistic {
        let (pictures, load_s) = opened(job, options.max_pixels)?;
        return lead(None, job, options, (&pictures, load_s), on_event);
    }
    let start = Instant::now();
    let splits = SparseSplits::load(job)?;
    let load_s = start.elapsed().as_secs_f64();
    let mut learner = SparseLearner::new(job, &splits)?;
    run(job, options, &mut learner, load_s, on_event)
}
