//! The verb `queue`: how long jobs wait, how many servers they need.
//!
//! `simulate.rs` runs the event simulation beside the closed forms, `fit.rs` reads service times.

mod fit;
mod simulate;

use serde::Serialize;
use trainwright_analysis::{Finding, findings_of_classes, findings_of_queue};
use trainwright_queueing::{PriorityAnswer, PriorityDraft, QueueAnswer, QueueDraft};

use crate::Error;
pub use fit::{FitReply, FitRequest, FitSource, TimesFit, fit_queue};
pub use simulate::{
    Agreement, ClassesSimulated, QueueSimulated, SimulationLength, simulate_priorities,
    simulate_queue,
};

/// An answer and what it means.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueReply<A> {
    /// The answer.
    #[serde(flatten)]
    pub answer: A,
    /// What it means.
    pub findings: Vec<Finding>,
}

/// Checks a question about a queue and answers it.
///
/// # Errors
/// A number is missing, out of range or foreign to the queue, the queue would grow for ever, or
/// its target cannot be kept.
pub fn queue(draft: &QueueDraft) -> Result<QueueReply<QueueAnswer>, Error> {
    let answer = draft.answer()?;
    let findings = findings_of_queue(&answer);
    Ok(QueueReply { answer, findings })
}

/// Checks a question about a queue with classes and answers it.
///
/// # Errors
/// A number is missing or out of range, the classes have no closed form, the queue would grow for
/// ever, or its target cannot be kept.
pub fn priority_queue(draft: &PriorityDraft) -> Result<QueueReply<PriorityAnswer>, Error> {
    let answer = draft.answer()?;
    let findings = findings_of_classes(&answer);
    Ok(QueueReply { answer, findings })
}
