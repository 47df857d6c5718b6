//! What a rank does: the first leads, the others follow.

use std::time::Instant;

use trainwright_comm::Group;
use trainwright_records::pictures::PixelLimit;
use trainwright_study::{JobSpec, Schedule};

use crate::checkpoints::keeper::goes_on;
use crate::error::TrainError;
use crate::events::TrainOutcome;
use crate::input::{Pictures, SetPart};
use crate::learners::dense::DenseLearner;
use crate::learners::split::{SplitLearner, SplitRank};
use crate::train::{Listener, TrainOptions, held_out, order_of, run};

/// The pictures of a job, and the seconds that it took to open them.
///
/// # Errors
/// When they cannot be read.
pub(super) fn opened(
    job: &JobSpec,
    limit: Option<PixelLimit>,
) -> Result<(Pictures, f64), TrainError> {
    let start = Instant::now();
    let pictures = Pictures::open(job, limit)?;
    Ok((pictures, start.elapsed().as_secs_f64()))
}

/// Runs the loop of a job, as the first of a group or alone.
///
/// # Errors
/// When the network cannot be built, an example not be read, or another rank is lost.
pub(super) fn lead(
    group: Option<Group>,
    job: &JobSpec,
    options: &TrainOptions,
    (pictures, load_s): (&Pictures, f64),
    on_event: Listener<'_>,
) -> Result<TrainOutcome, TrainError> {
    let mut begins = job.clone();
    if goes_on(options.checkpoint.as_ref()) {
        // The checkpoint has all that pretrained weights would be changed into.
        begins.weights = None;
    }
    let largest = largest_batch(job, pictures);
    if let Some(split) = &job.split {
        let mut learner = SplitLearner::new(group, (&begins, split), pictures, largest, options)?;
        let outcome = run(job, options, &mut learner, load_s, on_event)?;
        learner.dismiss()?;
        return Ok(outcome);
    }
    let mut learner = DenseLearner::among(group, &begins, pictures, largest)?;
    let outcome = run(job, options, &mut learner, load_s, on_event)?;
    learner.dismiss()?;
    Ok(outcome)
}

/// Follows the first of a group until it ends the job.
///
/// # Errors
/// As for [`lead`].
pub(super) fn follow(group: Group, job: &JobSpec, pictures: &Pictures) -> Result<(), TrainError> {
    // Parameters come from the first rank.
    let begins = JobSpec { weights: None, ..job.clone() };
    let largest = largest_batch(job, pictures);
    if let Some(split) = &job.split {
        return SplitRank::new(group, (&begins, split), pictures, largest)?.follow();
    }
    let mut learner = DenseLearner::among(Some(group), &begins, pictures, largest)?;
    let pool = held_out(job, pictures.len(SetPart::Train)).0;
    learner.follow(|learner, epoch| order_of(job, learner, epoch, &pool))
}

/// Most examples of a step of the job.
pub(super) fn largest_batch(job: &JobSpec, pictures: &Pictures) -> usize {
    let grows = matches!(job.schedule, Schedule::GrowBatch { .. } | Schedule::NoiseScale);
    let grown = if grows { pictures.len(SetPart::Train) / 10 } else { 1 };
    (job.global_batch() as usize).max(grown)
}
