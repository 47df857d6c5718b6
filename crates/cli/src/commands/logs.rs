//! `trainwright logs`.

use std::{fs, io};

use serde_json::json;
use trainwright::{Error, Results};

use super::load;
use crate::arguments::LogsArguments;
use crate::output::{print, print_json, tell};

pub(crate) fn logs(arguments: &LogsArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let results = Results::read(&study, arguments.store.as_deref())?;
    let trial = results.trial(&study, arguments.trial)?;
    let name = if arguments.stderr { "stderr" } else { "stdout" };
    let folder = results.place.trial(trial.number);
    let path = folder.join(name);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        // A trial that never came to its command wrote nothing.
        Err(error)
            if error.kind() == io::ErrorKind::NotFound
                && (trial.attempts == 0 || folder.is_dir()) =>
        {
            Vec::new()
        }
        Err(source) => return Err(Error::Input { path, source }.into()),
    };
    let text = String::from_utf8_lossy(&bytes);
    if arguments.json {
        let value =
            json!({ "trial": trial.number, "state": trial.state, "file": path, "text": text });
        print_json("logs", &value)?;
    } else {
        print(&bytes)?;
        if text.is_empty() {
            let (number, state) = (trial.number, trial.state);
            tell(&format!("trial {number} is {state} and wrote nothing to {name}"));
        }
    }
    Ok(0)
}
