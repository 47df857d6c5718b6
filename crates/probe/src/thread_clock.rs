//! How long the calling thread had a core, and how long it wanted one.

use std::fs::File;
use std::os::unix::fs::FileExt;

use nix::libc;

use crate::process::parse_run_queue;

/// Reads what the kernel knows of the thread that made it; two system calls a reading.
#[derive(Debug)]
pub struct ThreadClock {
    /// `/proc/thread-self/schedstat`, which stays the file of the thread that opened it.
    run_queue: Option<File>,
}

/// Time of a thread since it began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThreadTime {
    /// With a core.
    pub cpu_s: f64,
    /// Ready, but without a core; absent where the kernel keeps no such account.
    pub run_queue_s: Option<f64>,
}

impl ThreadClock {
    /// The clock of this thread.
    pub fn here() -> Self {
        Self { run_queue: File::open("/proc/thread-self/schedstat").ok() }
    }

    /// The time until now; meant for the thread that made the clock.
    pub fn now(&self) -> ThreadTime {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is valid for the call, and every thread has such a clock.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        let cpu_s = time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9;
        ThreadTime { cpu_s, run_queue_s: self.run_queue_s() }
    }

    fn run_queue_s(&self) -> Option<f64> {
        let mut text = [0; 96];
        let length = self.run_queue.as_ref()?.read_at(&mut text, 0).ok()?;
        let waited = parse_run_queue(std::str::from_utf8(&text[..length]).ok()?)?;
        Some(waited as f64 * 1e-9)
    }
}

impl ThreadTime {
    /// The time since an earlier reading.
    pub fn since(&self, before: &Self) -> Self {
        let run_queue_s = self.run_queue_s.zip(before.run_queue_s).map(|(now, then)| now - then);
        Self { cpu_s: self.cpu_s - before.cpu_s, run_queue_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_a_core_and_time_never_goes_back() {
        let clock = ThreadClock::here();
        let begun = clock.now();
        let mut now = clock.now();
        while now.since(&begun).cpu_s < 0.01 {
            let later = clock.now();
            assert!(later.cpu_s >= now.cpu_s && later.run_queue_s >= now.run_queue_s);
            now = later;
        }
        let spent = now.since(&begun);
        assert!(spent.run_queue_s.is_none_or(|waited| waited >= 0.0), "{spent:?}");
    }

    #[test]
    fn a_thread_that_sleeps_has_no_core_and_wants_none() {
        let (asked, ask) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            let clock = ThreadClock::here();
            let begun = clock.now();
            // Until the other thread has worked for a while.
            let _ = ask.recv();
            clock.now().since(&begun)
        });
        let clock = ThreadClock::here();
        let begun = clock.now();
        while clock.now().since(&begun).cpu_s < 0.1 {}
        drop(asked);
        let slept = other.join().unwrap();
        assert!(slept.cpu_s < 0.05, "{slept:?}");
    }
}
