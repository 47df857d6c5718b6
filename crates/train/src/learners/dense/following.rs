//! What ranks other than the first do: what they are told.

use super::DenseLearner;
use super::orders::Order;
use crate::error::TrainError;
use crate::train::stretch::Stretch;

impl DenseLearner<'_> {
    /// Follows the orders of rank 0 until the end; `order` is the order of an epoch's examples.
    ///
    /// # Errors
    /// When an example cannot be read, or another rank is lost.
    pub(crate) fn follow(
        &mut self,
        order: impl Fn(&Self, u32) -> Vec<u32>,
    ) -> Result<(), TrainError> {
        let (mut of_epoch, mut examples) = (0, Vec::new());
        loop {
            match self.ranks.hear()? {
                Order::TakeOver => self.take_over(None)?,
                Order::Stretch { epoch, at, steps } => {
                    if of_epoch != epoch {
                        (of_epoch, examples) = (epoch, order(self, epoch));
                    }
                    let at = at as usize;
                    let rest = &examples[at..];
                    self.stretch_together(Stretch { epoch, at, steps: &steps, rest })?;
                }
                Order::HandIn => drop(self.optimizer_memory()?),
                Order::Account => drop(self.ranks.account(self.times)?),
                Order::End => return Ok(()),
            }
        }
    }

    /// Sends the other ranks home.
    ///
    /// # Errors
    /// When one is lost.
    pub(crate) fn dismiss(&mut self) -> Result<(), TrainError> {
        self.ranks.tell(&Order::End)
    }
}
