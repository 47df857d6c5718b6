//! `trainwright doctor`.

use trainwright::terminal;

use crate::arguments::DoctorArguments;
use crate::output::{show, stdout_colour};

/// What is missing is a finding, not a failure: the exit code is 0.
pub(crate) fn doctor(arguments: &DoctorArguments) -> anyhow::Result<u8> {
    let reply = trainwright::doctor(&arguments.folder);
    show("doctor", arguments.json, &reply, |reply| terminal::doctor(reply, stdout_colour()))?;
    Ok(0)
}
