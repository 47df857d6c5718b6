//! `trainwright check`.

use std::env;

use anyhow::Context;
use trainwright::terminal;

use crate::arguments::StudyArguments;
use crate::commands::load;
use crate::output::show;

pub(crate) fn check(arguments: &StudyArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let program = env::current_exe().context("cannot find this program's own file")?;
    let preview = trainwright::check(&study, arguments.store.as_deref(), &program)?;
    show("check", arguments.json, &preview, terminal::check)?;
    Ok(0)
}
