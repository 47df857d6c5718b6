//! `trainwright engine`, and the process of a task on a cluster.

use std::env;

use anyhow::Context;

use crate::arguments::EngineVerb;
use crate::output::{show, tell};

pub(crate) fn engine(verb: &EngineVerb) -> anyhow::Result<u8> {
    let EngineVerb::Setup(arguments) = verb;
    tell("installing pyspark, which takes a few minutes where it is not there yet");
    let reply = trainwright::set_up()?;
    show("engine-setup", arguments.json, &reply, |reply| {
        let how = if reply.setup.was_there { "was there" } else { "is installed" };
        let folder = reply.setup.folder.display();
        format!("pyspark {} {how} in {folder}\n", reply.setup.version)
    })?;
    Ok(0)
}

pub(crate) fn executor() -> anyhow::Result<u8> {
    // Ctrl-C at the terminal of a cluster on one machine is for the runner, which ends its tasks.
    let program = env::current_exe().context("cannot find this program's own file")?;
    trainwright::executor(&program)?;
    Ok(0)
}
