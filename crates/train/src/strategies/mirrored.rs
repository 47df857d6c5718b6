//! Replicas on threads of this process share each batch and stay equal.

use std::thread;

use trainwright_comm::Group;
use trainwright_study::JobSpec;

use super::rank::{follow, lead, opened};
use crate::error::TrainError;
use crate::events::TrainOutcome;
use crate::train::{Listener, TrainOptions};

/// Trains a job on the job's replicas.
///
/// # Errors
/// When its data cannot be read, its network not be built, or a replica fails.
pub(crate) fn train(
    job: &JobSpec,
    options: &TrainOptions,
    on_event: Listener<'_>,
) -> Result<TrainOutcome, TrainError> {
    let (pictures, load_s) = opened(job, options.max_pixels)?;
    let mut groups = Group::threads(job.replicas as usize).into_iter();
    let first = groups.next().filter(|group| group.size() > 1);
    thread::scope(|scope| {
        let pictures = &pictures;
        let followers: Vec<_> =
            groups.map(|group| scope.spawn(move || follow(group, job, pictures))).collect();
        let outcome = lead(first, job, options, (pictures, load_s), on_event);
        let mut failed = None;
        for (rank, follower) in (1..).zip(followers) {
            match follower.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => failed = Some(first_cause(failed, rank, error)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        match (outcome, failed) {
            // That a replica is lost says less than why.
            (Err(TrainError::Together(_)), Some(cause)) => Err(cause),
            (outcome, _) => outcome,
        }
    })
}

/// The error that was there first: one that is not about another rank, if there is any.
fn first_cause(before: Option<TrainError>, rank: usize, error: TrainError) -> TrainError {
    match before {
        Some(before) if matches!(error, TrainError::Together(_)) => before,
        _ => TrainError::Replica { rank, error: Box::new(error) },
    }
}
