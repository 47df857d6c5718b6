//! A clock that counts only while it is running.

use std::time::{Duration, Instant};

/// Time added up over stretches of work.
#[derive(Debug, Default)]
pub(crate) struct Stopwatch {
    total: Duration,
}

impl Stopwatch {
    /// Does the work and counts its time.
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.total += start.elapsed();
        result
    }

    /// What has been counted so far.
    pub(crate) fn seconds(&self) -> f64 {
        self.total.as_secs_f64()
    }
}
