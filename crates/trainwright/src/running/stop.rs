//! The verb `stop`: asks the runner of a study to end.

use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Serialize;
use trainwright_study::Study;

use crate::running::lock::Lock;
use crate::{Error, Place, Wish};

/// Who was asked to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopReply {
    /// The study's name.
    pub study: String,
    /// The process that runs it.
    pub pid: u32,
}

/// Asks the runner of a study to stop its trials and end.
///
/// # Errors
/// No runner works on the study.
pub fn stop(study: &Study, store: Option<&Path>, how: Wish) -> Result<StopReply, Error> {
    let not_running = || Error::NotRunning { study: study.name.clone() };
    let place = Place::of(study, store);
    let pid = Lock::holder(&place.trials).ok_or_else(not_running)?;
    let target = Pid::from_raw(i32::try_from(pid).map_err(|_| not_running())?);
    let signal = match how {
        Wish::GoOn => return Ok(StopReply { study: study.name.clone(), pid }),
        Wish::Stop => Signal::SIGTERM,
        Wish::StopNow => Signal::SIGQUIT,
    };
    kill(target, signal).map_err(|_| not_running())?;
    Ok(StopReply { study: study.name.clone(), pid })
}
