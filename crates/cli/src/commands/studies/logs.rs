//! `trainwright logs`.

use std::io::IsTerminal;

use trainwright::{LogName, Results, terminal};

use crate::arguments::LogsArguments;
use crate::commands::load;
use crate::output::{print, show, tell};

pub(crate) fn logs(arguments: &LogsArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let results = Results::read(&study, arguments.store.as_deref())?;
    if arguments.files {
        let reply = trainwright::trial_files(&study, &results, arguments.trial)?;
        show("logs-files", arguments.json, &reply, terminal::trial_files)?;
        return Ok(0);
    }
    if let Some(name) = &arguments.file {
        let bytes = trainwright::trial_file(&study, &results, arguments.trial, name)?;
        print_bytes(&bytes, arguments.raw)?;
        return Ok(0);
    }
    let name = if arguments.stderr { LogName::Stderr } else { LogName::Stdout };
    let reply = trainwright::logs(&study, &results, arguments.trial, name)?;
    if arguments.json {
        print(&trainwright::to_json("logs", &reply))?;
        return Ok(0);
    }
    print_bytes(&reply.bytes, arguments.raw)?;
    if reply.bytes.is_empty() {
        let (number, state) = (reply.trial, reply.state);
        tell(&format!("trial {number} is {state} and wrote nothing to {}", name.word()));
    }
    Ok(0)
}

/// A program that reads the log gets its bytes; a terminal would obey them.
fn print_bytes(bytes: &[u8], raw: bool) -> anyhow::Result<()> {
    match raw || !std::io::stdout().is_terminal() {
        true => print(bytes),
        false => print(&terminal::visible_bytes(bytes)),
    }
}
