//! The thread that knows whether the other ranks live.
//!
//! Beside the connection for data, two ranks have one for signs of life. A thread of its own sends
//! a heart-beat to every rank at an interval, whatever the rank computes meanwhile, and reads
//! theirs. A rank whose connection closes without a goodbye is lost at once; one of which nothing
//! is heard for longer than the patience is lost then. Whoever notices tells all others which rank
//! it is, and ends its own operation by shutting the connections for data down.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::control::{Control, Report, Sign};
use crate::error::{CommError, Loss};

/// Why a group has come apart; the first reason stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Lost(Report),
    GivenUp { by: usize },
}

impl Verdict {
    pub(super) fn error(self) -> CommError {
        match self {
            Self::Lost(Report { lost, why, .. }) => CommError::PeerLost { rank: lost, why },
            Self::GivenUp { by } => CommError::GivenUp { by },
        }
    }
}

/// How often ranks show that they live, and how long they are waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pulse {
    pub(super) heartbeat: Duration,
    pub(super) patience: Duration,
}

/// The watching thread, seen from the rank's own.
#[derive(Debug)]
pub(super) struct Watch {
    rank: usize,
    shared: Arc<Shared>,
    patience: Duration,
    waker: UnixStream,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    status: Mutex<Status>,
    changed: Condvar,
    /// The connections for data, which end with the group.
    data: Vec<TcpStream>,
}

#[derive(Debug, Default)]
struct Status {
    verdict: Option<Verdict>,
    /// Ranks that have said goodbye.
    left: Vec<usize>,
    ending: bool,
}

impl Watch {
    /// Begins to watch the other ends of these connections, for a rank.
    pub(super) fn start(
        rank: usize,
        controls: Vec<Control>,
        data: Vec<TcpStream>,
        pulse: Pulse,
    ) -> io::Result<Self> {
        let (waker, wake) = UnixStream::pair()?;
        waker.set_nonblocking(true)?;
        wake.set_nonblocking(true)?;
        let status = Mutex::new(Status::default());
        let shared = Arc::new(Shared { status, changed: Condvar::new(), data });
        let watcher = Watcher { rank, shared: shared.clone(), wake, controls, pulse };
        let thread = std::thread::Builder::new()
            .name("comm watch".to_owned())
            .spawn(move || watcher.run())?;
        Ok(Self { rank, shared, patience: pulse.patience, waker, thread: Some(thread) })
    }

    /// Why the group has come apart, where it has.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        self.shared.lock().verdict
    }

    /// Ends the group for this reason unless there is one; tells all others; gives the reason.
    pub(super) fn blame(&self, rank: usize, why: Loss) -> Verdict {
        let report = Report { lost: rank, by: self.rank, why };
        let verdict = self.shared.judge(Verdict::Lost(report));
        self.wake();
        verdict
    }

    /// Why a connection for data has ended. The rank at its other end may have died, left, or only
    /// have heard of another loss earlier: what it says on the other connection decides.
    pub(super) fn why_closed(&self, rank: usize) -> Verdict {
        let status = self.shared.lock();
        let open = |status: &mut Status| status.verdict.is_none() && !status.left.contains(&rank);
        let waited = self.shared.changed.wait_timeout_while(status, self.patience, open);
        let status = waited.unwrap_or_else(PoisonError::into_inner).0;
        let why = if status.left.contains(&rank) { Loss::Left } else { Loss::Closed };
        drop(status);
        self.blame(rank, why)
    }

    fn wake(&self) {
        // A full pipe wakes as well.
        let _ = (&self.waker).write(&[0]);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.lock().ending = true;
        self.wake();
        if let Some(thread) = self.thread.take() {
            // A panic there was told by its own message; here only the connections matter.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn judge(&self, verdict: Verdict) -> Verdict {
        let verdict = *self.lock().verdict.get_or_insert(verdict);
        self.changed.notify_all();
        verdict
    }
}

struct Watcher {
    rank: usize,
    shared: Arc<Shared>,
    wake: UnixStream,
    controls: Vec<Control>,
    pulse: Pulse,
}

