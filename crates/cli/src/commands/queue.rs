//! `trainwright queue`: `question.rs` turns arguments into questions, the other files print.

mod fit;
mod page;
mod priority;
mod question;
mod simulate;
mod words;

use serde::Serialize;
use trainwright::QueueReply;
use trainwright_queueing::{QueueAnswer, QueueName};

use super::report::write_page;
use crate::arguments::{QuestionArguments, QueueVerb};
use crate::output::{print, print_json};
use crate::quantities::Unit;

pub(crate) use words::findings_text;

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

/// What a verb prints as JSON: the answer and the unit of its times.
#[derive(Serialize)]
struct WithUnit<'a, A> {
    unit: Option<&'static str>,
    #[serde(flatten)]
    answer: &'a A,
}

fn print_with_unit(unit: Unit, answer: &impl Serialize) -> anyhow::Result<()> {
    print_json("queue", &WithUnit { unit: unit.word(), answer })
}

fn closed(name: QueueName, arguments: &QuestionArguments) -> anyhow::Result<u8> {
    let (draft, unit) = question::queue_draft(name, arguments)?;
    let reply: QueueReply<QueueAnswer> =
        trainwright::queue(&draft).map_err(|error| words::in_unit(error, unit))?;
    if let Some(path) = &arguments.report {
        let target = draft.target.as_ref();
        write_page(path, &page::queue_page(&reply, target, unit))?;
    }
    if arguments.json {
        print_with_unit(unit, &reply)?
    } else {
        print(&(words::queue_text(&reply.answer, unit) + &findings_text(&reply.findings)))?
    }
    Ok(0)
}
