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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use trainwright_study::{Configuration, PlannedTrial, Study};

    use super::*;
    use crate::TrialStart;

    fn order(number: u32, slots: u32) -> TrialOrder {
        let text = "schema = 1\n[study]\nname = \"s\"\n[factors.a]\nlevels = [1, 2]\n[metrics.y]\n";
        let trial = PlannedTrial {
            number,
            row: None,
            replicate: 1,
            seed: 1,
            block: None,
            whole_plot: None,
            configuration: Configuration::new(Vec::new()),
        };
        TrialOrder {
            study: Arc::new(Study::from_text(text).unwrap()),
            trial,
            slots,
            start: TrialStart::Anew,
            variables: Default::default(),
        }
    }

    fn refusal(slots: &Slots<()>, number: u32, wanted: u32) -> String {
        slots.check(&order(number, wanted)).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_taken_says_why() {
        let mut slots = Slots::new(3);
        slots.take(&order(1, 2), ());
        assert_eq!(slots.free(), 1);
        assert_eq!(refusal(&slots, 2, 2), "trial 2 asks for 2 slots while 1 are free");
        assert_eq!(refusal(&slots, 2, 4), "trial 2 asks for 4 slots; it can have 1 to 3");
        assert_eq!(refusal(&slots, 2, 0), "trial 2 asks for 0 slots; it can have 1 to 3");
        assert_eq!(refusal(&slots, 1, 1), "trial 1 was submitted while it was under way");
        assert!(slots.check(&order(2, 1)).is_ok());
        slots.close();
        assert_eq!(
            refusal(&slots, 2, 1),
            "trial 2 was submitted after the engine was told to stop"
        );
    }

    #[test]
    fn a_trial_that_is_not_under_way_frees_nothing() {
        let mut slots = Slots::new(2);
        slots.take(&order(1, 2), ());
        slots.release(9);
        assert_eq!(slots.free(), 0);
        slots.release(1);
        assert_eq!((slots.free(), slots.all_mut().count()), (2, 0));
        assert!(slots.get_mut(1).is_none());
    }

    proptest! {
        /// Whatever is asked for and ends, the slots in use are those of the trials under way.
        #[test]
        fn slots_in_use_are_those_under_way(steps in proptest::collection::vec((0_u32..6, 1_u32..4, any::<bool>()), 1..40)) {
            let mut slots = Slots::new(4);
            let mut under_way: BTreeMap<u32, u32> = BTreeMap::new();
            for (number, wanted, ends) in steps {
                if ends {
                    slots.release(number);
                    under_way.remove(&number);
                } else if slots.check(&order(number, wanted)).is_ok() {
                    slots.take(&order(number, wanted), ());
                    under_way.insert(number, wanted);
                }
                let used: u32 = under_way.values().sum();
                prop_assert!(used <= 4);
                prop_assert_eq!(slots.free(), 4 - used);
            }
        }
    }
}
