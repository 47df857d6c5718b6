//! `trainwright queue`: `question.rs` turns arguments into questions, the other files print.

mod fit;
mod priority;
mod question;
mod simulate;

use serde::Serialize;
use trainwright::queueing::QueueName;
use trainwright::terminal::{self, Unit, WithUnit};

use crate::arguments::{QuestionArguments, QueueVerb};
use crate::output::{show, stdout_colour};
use crate::pages::{now, write_file};

pub(crate) fn queue(verb: &QueueVerb) -> anyhow::Result<u8> {
    match verb {
        QueueVerb::Mm1(arguments) => closed(QueueName::Mm1, arguments),
        QueueVerb::Mmc(arguments) => closed(QueueName::Mmc, arguments),
        QueueVerb::Mmck(arguments) => closed(QueueName::Mmck, arguments),
        QueueVerb::Mg1(arguments) => closed(QueueName::Mg1, arguments),
        QueueVerb::Ggc(arguments) => closed(QueueName::Ggc, arguments),
        QueueVerb::Finite(arguments) => closed(QueueName::Finite, arguments),
        QueueVerb::Priority(arguments) => priority::priority(arguments),
        QueueVerb::Simulate(arguments) => simulate::simulate(arguments),
        QueueVerb::Fit(arguments) => fit::fit(arguments),
    }
}

/// Shows an answer whose times have a unit.
fn show_in<A: Serialize>(
    unit: Unit,
    json: bool,
    answer: &A,
    words: impl FnOnce(&A) -> String,
) -> anyhow::Result<()> {
    show("queue", json, &WithUnit::new(unit, answer), |_| words(answer))
}

fn closed(name: QueueName, arguments: &QuestionArguments) -> anyhow::Result<u8> {
    let (draft, unit) = question::queue_draft(name, arguments)?;
    let reply = trainwright::queue(&draft).map_err(|error| terminal::in_unit(error, unit))?;
    if let Some(path) = &arguments.report {
        let target = draft.target.as_ref();
        write_file(path, trainwright::queue_page(&reply, target, unit, &now()))?;
    }
    show_in(unit, arguments.json, &reply, |reply| terminal::queue(reply, unit, stdout_colour()))?;
    Ok(0)
}
