//! `trainwright serve` and `trainwright exclude`.

use trainwright::{Error, Wish};
use trainwright_web::{ServeError, ServeRequest};

use crate::arguments::{ExcludeArguments, ServeArguments};
use crate::commands::load;
use crate::interrupt::Interrupt;
use crate::output::{show, tell};

pub(crate) fn serve(arguments: &ServeArguments) -> anyhow::Result<u8> {
    let interrupt = Interrupt::listen()?;
    let actions = match arguments.allow_actions {
        true => Some(std::env::current_exe()?),
        false => None,
    };
    let request = ServeRequest {
        paths: arguments.paths.clone(),
        listen: arguments.listen,
        hosts: arguments.hosts.clone(),
        token_file: arguments.token_file.clone(),
        actions,
    };
    let ready = |address| tell(&format!("Serving on http://{address}/ - Ctrl-C ends it."));
    trainwright_web::serve(&request, ready, || interrupt.wish() != Wish::GoOn).map_err(fault)?;
    Ok(0)
}

/// Input that can be mended has the exit code of bad input.
fn fault(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::Study(error) => error.into(),
        ServeError::NeedsToken { .. }
        | ServeError::ShortToken { .. }
        | ServeError::OpenToken { .. } => Error::Request(error.to_string()).into(),
        other => other.into(),
    }
}

pub(crate) fn exclude(arguments: &ExcludeArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.common.study)?;
    let store = arguments.common.store.as_deref();
    let reply = trainwright::exclude(&study, store, arguments.trial, arguments.reason.as_deref())?;
    show("exclude", arguments.common.json, &reply, trainwright::terminal::excluded)?;
    Ok(0)
}
