//! How a running trial is told to stop.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use nix::errno::Errno;
use nix::libc;

use crate::Stop;

/// The caller's end.
#[derive(Debug)]
pub(crate) struct StopSwitch(Arc<Request>);

/// The slot's end.
#[derive(Debug)]
pub(crate) struct StopLine(Arc<Request>);

/// What was asked, with a bell that wakes the waiting slot.
#[derive(Debug)]
struct Request {
    asked: AtomicU8,
    bell: File,
}

pub(crate) fn stop_line() -> io::Result<(StopSwitch, StopLine)> {
    // SAFETY: eventfd takes two integers and returns a new descriptor or an error.
    let bell = Errno::result(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    // SAFETY: the kernel has just given us this descriptor, and nothing else owns it.
    let bell = File::from(unsafe { OwnedFd::from_raw_fd(bell) });
    let request = Arc::new(Request { asked: AtomicU8::new(0), bell });
    Ok((StopSwitch(request.clone()), StopLine(request)))
}

/// How much is asked: more than nothing.
fn level(how: Stop) -> u8 {
    match how {
        Stop::Politely => 1,
        Stop::Now => 2,
    }
}

impl StopSwitch {
    /// Asks the trial to stop; what was asked stays asked.
    pub(crate) fn pull(&self, how: Stop) {
        if self.0.asked.fetch_max(level(how), Ordering::SeqCst) < level(how) {
            // It fails only for a count near 2^64.
            let _ = (&self.0.bell).write_all(&1_u64.to_ne_bytes());
        }
    }
}

impl StopLine {
    /// Stirs when more is asked than before, until [`StopLine::hear`] is called.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.bell.as_fd()
    }

    /// Takes note that the descriptor stirs.
    pub(crate) fn hear(&self) {
        // There is nothing to read where it does not stir.
        let _ = (&self.0.bell).read(&mut [0; 8]);
    }

    /// Whether this much was asked.
    pub(crate) fn asked(&self, how: Stop) -> bool {
        self.0.asked.load(Ordering::SeqCst) >= level(how)
    }
}

#[cfg(test)]
mod tests {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    use super::*;

    fn stirs(line: &StopLine) -> bool {
        let mut fds = [PollFd::new(line.descriptor(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::ZERO).unwrap() > 0
    }

    #[test]
    fn each_request_wakes_the_slot_once_and_stays_asked() {
        let (switch, line) = stop_line().unwrap();
        let seen = |line: &StopLine| (line.asked(Stop::Politely), line.asked(Stop::Now));
        line.hear();
        assert_eq!((stirs(&line), seen(&line)), (false, (false, false)));
        switch.pull(Stop::Politely);
        assert_eq!((stirs(&line), seen(&line)), (true, (true, false)));
        line.hear();
        switch.pull(Stop::Politely);
        assert_eq!((stirs(&line), seen(&line)), (false, (true, false)));
        switch.pull(Stop::Now);
        assert_eq!((stirs(&line), seen(&line)), (true, (true, true)));
        line.hear();
        switch.pull(Stop::Politely);
        assert_eq!((stirs(&line), seen(&line)), (false, (true, true)));
    }
}
