//! `trainwright queue priority`.

use trainwright::{Error, terminal};

use super::question::priority_draft;
use super::show_in;
use crate::arguments::QuestionArguments;
use crate::output::stdout_colour;

pub(super) fn priority(arguments: &QuestionArguments) -> anyhow::Result<u8> {
    if arguments.report.is_some() {
        let reason = "--report draws queues of one class; a queue with classes has no page";
        return Err(Error::Request(reason.to_owned()).into());
    }
    let (draft, unit) = priority_draft(arguments)?;
    let reply =
        trainwright::priority_queue(&draft).map_err(|error| terminal::in_unit(error, unit))?;
    show_in(unit, arguments.json, &reply, |reply| {
        terminal::priority_queue(reply, unit, stdout_colour())
    })?;
    Ok(0)
}
