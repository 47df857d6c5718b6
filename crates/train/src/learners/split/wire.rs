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

#[cfg(test)]
mod tests {
    use super::*;

    fn wire() -> Wire {
        Wire::new(Group::threads(1).remove(0))
    }

    #[test]
    fn buffers_are_used_again_the_smallest_that_fits_first() {
        let mut wire = wire();
        let (small, large) = (Vec::with_capacity(10), Vec::with_capacity(1000));
        let places = [small.as_ptr(), large.as_ptr()];
        wire.give_back(large);
        wire.give_back(small);
        wire.give_back(Vec::new());
        assert_eq!(wire.spare_bytes(), 4 * 1010);
        let first = wire.buffer(10);
        assert_eq!((first.as_ptr(), first.len()), (places[0], 10));
        let second = wire.buffer(3);
        assert_eq!((second.as_ptr(), second.len()), (places[1], 3), "only the large one is left");
        assert_eq!(wire.buffer(5).len(), 5, "fresh memory where nothing waits");
        assert_eq!(wire.spare_bytes(), 0);
        wire.give_back(first);
        assert_eq!(wire.copy_of(&[1.5, -2.0]), [1.5, -2.0], "of what it held nothing is left");
    }

    #[test]
    fn time_between_exchanges_is_computing() {
        let mut wire = wire();
        let (from, moment) = (Instant::now(), Duration::from_micros(100));
        // Exchanges after one, and after three moments, of a moment each.
        wire.moments = vec![(from + moment, moment), (from + 3 * moment, moment)];
        let mut account = Account::new();
        wire.account_for(from, &mut account);
        assert!((account.times.communication_s - 2e-4).abs() < 1e-12);
        // Two moments between the exchanges, and what has gone by since the last one.
        assert!(account.times.compute_s >= 2e-4 - 1e-12, "{}", account.times.compute_s);
        assert!(wire.moments.is_empty());
    }

    #[test]
    fn numbers_are_sent_received_and_traded() {
        let found: Vec<Vec<f32>> = std::thread::scope(|scope| {
            let rank = |group: Group| {
                let mut wire = Wire::new(group);
                let rank = wire.group.rank();
                let own = [rank as f32, 0.5];
                let theirs = wire.trade(1 - rank, 1, &own, 2).unwrap();
                match rank {
                    0 => wire.send(1, 2, &[7.0, 8.0, 9.0]).unwrap(),
                    _ => assert_eq!(wire.receive(0, 2, 3).unwrap(), [7.0, 8.0, 9.0]),
                }
                assert_eq!(wire.moments.len(), 2, "each exchange is accounted for");
                theirs
            };
            let ranks: Vec<_> = Group::threads(2)
                .into_iter()
                .map(|group| scope.spawn(move || rank(group)))
                .collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        });
        assert_eq!(found, [[1.0, 0.5], [0.0, 0.5]]);
    }
}
