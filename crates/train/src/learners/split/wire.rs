//! Exchanges of numbers with other ranks, when each took place, and the buffers for them.

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
    /// Buffers to be used again: fresh memory costs more than what is written into it.
    spare: Vec<Vec<f32>>,
}

impl Wire {
    pub(super) fn new(group: Group) -> Self {
        Self { group, moments: Vec::new(), spare: Vec::new() }
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
        let mut values = self.buffer(length);
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
        let mut theirs = self.buffer(length);
        self.trade_into(with, tag, own, &mut theirs)?;
        Ok(theirs)
    }

    /// The same into numbers that are there.
    pub(super) fn trade_into(
        &mut self,
        with: usize,
        tag: u64,
        own: &[f32],
        theirs: &mut [f32],
    ) -> Result<(), CommError> {
        self.timed(|group| group.trade(with, tag, cast_slice(own), cast_slice_mut(theirs)))
    }

    /// A buffer of this length, with any numbers in it.
    pub(super) fn buffer(&mut self, length: usize) -> Vec<f32> {
        let fitting = self.spare.iter().enumerate().filter(|(_, own)| own.capacity() >= length);
        match fitting.min_by_key(|(_, own)| own.capacity()).map(|(at, _)| at) {
            Some(at) => {
                let mut values = self.spare.swap_remove(at);
                values.resize(length, 0.0);
                values
            }
            None => vec![0.0; length],
        }
    }

    /// A buffer with these numbers.
    pub(super) fn copy_of(&mut self, values: &[f32]) -> Vec<f32> {
        let mut copy = self.buffer(values.len());
        copy.copy_from_slice(values);
        copy
    }

    /// Takes a buffer back.
    pub(super) fn give_back(&mut self, values: Vec<f32>) {
        if values.capacity() > 0 {
            self.spare.push(values);
        }
    }

    /// Memory of the buffers that wait, in bytes.
    pub(super) fn spare_bytes(&self) -> usize {
        self.spare.iter().map(Vec::capacity).sum::<usize>() * size_of::<f32>()
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
