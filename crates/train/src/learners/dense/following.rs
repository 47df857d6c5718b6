//! What ranks other than the first do: what they are told.

use std::time::Instant;

use super::DenseLearner;
use super::orders::Order;
use crate::error::TrainError;
use crate::events::Activity;
use crate::train::stretch::Stretch;

/// The examples of an epoch in their order.
#[derive(Default)]
struct OfEpoch {
    epoch: u32,
    examples: Vec<u32>,
}

impl DenseLearner<'_> {
    /// Follows the orders of rank 0 until the end; `order` is the order of an epoch's examples.
    ///
    /// # Errors
    /// When an example cannot be read, or another rank is lost.
    pub(crate) fn follow(
        &mut self,
        order: impl Fn(&Self, u32) -> Vec<u32>,
    ) -> Result<(), TrainError> {
        let mut known = OfEpoch::default();
        while self.with_survivors(|own| own.follow_one(&order, &mut known))? {}
        Ok(())
    }

    /// Follows one order; `false` when it was the last.
    fn follow_one(
        &mut self,
        order: &impl Fn(&Self, u32) -> Vec<u32>,
        known: &mut OfEpoch,
    ) -> Result<bool, TrainError> {
        let Self { ranks, account, .. } = self;
        let told = account.timed(Activity::Idle, || ranks.hear())?;
        let start = Instant::now();
        match told {
            Order::TakeOver => {
                self.take_over(None)?;
                self.account.spent(Activity::Communication, start, start.elapsed());
            }
            Order::Stretch { epoch, at, steps } => {
                if known.epoch != epoch {
                    *known = OfEpoch { epoch, examples: order(self, epoch) };
                    self.account.spent(Activity::InputWait, start, start.elapsed());
                }
                let at = at as usize;
                let rest = &known.examples[at..];
                self.stretch_together(Stretch { epoch, at, steps: &steps, rest })?;
            }
            Order::HandIn => {
                self.gathered_memory()?;
                self.account.spent(Activity::Checkpoint, start, start.elapsed());
            }
            Order::Account => drop(self.ranks.account(self.account.told())?),
            Order::End => return Ok(false),
        }
        Ok(true)
    }

    /// Sends the other ranks home.
    ///
    /// # Errors
    /// When one is lost and the job is not elastic.
    pub(crate) fn dismiss(&mut self) -> Result<(), TrainError> {
        match self.ranks.tell(&Order::End) {
            // Nobody is needed any more.
            Err(TrainError::Together(_)) if self.elastic => Ok(()),
            other => other,
        }
    }
}
