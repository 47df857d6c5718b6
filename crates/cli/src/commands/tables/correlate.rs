//! `trainwright correlate`.

use trainwright::terminal;

use crate::arguments::CorrelateArguments;
use crate::output::{show, stdout_colour};

pub(crate) fn correlate(arguments: &CorrelateArguments) -> anyhow::Result<u8> {
    let found = trainwright::correlate(&arguments.data, &arguments.column, &arguments.with)?;
    let words = |found: &_| terminal::correlations(found, stdout_colour());
    show("correlate", arguments.json, &found, words)?;
    Ok(0)
}
