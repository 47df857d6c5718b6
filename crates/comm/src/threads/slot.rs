//! Where one thread lays a message open for another.
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

use std::time::Duration;

use super::watched::{Patience, Waited, Watched};
use crate::spin::Spin;
use crate::transport::Tag;

/// A message from one thread to another, or room for one.
#[derive(Debug, Default)]
pub(super) struct Slot(Watched<State>);

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

impl State {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }
}

/// Lays messages open in slots, runs `work`, and returns when each was read or, where `work` or a
/// reader fails, taken back.
///
/// # Errors
/// What `work` gives, or the number of the message that was not read.
pub(super) fn while_published<R, E: From<(usize, Waited)>>(
    messages: &[(&Slot, Tag, &[&[u8]])],
    patience: Patience<'_>,
    work: impl FnOnce() -> Result<R, E>,
) -> Result<R, E> {
    let mut published = Published { slots: Vec::with_capacity(messages.len()) };
    for (number, (slot, tag, parts)) in messages.iter().enumerate() {
        #[expect(clippy::unnecessary_cast, reason = "the second cast lengthens the lifetime")]
        let parts = *parts as *const [&[u8]] as *const [&'static [u8]];
        let empty = slot.0.wait(patience, State::is_empty);
        let mut state = empty.map_err(|waited| (number, waited))?;
        *state = State::Published(Message { tag: *tag, parts });
        slot.0.tell(state);
        published.slots.push(slot);
    }
    let given = work()?;
    for (number, slot) in published.slots.iter().enumerate() {
        let read = slot.0.wait(patience, State::is_empty);
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
            let mut state = slot.0.wait_regardless(&Spin::new(Duration::ZERO), |state| {
                !matches!(state, State::Reading)
            });
            *state = State::Empty;
            slot.0.tell(state);
        }
    }
}

impl Slot {
    /// Waits for a message and lets `look` see its tag and parts.
    pub(super) fn read<R>(
        &self,
        patience: Patience<'_>,
        look: impl FnOnce(Tag, &[&[u8]]) -> R,
    ) -> Result<R, Waited> {
        let mut state = self.0.wait(patience, |state| matches!(state, State::Published(_)))?;
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
        matches!(*self.0.lock(), State::Published(_))
    }

    /// Ends every wait here; a message that is published can still be read.
    pub(super) fn close(&self) {
        self.0.close();
    }
}

/// Empties the slot when a reader is done, or panics.
struct Reading<'a>(&'a Slot);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        *state = State::Empty;
        self.0.0.tell(state);
    }
}
