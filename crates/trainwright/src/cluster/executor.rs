//! What a task's process on an executor does.

use std::path::Path;

use trainwright_engine::EngineError;
use trainwright_engine::spark::{ExecutorLink, TRIAL_KIND, serve_trial};

use super::{prepare, speedtest, train};
use crate::Error;

/// Does the work that the runner has for this process, which Spark has started.
///
/// # Errors
/// The work itself fails, which fails the attempt of Spark; or the runner has gone.
pub fn executor(program: &Path) -> Result<(), Error> {
    let link = ExecutorLink::open()?;
    let Some((kind, body)) = link.work()? else { return Ok(()) };
    match kind.as_str() {
        TRIAL_KIND => Ok(serve_trial(&link, body, program)?),
        prepare::KIND => prepare::serve(&link, body),
        speedtest::KIND => speedtest::serve(&link, body),
        train::KIND => train::serve(&link, body),
        other => Err(unread(&format!("this program knows no work called `{other}`"))),
    }
}

/// For work that does not read: another version of the program is at the other end.
pub(super) fn unread(problem: &str) -> Error {
    EngineError::Link { address: "the runner".to_owned(), problem: problem.to_owned() }.into()
}
