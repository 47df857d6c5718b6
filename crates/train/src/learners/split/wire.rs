//! Exchanges of numbers with other ranks, and when each took place.

use std::time::{Duration, Instant};

use bytemuck::{cast_slice, cast_slice_mut};
use trainwright_comm::{CommError, Group};

use crate::account::Account;
use crate::events::Activity;

/// A rank's way to the others.
pub(super) struct Wire {
    pub(super) group: Group,
    /// Exchanges since the last account: when they began, and how long they took.
    moments: Vec<(Instant, Duration)>,
}

impl Wire {
    pub(super) fn new(group: Group) -> Self {
        Self { group, moments: Vec::new() }
    }

    pub(super) fn send(&mut self, to: usize, tag: u64, values: &[f32]) -> Result<(), CommError> {
        self.timed(|group| group.send(to, tag, cast_slice(values)))
    }

    pub(super) fn receive(
        &mut self,
        from: usize,
        tag: u64,
        length: usize,
    ) -> Result<Vec<f32>, CommError> {
        let mut values = vec![0.0; length];
        self.timed(|group| group.receive(from, tag, cast_slice_mut(&mut values)))?;
        Ok(values)
    }

    /// Sends and receives at once, so that neither waits for the other to listen.
    pub(super) fn trade(
        &mut self,
        with: usize,
        tag: u64,
        own: &[f32],
        length: usize,
    ) -> Result<Vec<f32>, CommError> {
        let mut theirs = vec![0.0; length];
        self.timed(|group| group.trade(with, tag, cast_slice(own), cast_slice_mut(&mut theirs)))?;
        Ok(theirs)
    }

    fn timed<T>(&mut self, talk: impl FnOnce(&mut Group) -> T) -> T {
        let start = Instant::now();
        let result = talk(&mut self.group);
        self.moments.push((start, start.elapsed()));
        result
    }

    /// Counts the time from then until now: exchanges, and computing between them.
    pub(super) fn account_for(&mut self, from: Instant, account: &mut Account) {
        let mut until = from;
        for (start, time) in self.moments.drain(..) {
            account.spent(Activity::Compute, until, start.saturating_duration_since(until));
            account.spent(Activity::Communication, start, time);
            until = start + time;
        }
        account.spent(Activity::Compute, until, until.elapsed());
    }
}
