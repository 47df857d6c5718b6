//! A state that threads change and wait for.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A state under a lock, with waits that spin before they sleep.
#[derive(Debug, Default)]
pub(super) struct Watched<T> {
    state: Mutex<T>,
    changed: Condvar,
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
pub(super) struct Patience {
    pub(super) limit: Duration,
    pub(super) spins: u32,
}

impl<T> Watched<T> {
    pub(super) fn new(state: T) -> Self {
        let state = Mutex::new(state);
        let (changes, closed) = (AtomicU32::new(0), AtomicBool::new(false));
        Self { state, changed: Condvar::new(), changes, closed }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        // No code of others runs under the lock, so a state is never half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of a changed state and wakes those who wait for it.
    pub(super) fn tell(&self, state: MutexGuard<'_, T>) {
        self.changes.fetch_add(1, Ordering::Release);
        drop(state);
        self.changed.notify_all();
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
        patience: Patience,
        reached: impl Fn(&T) -> bool,
    ) -> Result<MutexGuard<'_, T>, Waited> {
        let mut state = self.spin(patience.spins, &reached);
        let end = Instant::now() + patience.limit;
        while !reached(&state) {
            if self.closed.load(Ordering::Acquire) {
                return Err(Waited::ForNothing);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Waited::TooLong);
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(state)
    }

    /// Waits until the state is as wanted, whatever happens to the group meanwhile.
    pub(super) fn wait_regardless(
        &self,
        spins: u32,
        reached: impl Fn(&T) -> bool,
    ) -> MutexGuard<'_, T> {
        let mut state = self.spin(spins, &reached);
        while !reached(&state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Spins for a while, or until the state is as wanted.
    fn spin(&self, mut spins: u32, reached: &impl Fn(&T) -> bool) -> MutexGuard<'_, T> {
        loop {
            let state = self.lock();
            if spins == 0 || reached(&state) {
                return state;
            }
            let seen = self.changes.load(Ordering::Acquire);
            drop(state);
            while spins > 0 && self.changes.load(Ordering::Acquire) == seen {
                std::hint::spin_loop();
                spins -= 1;
            }
        }
    }
}
