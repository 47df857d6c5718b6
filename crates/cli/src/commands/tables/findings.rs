//! `trainwright findings`.

use trainwright::terminal;

use crate::arguments::FindingsArguments;
use crate::output::show;

pub(crate) fn findings(arguments: &FindingsArguments) -> anyhow::Result<u8> {
    let reply = trainwright::findings(arguments.id.as_deref())?;
    show("findings", arguments.json, &reply, terminal::findings)?;
    Ok(0)
}
