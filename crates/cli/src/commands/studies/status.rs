//! `trainwright status`.

use trainwright::{Results, terminal};

use crate::arguments::StudyArguments;
use crate::commands::load;
use crate::output::show;

pub(crate) fn status(arguments: &StudyArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let results = Results::read(&study, arguments.store.as_deref())?;
    show("status", arguments.json, &trainwright::status(&study, &results)?, terminal::status)?;
    Ok(0)
}
