//! How a running trial is told to stop.

use std::io::{self, PipeReader, PipeWriter, pipe};
use std::os::fd::{AsFd, BorrowedFd};

use super::process::Process;
use crate::Stop;

/// The caller's end: each request closes a pipe, which wakes the waiting slot for good.
#[derive(Debug)]
pub(crate) struct StopSwitch {
    politely: Option<PipeWriter>,
    now: Option<PipeWriter>,
}

/// The slot's end.
#[derive(Debug)]
pub(crate) struct StopLine {
    politely: PipeReader,
    now: PipeReader,
}

pub(crate) fn stop_line() -> io::Result<(StopSwitch, StopLine)> {
    let (politely, politely_writer) = pipe()?;
    let (now, now_writer) = pipe()?;
    let switch = StopSwitch { politely: Some(politely_writer), now: Some(now_writer) };
    Ok((switch, StopLine { politely, now }))
}

impl StopSwitch {
    pub(crate) fn pull(&mut self, how: Stop) {
        self.politely = None;
        if how == Stop::Now {
            self.now = None;
        }
    }
}

impl StopLine {
    pub(crate) fn descriptor(&self, how: Stop) -> BorrowedFd<'_> {
        match how {
            Stop::Politely => self.politely.as_fd(),
            Stop::Now => self.now.as_fd(),
        }
    }

    pub(crate) fn asked(&self, how: Stop) -> bool {
        Process::is_ready(self.descriptor(how))
    }
}
