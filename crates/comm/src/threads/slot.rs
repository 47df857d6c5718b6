//! Where one thread lays a message open for another: the only unsafe code of the crate.
//!
//! A message is a list of slices that the publisher has borrowed for the whole time of
//! [`while_published`]. Its address goes through the slot, so the compiler no longer sees the
//! borrow; these rules stand in for it:
//!
//! 1. A slot goes from empty to published to being read and back to empty, always under its lock.
//! 2. Only [`while_published`] publishes, and it does not return, by value, error or panic, before
//!    the slot is empty: it takes back what nobody has begun to read, and waits for a reader that
//!    has begun.
//! 3. A reader sees the slices only inside of [`Slot::read`], whose guard empties the slot when the
//!    reader returns or panics. Readers get shared slices whose lifetime ends with the call.
//!
//! So every slice that is read is one that its owner lends out, unchanged, at that moment. A
//! reader that never returns keeps the publisher waiting; it can not read freed memory.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::transport::Tag;

/// A message from one thread to another, or room for one.
#[derive(Debug, Default)]
pub(super) struct Slot {
    state: Mutex<State>,
    changed: Condvar,
    /// Grows with each change of the state, for those that spin before they sleep.
    changes: AtomicU32,
    /// Set for good when one of the two threads is gone or the group has come apart.
    closed: AtomicBool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    Published(Message),
    Reading,
}

#[derive(Debug, Clone, Copy)]
struct Message {
    tag: Tag,
    parts: *const [&'static [u8]],
}

// SAFETY: the slices are of bytes and shared, so another thread may read them while they live; the
// rules above keep them alive for as long as the message can be reached.
unsafe impl Send for Message {}

/// How a wait ended without what was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// The slot was closed.
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

/// Lays messages open in slots, runs `work`, and returns when each was read or, where `work` or a
/// reader fails, taken back.
///
/// # Errors
/// What `work` gives, or the number of the message that was not read.
pub(super) fn while_published<R, E: From<(usize, Waited)>>(
    messages: &[(&Slot, Tag, &[&[u8]])],
    patience: Patience,
    work: impl FnOnce() -> Result<R, E>,
) -> Result<R, E> {
    let mut published = Published { slots: Vec::with_capacity(messages.len()) };
    for (number, (slot, tag, parts)) in messages.iter().enumerate() {
        let parts = *parts as *const [&[u8]] as *const [&'static [u8]];
        let mut state = slot
            .wait(patience, |state| matches!(state, State::Empty))
            .map_err(|waited| (number, waited))?;
        *state = State::Published(Message { tag: *tag, parts });
        slot.tell(state);
        published.slots.push(slot);
    }
    let given = work()?;
    for (number, slot) in published.slots.iter().enumerate() {
        let read = slot.wait(patience, |state| matches!(state, State::Empty));
        drop(read.map_err(|waited| (number, waited))?);
    }
    Ok(given)
}

/// Empties its slots when it goes, however that comes about.
struct Published<'a> {
    slots: Vec<&'a Slot>,
}

impl Drop for Published<'_> {
    fn drop(&mut self) {
        for slot in &self.slots {
            let mut state = slot.lock();
            while matches!(*state, State::Reading) {
                state = slot.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            *state = State::Empty;
            slot.tell(state);
        }
    }
}

impl Slot {
    /// Waits for a message and lets `look` see its tag and parts.
    pub(super) fn read<R>(
        &self,
        patience: Patience,
        look: impl FnOnce(Tag, &[&[u8]]) -> R,
    ) -> Result<R, Waited> {
        let mut state = self.wait(patience, |state| matches!(state, State::Published(_)))?;
        let State::Published(message) = *state else { unreachable!("the wait was for a message") };
        *state = State::Reading;
        drop(state);
        let _reading = Reading(self);
        // SAFETY: the state is `Reading`, so by rule 2 the publisher stays within the borrow of the
        // parts until the guard empties the slot, which is after `look`.
        let parts = unsafe { &*message.parts };
        Ok(look(message.tag, parts))
    }

    /// Whether a message waits to be read.
    pub(super) fn has_message(&self) -> bool {
        matches!(*self.lock(), State::Published(_))
    }

    /// Ends every wait here; a message that is published can still be read.
    pub(super) fn close(&self) {
        let state = self.lock();
        self.closed.store(true, Ordering::Release);
        self.tell(state);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code of others runs under the lock, so a state is never half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, state: MutexGuard<'_, State>) {
        self.changes.fetch_add(1, Ordering::Release);
        drop(state);
        self.changed.notify_all();
    }

    fn wait(
        &self,
        patience: Patience,
        reached: impl Fn(&State) -> bool,
    ) -> Result<MutexGuard<'_, State>, Waited> {
        let mut state = self.lock();
        for _ in 0..2 {
            if reached(&state) {
                return Ok(state);
            }
            let seen = self.changes.load(Ordering::Acquire);
            drop(state);
            self.spin(patience.spins, seen);
            state = self.lock();
        }
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

    fn spin(&self, spins: u32, seen: u32) {
        for _ in 0..spins {
            if self.changes.load(Ordering::Acquire) != seen {
                return;
            }
            std::hint::spin_loop();
        }
    }
}

/// Empties the slot when a reader is done, or panics.
struct Reading<'a>(&'a Slot);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        *state = State::Empty;
        self.0.tell(state);
    }
}
