//! Processes as the kernel sees them: waiting, signals, reaping. All that is Linux-only is here, in
//! `family.rs`, `note.rs` and `start.rs`.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use trainwright_probe::{ProcessStat, process_stat};

/// A process that can be waited for with a time limit.
#[derive(Debug)]
pub(crate) struct Process {
    pid: u32,
    handle: OwnedFd,
}

/// How a process ended and what the kernel counted for it and the children it reaped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reaped {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
    pub(crate) peak_memory_bytes: u64,
    pub(crate) disk_read_bytes: u64,
    pub(crate) disk_write_bytes: u64,
    pub(crate) major_faults: u64,
}

impl Process {
    /// A handle on a process that cannot have been reaped yet, or is not ours to reap.
    pub(crate) fn open(pid: u32) -> io::Result<Self> {
        let id = raw(pid);
        // SAFETY: pidfd_open takes two integers and returns a new descriptor or an error.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, id, 0) };
        let fd = i32::try_from(Errno::result(fd)?).expect("a descriptor fits an i32");
        // SAFETY: the kernel has just given us this descriptor, and nothing else owns it.
        Ok(Self { pid, handle: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until the process has ended, another descriptor stirs, or the time is over.
    ///
    /// Gives whether the process has ended.
    pub(crate) fn wait(&self, other: BorrowedFd<'_>, limit: Option<Duration>) -> bool {
        self.wait_with(&mut [self.to_poll(), PollFd::new(other, PollFlags::POLLIN)], limit)
    }

    /// Waits until the process has ended or the time is over.
    pub(super) fn wait_alone(&self, limit: Duration) {
        self.wait_with(&mut [self.to_poll()], Some(limit));
    }

    fn to_poll(&self) -> PollFd<'_> {
        PollFd::new(self.handle.as_fd(), PollFlags::POLLIN)
    }

    fn wait_with(&self, descriptors: &mut [PollFd<'_>], limit: Option<Duration>) -> bool {
        match poll(descriptors, timeout(limit)) {
            Ok(_) => descriptors[0].any().unwrap_or(false),
            Err(Errno::EINTR) => false,
            Err(error) => panic!("poll on descriptors that we own failed: {error}"),
        }
    }

    /// Sends a signal to the process group that the process leads.
    ///
    /// The process must not be reaped yet, so that its number is still its own.
    pub(crate) fn signal_group(&self, signal: Signal) {
        // The group may be gone already, and a set-user-id member may be out of reach.
        if let Err(error) = killpg(Pid::from_raw(raw(self.pid)), signal)
            && error != Errno::ESRCH
        {
            tracing::warn!(pid = self.pid, %signal, %error, "cannot signal the process group");
        }
    }

    /// Kills a process that was seen, unless it is gone; gives a handle to wait for its end with.
    pub(super) fn kill(seen: &ProcessStat) -> Option<Self> {
        let process = Self::open(seen.pid).ok()?;
        // The handle is that of whoever has the number now.
        let now = process_stat(seen.pid)?;
        if now.start_ticks != seen.start_ticks {
            return None;
        }
        let nothing = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: the descriptor is ours, and a null pointer stands for the usual information.
        let sent = unsafe {
            let handle = process.handle.as_raw_fd();
            libc::syscall(libc::SYS_pidfd_send_signal, handle, libc::SIGKILL, nothing, 0)
        };
        if let Err(error) = Errno::result(sent) {
            tracing::debug!(pid = seen.pid, %error, "process not killed");
        }
        Some(process)
    }

    /// Takes the account of a process that has ended.
    pub(crate) fn reap(&self) -> io::Result<Reaped> {
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        loop {
            // SAFETY: both pointers are valid for the whole call, and all-zero is a valid rusage.
            let done = unsafe { libc::wait4(raw(self.pid), &mut status, 0, usage.as_mut_ptr()) };
            match Errno::result(done) {
                Ok(_) => break,
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // SAFETY: wait4 has filled it.
        let usage = unsafe { usage.assume_init() };
        Ok(Reaped {
            exit_code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
            peak_memory_bytes: count(usage.ru_maxrss) * 1024,
            // The kernel counts storage in blocks of 512 bytes, whatever the device does.
            disk_read_bytes: count(usage.ru_inblock) * 512,
            disk_write_bytes: count(usage.ru_oublock) * 512,
            major_faults: count(usage.ru_majflt),
        })
    }
}

/// Makes this process the parent of orphans among its descendants, and lets it wait for children.
///
/// A program that was started with SIGCHLD ignored, as some shells and schedulers do, would lose
/// the exit of every child.
pub(super) fn take_in_orphans() {
    // SAFETY: sigaction with a null pointer changes nothing; all-zero is a valid sigaction.
    let ignored = unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGCHLD, std::ptr::null(), &mut now);
        now.sa_sigaction == libc::SIG_IGN || now.sa_flags & libc::SA_NOCLDWAIT != 0
    };
    if ignored {
        // SAFETY: the default action runs no code of ours.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
    // SAFETY: this option takes integers only.
    let done = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong, 0, 0, 0) };
    if let Err(error) = Errno::result(done) {
        tracing::warn!(%error, "processes that leave their trial cannot be ended");
    }
}

/// Ends a child that cannot be watched.
pub(super) fn kill_and_reap(pid: u32) {
    let child = Pid::from_raw(raw(pid));
    if let Err(error) = kill(child, Signal::SIGKILL).and_then(|()| waitpid(child, None)) {
        tracing::debug!(pid, %error, "child not reaped");
    }
}

/// Takes away a child that has died and that nobody waits for.
pub(super) fn reap_quietly(pid: u32) {
    if let Err(error) = waitpid(Pid::from_raw(raw(pid)), Some(WaitPidFlag::WNOHANG)) {
        tracing::debug!(pid, %error, "orphan not reaped");
    }
}

/// Rounded up, so that a deadline has passed when the wait for it ends.
fn timeout(limit: Option<Duration>) -> PollTimeout {
    let Some(limit) = limit else { return PollTimeout::NONE };
    let milliseconds = limit.as_nanos().div_ceil(1_000_000);
    PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX)
}

fn raw(pid: u32) -> i32 {
    i32::try_from(pid).expect("the kernel's process numbers fit an i32")
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 * 1e-6
}

fn count(value: libc::c_long) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
