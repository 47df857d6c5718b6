//! Stopping when a held-out part gets no better.

use serde::{Deserialize, Serialize};

/// Counts epochs without a lower loss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Patience {
    allowed: u32,
    best: Option<f64>,
    without: u32,
}

impl Patience {
    /// Allows so many epochs in a row without a lower loss.
    pub(crate) fn new(allowed: u32) -> Self {
        Self { allowed, best: None, without: 0 }
    }

    /// Takes in the loss after an epoch; `true` when patience has run out.
    pub(crate) fn runs_out(&mut self, loss: f64) -> bool {
        if self.best.is_none_or(|best| loss < best) {
            (self.best, self.without) = (Some(loss), 0);
        } else {
            self.without += 1;
        }
        self.without >= self.allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_loss_renews_it() {
        let mut patience = Patience::new(2);
        let ends = [3.0, 3.0, 2.0, 2.5, 1.9, 1.9, 2.0].map(|loss| patience.runs_out(loss));
        assert_eq!(ends, [false, false, false, false, false, false, true]);
    }
}
