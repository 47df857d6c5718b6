//! Which trials are under way and how many slots they take: the same for every engine.

use std::collections::BTreeMap;

use crate::{EngineError, TrialOrder};

/// The slots of an engine, and what it keeps of each trial under way.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    total: u32,
    under_way: BTreeMap<u32, (u32, T)>,
    closed: bool,
}

impl<T> Slots<T> {
    pub(crate) fn new(total: u32) -> Self {
        Self { total, under_way: BTreeMap::new(), closed: false }
    }

    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    pub(crate) fn free(&self) -> u32 {
        self.total - self.under_way.values().map(|(slots, _)| slots).sum::<u32>()
    }

    /// Whether an order can be taken now.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn check(&self, order: &TrialOrder) -> Result<(), EngineError> {
        let TrialOrder { trial, slots: wanted, .. } = order;
        let (trial, wanted) = (trial.number, *wanted);
        if self.closed {
            return Err(EngineError::Stopping { trial });
        }
        if !(1..=self.total).contains(&wanted) {
            return Err(EngineError::ImpossibleSlots { trial, wanted, slots: self.total });
        }
        if self.under_way.contains_key(&trial) {
            return Err(EngineError::UnderWay { trial });
        }
        if wanted > self.free() {
            return Err(EngineError::NoFreeSlot { trial, wanted, free: self.free() });
        }
        Ok(())
    }

    /// Notes a trial that has passed the check.
    pub(crate) fn take(&mut self, order: &TrialOrder, kept: T) {
        self.under_way.insert(order.trial.number, (order.slots, kept));
    }

    /// Frees the slots of a trial whose end has been taken.
    pub(crate) fn release(&mut self, trial: u32) {
        self.under_way.remove(&trial);
    }

    /// No more orders are taken.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    pub(crate) fn get_mut(&mut self, trial: u32) -> Option<&mut T> {
        self.under_way.get_mut(&trial).map(|(_, kept)| kept)
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.under_way.values_mut().map(|(_, kept)| kept)
    }
}
