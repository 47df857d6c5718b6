//! Pages of queues and load tests.

use trainwright_queueing::{QueueAnswer, Target};
use trainwright_report::terminal::{Unit, queue_text};
use trainwright_report::{LoadPage, QueuePage, load_html, queue_html};

use crate::studies::report::PROGRAM;
use crate::{LoadReply, QueueReply, terminal};

/// The page of a queue, with its response curve.
pub fn queue_page(
    reply: &QueueReply<QueueAnswer>,
    target: Option<&Target>,
    unit: Unit,
    written_at: &str,
) -> String {
    queue_html(&QueuePage {
        answer: &reply.answer,
        target,
        words: &queue_text(&reply.answer, unit),
        findings: &reply.findings,
        unit: unit.word(),
        program: PROGRAM,
        written_at,
    })
}

/// The page of a load test, with its charts.
pub fn load_page(reply: &LoadReply, written_at: &str) -> String {
    load_html(&LoadPage {
        study: &reply.study,
        configuration: &reply.configuration.to_string(),
        jobs: &reply.measured_jobs(),
        measured: reply.measured.as_ref(),
        model: reply.model.as_ref(),
        words: &terminal::load_summary(reply),
        findings: &reply.findings,
        program: PROGRAM,
        written_at,
    })
}
