//! `trainwright machine`.

use trainwright::{MachineRequest, terminal};

use crate::arguments::MachineArguments;
use crate::output::{show, tell};

pub(crate) fn machine(arguments: &MachineArguments) -> anyhow::Result<u8> {
    let request = MachineRequest { folder: &arguments.folder, measure: arguments.measure };
    let reply = trainwright::machine(&request, &mut |what| tell(&format!("measuring {what}")))?;
    show("machine", arguments.json, &reply, terminal::machine)?;
    Ok(0)
}
