//! The verb `stop`: asks the runner of a study to end.

use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use trainwright_study::Study;

use crate::lock::Lock;
use crate::{Error, Place, Wish};

/// Asks the runner of a study to stop its trials and end; gives its process number.
///
/// # Errors
/// No runner works on the study.
pub fn stop(study: &Study, store: Option<&Path>, how: Wish) -> Result<u32, Error> {
    let not_running = || Error::NotRunning { study: study.name.clone() };
    let place = Place::of(study, store);
    let pid = Lock::holder(&place.trials).ok_or_else(not_running)?;
    let target = Pid::from_raw(i32::try_from(pid).map_err(|_| not_running())?);
    let signal = match how {
        Wish::GoOn => return Ok(pid),
        Wish::Stop => Signal::SIGTERM,
        Wish::StopNow => Signal::SIGQUIT,
    };
    kill(target, signal).map_err(|_| not_running())?;
    Ok(pid)
}
