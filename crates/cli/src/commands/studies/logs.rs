//! `trainwright logs`.

use std::io::IsTerminal;

use trainwright::{LogName, Results, terminal};

use crate::arguments::LogsArguments;
use crate::commands::load;
use crate::output::{print, tell};

pub(crate) fn logs(arguments: &LogsArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let results = Results::read(&study, arguments.store.as_deref())?;
    let name = if arguments.stderr { LogName::Stderr } else { LogName::Stdout };
    let reply = trainwright::logs(&study, &results, arguments.trial, name)?;
    if arguments.json {
        print(&trainwright::to_json("logs", &reply))?;
        return Ok(0);
    }
    // A program that reads the log gets its bytes; a terminal would obey them.
    if arguments.raw || !std::io::stdout().is_terminal() {
        print(&reply.bytes)?;
    } else {
        print(&terminal::visible_bytes(&reply.bytes))?;
    }
    if reply.bytes.is_empty() {
        let (number, state) = (reply.trial, reply.state);
        tell(&format!("trial {number} is {state} and wrote nothing to {}", name.word()));
    }
    Ok(0)
}
