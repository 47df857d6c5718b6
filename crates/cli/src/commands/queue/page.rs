//! Pages of queues.

use std::fs;
use std::path::Path;

use trainwright::{Error, QueueReply};
use trainwright_queueing::{QueueAnswer, Target};
use trainwright_report::{QueuePage, queue_html};

use super::words::queue_text;
use crate::quantities::Unit;

/// The page of a queue.
pub(super) fn queue_page(
    reply: &QueueReply<QueueAnswer>,
    target: Option<&Target>,
    unit: Unit,
) -> String {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string();
    queue_html(&QueuePage {
        answer: &reply.answer,
        target,
        words: &queue_text(&reply.answer, unit),
        findings: &reply.findings,
        unit: unit.word(),
        program: concat!("trainwright ", env!("CARGO_PKG_VERSION")),
        written_at: &now,
    })
}

/// Writes a page.
pub(crate) fn write_page(path: &Path, html: &str) -> Result<(), Error> {
    fs::write(path, html).map_err(|source| Error::Folder { path: path.to_owned(), source })
}
