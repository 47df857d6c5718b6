//! The verb `queue`: how long jobs wait, how many servers they need.

use trainwright_queueing::{QueueAnswer, QueueDraft};

use crate::Error;

/// Checks a question about a queue and answers it.
///
/// # Errors
/// A number is missing, out of range or foreign to the queue, the queue would grow for ever, or
/// its target cannot be kept.
pub fn queue(draft: &QueueDraft) -> Result<QueueAnswer, Error> {
    Ok(draft.answer()?)
}