impl Watcher {
    fn run(mut self) {
        let (mut told, mut awake) = (false, Instant::now());
        let mut next_beat = awake;
        loop {
            self.sleep(next_beat);
            let now = Instant::now();
            self.listen(now);
            // Where this process itself was stopped, the silence was its own.
            if now.duration_since(awake) > self.pulse.patience / 2 {
                self.controls.iter_mut().for_each(|control| control.heard = now);
            }
            awake = now;
            self.judge_silence(now);
            let (verdict, ending) = {
                let status = self.shared.lock();
                (status.verdict, status.ending)
            };
            if let Some(verdict) = verdict.filter(|_| !told) {
                self.tell(verdict);
                told = true;
            }
            if ending {
                self.controls.iter_mut().for_each(Control::goodbye);
                return;
            }
            if now >= next_beat {
                self.controls.iter_mut().for_each(Control::beat);
                next_beat = now + self.pulse.heartbeat;
            }
        }
    }

    /// Sleeps until something comes or the next heart-beat is due.
    fn sleep(&mut self, until: Instant) {
        let left = until.saturating_duration_since(Instant::now());
        // Rounded up, so that the last millisecond is not spent turning.
        let left =
            PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
        let open = self.controls.iter().filter(|control| control.is_open());
        let mut sockets: Vec<PollFd<'_>> =
            open.map(|control| PollFd::new(control.as_fd(), PollFlags::POLLIN)).collect();
        sockets.push(PollFd::new(self.wake.as_fd(), PollFlags::POLLIN));
        // An interrupted sleep is a short one.
        let _ = poll(&mut sockets, left);
        while matches!((&self.wake).read(&mut [0; 64]), Ok(1..)) {}
    }

    fn listen(&mut self, now: Instant) {
        for at in 0..self.controls.len() {
            let from = self.controls[at].rank;
            while let Some(sign) = self.controls[at].next_sign(now) {
                match sign {
                    Sign::Life => {}
                    Sign::Goodbye => {
                        self.shared.lock().left.push(from);
                        self.shared.changed.notify_all();
                    }
                    Sign::Lost(report) => {
                        self.shared.judge(self.believed(report, now));
                    }
                    Sign::Closed if self.shared.lock().left.contains(&from) => {}
                    Sign::Closed => self.lost(from, Loss::Closed),
                    Sign::Nonsense => self.lost(from, Loss::Nonsense),
                }
            }
        }
    }

    fn lost(&self, rank: usize, why: Loss) {
        self.shared.judge(Verdict::Lost(Report { lost: rank, by: self.rank, why }));
    }

    /// What another rank's report means. Where a network falls apart, ranks report each other; the
    /// side of rank 0 is the one that may go on, so that a rank which no longer hears a rank 0 that
    /// is heard here is the one that is lost.
    fn believed(&self, report: Report, now: Instant) -> Verdict {
        let Report { lost, by, why } = report;
        let cut_off = Verdict::Lost(Report { lost: by, by: self.rank, why: Loss::CutOff });
        let recent = |control: &Control| {
            control.is_open() && now.duration_since(control.heard) < self.pulse.patience / 2
        };
        let hears_first = self.controls.iter().any(|control| control.rank == 0 && recent(control));
        match lost {
            0 if self.rank == 0 => cut_off,
            0 if why == Loss::Silent && hears_first => cut_off,
            _ if lost == self.rank => Verdict::GivenUp { by },
            _ => Verdict::Lost(report),
        }
    }

    fn judge_silence(&self, now: Instant) {
        let silent = |control: &&Control| {
            control.is_open() && now.duration_since(control.heard) > self.pulse.patience
        };
        if let Some(control) = self.controls.iter().find(silent) {
            self.lost(control.rank, Loss::Silent);
        }
    }

    /// Tells the others, then ends what the rank itself may be waiting for.
    fn tell(&mut self, verdict: Verdict) {
        if let Verdict::Lost(report) = verdict {
            self.controls.iter_mut().for_each(|control| control.abort(report));
        }
        for data in &self.shared.data {
            let _ = data.shutdown(Shutdown::Both);
        }
    }
}
