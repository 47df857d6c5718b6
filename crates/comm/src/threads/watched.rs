//! A state that threads change and wait for.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::spin::Spin;

/// Turns between two looks at the clock.
const TURNS: u32 = 16;

/// A state under a lock, with waits that spin before they sleep.
#[derive(Debug, Default)]
pub(super) struct Watched<T> {
    state: Mutex<T>,
    changed: Condvar,
    /// Threads that sleep, changed and read under the lock: where none does, none is woken, which
    /// would cost a call of the system.
    asleep: AtomicU32,
    /// Grows with each change of the state, for those that spin.
    changes: AtomicU32,
    /// Set for good when a thread that is needed is gone, or the group has come apart.
    closed: AtomicBool,
}

/// How a wait ended without what was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// The state was closed.
    ForNothing,
    /// The limit passed.
    TooLong,
}

/// How to wait: until when, and how long by spinning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience<'a> {
    pub(super) limit: Duration,
    pub(super) spin: &'a Spin,
}

impl<T> Watched<T> {
    pub(super) fn new(state: T) -> Self {
        let state = Mutex::new(state);
        let (asleep, changes) = (AtomicU32::new(0), AtomicU32::new(0));
        Self { state, changed: Condvar::new(), asleep, changes, closed: AtomicBool::new(false) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        // No code of others runs under the lock, so a state is never half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of a changed state and wakes those who wait for it.
    pub(super) fn tell(&self, state: MutexGuard<'_, T>) {
        self.changes.fetch_add(1, Ordering::Release);
        let any_asleep = self.asleep.load(Ordering::Relaxed) > 0;
        drop(state);
        if any_asleep {
            self.changed.notify_all();
        }
    }

    /// Ends every wait here, now and later, for what has not been reached.
    pub(super) fn close(&self) {
        let state = self.lock();
        self.closed.store(true, Ordering::Release);
        self.tell(state);
    }

    /// Waits until the state is as wanted.
    pub(super) fn wait(
        &self,
        patience: Patience<'_>,
        reached: impl Fn(&T) -> bool,
    ) -> Result<MutexGuard<'_, T>, Waited> {
        let mut state = self.spin(patience.spin, &reached);
        let end = Instant::now() + patience.limit;
        while !reached(&state) {
            if self.closed.load(Ordering::Acquire) {
                return Err(Waited::ForNothing);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Waited::TooLong);
            }
            state = self.sleep(state, left);
        }
        Ok(state)
    }

    /// Waits until the state is as wanted, whatever happens to the group meanwhile.
    pub(super) fn wait_regardless(
        &self,
        spin: &Spin,
        reached: impl Fn(&T) -> bool,
    ) -> MutexGuard<'_, T> {
        let mut state = self.spin(spin, &reached);
        while !reached(&state) {
            state = self.sleep(state, Duration::MAX);
        }
        state
    }

    /// Sleeps until a change is told, or nearly so long.
    fn sleep<'a>(&self, state: MutexGuard<'a, T>, most: Duration) -> MutexGuard<'a, T> {
        self.asleep.fetch_add(1, Ordering::Relaxed);
        let waited = self.changed.wait_timeout(state, most);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        self.asleep.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// Spins for a while, or until the state is as wanted.
    fn spin(&self, spin: &Spin, reached: &impl Fn(&T) -> bool) -> MutexGuard<'_, T> {
        let mut state = self.lock();
        if reached(&state) {
            return state;
        }
        let mut looks = spin.looks(Instant::now());
        while looks.again(Instant::now()) && !reached(&state) {
            let seen = self.changes.load(Ordering::Acquire);
            drop(state);
            while looks.again(Instant::now()) && self.changes.load(Ordering::Acquire) == seen {
                (0..TURNS).for_each(|_| std::hint::spin_loop());
            }
            state = self.lock();
        }
        state
    }
}
