//! Whether a server is at work, moment by moment.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Counts the time in which at least one thread of a server works: time that threads spend side by
/// side is counted once, so that work and idleness make up the whole.
#[derive(Debug)]
pub(super) struct Desk {
    opened: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Threads at work.
    at_work: usize,
    /// The moment that is counted up to.
    since: Instant,
    busy: Duration,
}

/// A thread at work, for as long as it lives.
#[derive(Debug)]
pub(super) struct AtWork<'a>(&'a Desk);

impl Desk {
    /// Nobody works yet.
    pub(super) fn open() -> Self {
        let opened = Instant::now();
        let state = State { at_work: 0, since: opened, busy: Duration::ZERO };
        Self { opened, state: Mutex::new(state) }
    }

    /// A thread begins to work.
    pub(super) fn work(&self) -> AtWork<'_> {
        self.go_on();
        AtWork(self)
    }

    /// A thread that works has to wait.
    pub(super) fn rest(&self) {
        self.change(Instant::now(), |at_work| at_work - 1);
    }

    /// It goes on.
    pub(super) fn go_on(&self) {
        self.change(Instant::now(), |at_work| at_work + 1);
    }

    /// Time since the beginning, and how much of it was idle.
    pub(super) fn until_now(&self) -> [Duration; 2] {
        self.until(Instant::now())
    }

    fn until(&self, now: Instant) -> [Duration; 2] {
        self.change(now, |at_work| at_work);
        let wall = now.saturating_duration_since(self.opened);
        [wall, wall.saturating_sub(self.lock().busy)]
    }

    fn change(&self, now: Instant, to: impl FnOnce(usize) -> usize) {
        let mut state = self.lock();
        if state.at_work > 0 {
            let since = state.since;
            state.busy += now.saturating_duration_since(since);
        }
        // Threads may come to the lock in another order than to the clock.
        state.since = state.since.max(now);
        state.at_work = to(state.at_work);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_threads_work_side_by_side_counts_once() {
        let desk = Desk::open();
        let at = |seconds: u64| desk.opened + Duration::from_secs(seconds);
        let more = |at_work| at_work + 1;
        let less = |at_work| at_work - 1;
        desk.change(at(1), more);
        desk.change(at(2), more);
        desk.change(at(4), less);
        desk.change(at(6), less);
        desk.change(at(8), more);
        let [wall, idle] = desk.until(at(10));
        assert_eq!((wall, idle), (Duration::from_secs(10), Duration::from_secs(3)));
    }

    #[test]
    fn a_moment_from_before_the_last_one_counts_nothing() {
        let desk = Desk::open();
        let at = |seconds: u64| desk.opened + Duration::from_secs(seconds);
        desk.change(at(5), |at_work| at_work + 1);
        desk.change(at(4), |at_work| at_work + 1);
        assert_eq!(desk.until(at(7)), [Duration::from_secs(7), Duration::from_secs(5)]);
    }

    #[test]
    fn a_guard_that_is_gone_works_no_more() {
        let desk = Desk::open();
        drop((desk.work(), desk.work()));
        assert_eq!(desk.lock().at_work, 0);
    }
}
