//! Which trials ran at the same time, so that machine-wide figures are not blamed on one of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counts the trials of an engine that are under way.
#[derive(Debug, Default)]
pub(crate) struct Overlap(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    running: usize,
    starts: u64,
}

/// One trial under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct Presence<'a> {
    overlap: &'a Overlap,
    began_alone: bool,
    start: u64,
}

impl Overlap {
    pub(crate) fn enter(&self) -> Presence<'_> {
        let mut counts = self.counts();
        let began_alone = counts.running == 0;
        counts.running += 1;
        counts.starts += 1;
        Presence { overlap: self, began_alone, start: counts.starts }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // The counts are right after every step, so a panic elsewhere leaves them usable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Presence<'_> {
    /// Whether no other trial was under way at any time since this one entered.
    pub(crate) fn was_alone(&self) -> bool {
        self.began_alone && self.overlap.counts().starts == self.start
    }
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        self.overlap.counts().running -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_knows_about_every_other_one() {
        let overlap = Overlap::default();
        let first = overlap.enter();
        assert!(first.was_alone());
        let second = overlap.enter();
        assert!(!first.was_alone() && !second.was_alone());
        drop(second);
        assert!(!first.was_alone(), "the other one has left, but it was there");
        drop(first);
        assert!(overlap.enter().was_alone());
    }
}
