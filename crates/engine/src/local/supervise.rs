//! Waits for a process, looks after it meanwhile, and makes it stop when it must.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::process::{Process, Reaped};
use super::stop::StopLine;
use crate::Stop;
use crate::verdict::EndedBy;

/// Longest time that a program has to see the stop file before SIGTERM ends it; most programs
/// know nothing of the file, and should not keep the user waiting.
const HEAD_START: Duration = Duration::from_secs(1);

/// What a process is bound by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub(crate) timeout: Option<Duration>,
    pub(crate) grace: Duration,
    /// Appears when the process should end.
    pub(crate) stop_file: &'a Path,
    pub(crate) stop: &'a StopLine,
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) by: EndedBy,
    pub(crate) wall: Duration,
    pub(crate) reaped: Reaped,
}

/// Waits for a process that leads its group and started at `started`, then kills the group.
///
/// `tick` is called with the time since the start, whenever it asked to be called again.
pub(crate) fn supervise(
    process: &Process,
    started: Instant,
    limits: Limits<'_>,
    tick: &mut dyn FnMut(Duration) -> Option<Duration>,
) -> Ended {
    let mut stopping = Stopping { limits, by: EndedBy::Itself, phase: Phase::Running };
    let mut next_tick = tick(Duration::ZERO);
    loop {
        let due = stopping.due().into_iter().chain(next_tick).min();
        let limit = due.map(|due| due.saturating_sub(started.elapsed()));
        if process.wait(limits.stop.descriptor(), limit) {
            break;
        }
        limits.stop.hear();
        let elapsed = started.elapsed();
        stopping.advance(process, elapsed);
        if next_tick.is_some_and(|due| due <= elapsed) {
            next_tick = tick(elapsed);
        }
    }
    let wall = started.elapsed();
    // The leader is not reaped yet, so no other group can have its number.
    process.signal_group(Signal::SIGKILL);
    let reaped = process.reap().expect("a child of ours can be reaped once");
    Ended { by: stopping.by, wall, reaped }
}

struct Stopping<'a> {
    limits: Limits<'a>,
    by: EndedBy,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Running,
    /// The stop file is there.
    Asked {
        tell_at: Duration,
    },
    /// SIGTERM was sent.
    Told {
        kill_at: Duration,
    },
    Killed,
}

impl Stopping<'_> {
    /// When this must be looked at again, since the start.
    fn due(&self) -> Option<Duration> {
        match self.phase {
            Phase::Running => self.limits.timeout,
            Phase::Asked { tell_at } => Some(tell_at),
            Phase::Told { kill_at } => Some(kill_at),
            Phase::Killed => None,
        }
    }

    fn advance(&mut self, process: &Process, elapsed: Duration) {
        if self.phase == Phase::Killed {
            return;
        }
        if self.limits.stop.asked(Stop::Now) {
            self.blame(EndedBy::User);
            return self.kill(process);
        }
        match self.phase {
            Phase::Running if self.limits.stop.asked(Stop::Politely) => {
                self.ask(EndedBy::User, elapsed);
            }
            Phase::Running if self.limits.timeout.is_some_and(|timeout| elapsed >= timeout) => {
                self.ask(EndedBy::Timeout, elapsed);
            }
            Phase::Asked { tell_at } if elapsed >= tell_at => {
                process.signal_group(Signal::SIGTERM);
                self.phase = Phase::Told { kill_at: elapsed + self.limits.grace };
            }
            Phase::Told { kill_at } if elapsed >= kill_at => self.kill(process),
            _ => {}
        }
    }

    fn ask(&mut self, by: EndedBy, elapsed: Duration) {
        self.blame(by);
        // Only ever made anew, so that a link of that name leads nowhere.
        let mut options = OpenOptions::new();
        let made = options.write(true).create_new(true).mode(0o600).open(self.limits.stop_file);
        if let Err(error) = made
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            // The signal still comes, so the trial ends anyway.
            tracing::warn!(file = %self.limits.stop_file.display(), %error, "no stop file");
        }
        self.phase = Phase::Asked { tell_at: elapsed + HEAD_START.min(self.limits.grace / 5) };
    }

    fn kill(&mut self, process: &Process) {
        process.signal_group(Signal::SIGKILL);
        self.phase = Phase::Killed;
    }

    /// The first cause is the cause.
    fn blame(&mut self, by: EndedBy) {
        if self.by == EndedBy::Itself {
            self.by = by;
        }
    }
}
