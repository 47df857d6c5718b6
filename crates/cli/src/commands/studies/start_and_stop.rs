//! `trainwright init` and `trainwright stop`.

use crate::arguments::{InitArguments, StopArguments};
use crate::commands::load;
use crate::output::show;

pub(crate) fn init(arguments: &InitArguments) -> anyhow::Result<u8> {
    let reply = match &arguments.from {
        Some(from) => trainwright::init_from(&arguments.path, arguments.origin.source(from))?,
        None => trainwright::init(&arguments.path)?,
    };
    show("init", arguments.json, &reply, |reply| {
        let path = reply.study.display();
        format!("Wrote {path}. Next: trainwright check {path}\n")
    })?;
    Ok(0)
}

pub(crate) fn stop(arguments: &StopArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.common.study)?;
    let how = if arguments.now { trainwright::Wish::StopNow } else { trainwright::Wish::Stop };
    let reply = trainwright::stop(&study, arguments.common.store.as_deref(), how)?;
    show("stop", arguments.common.json, &reply, |reply| {
        format!("Asked process {} to stop `{}`.\n", reply.pid, reply.study)
    })?;
    Ok(0)
}
