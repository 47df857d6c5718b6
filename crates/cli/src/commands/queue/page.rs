//! Pages of queues.

use trainwright::QueueReply;
use trainwright_queueing::{QueueAnswer, Target};
use trainwright_report::{QueuePage, queue_html};

use super::words::queue_text;
use crate::commands::report::now;
use crate::quantities::Unit;

/// The page of a queue.
pub(super) fn queue_page(
    reply: &QueueReply<QueueAnswer>,
    target: Option<&Target>,
    unit: Unit,
) -> String {
    queue_html(&QueuePage {
        answer: &reply.answer,
        target,
        words: &queue_text(&reply.answer, unit),
        findings: &reply.findings,
        unit: unit.word(),
        program: concat!("trainwright ", env!("CARGO_PKG_VERSION")),
        written_at: &now(),
    })
}
