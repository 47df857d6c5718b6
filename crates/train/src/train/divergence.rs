//! When a loss is beyond hope.

use serde::{Deserialize, Serialize};

/// How many times the first loss (or 1 nat, if that is more) is beyond hope.
const EXPLODED: f64 = 30.0;

/// Steps in a row that must be beyond it; a single leap may be made good.
const IN_A_ROW: u32 = 20;

/// Watches the losses of steps.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct LossWatch {
    first: Option<f64>,
    beyond: u32,
}

/// Why a job diverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DivergedBy {
    /// A loss was NaN or infinite.
    NotFinite,
    /// The loss stayed above thirty times the first one.
    Exploded,
}

impl LossWatch {
    /// Takes in the mean loss of a step.
    pub(crate) fn step(&mut self, loss: f64) -> Option<DivergedBy> {
        if !loss.is_finite() {
            return Some(DivergedBy::NotFinite);
        }
        self.first.get_or_insert(loss);
        self.beyond = if loss > self.limit() { self.beyond + 1 } else { 0 };
        (self.beyond >= IN_A_ROW).then_some(DivergedBy::Exploded)
    }

    /// Judges the mean loss of an evaluation.
    pub(crate) fn evaluation(&self, loss: f64) -> Option<DivergedBy> {
        if !loss.is_finite() {
            return Some(DivergedBy::NotFinite);
        }
        (loss > self.limit()).then_some(DivergedBy::Exploded)
    }

    fn limit(&self) -> f64 {
        EXPLODED * self.first.map_or(1.0, |first| first.max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaps_are_forgiven_and_a_lasting_explosion_is_not() {
        let mut watch = LossWatch::default();
        assert_eq!(watch.step(2.0), None);
        (0..19).for_each(|_| assert_eq!(watch.step(61.0), None));
        assert_eq!(watch.step(59.0), None);
        (0..19).for_each(|_| assert_eq!(watch.step(61.0), None));
        assert_eq!(watch.step(61.0), Some(DivergedBy::Exploded));
        assert_eq!(watch.evaluation(59.0), None);
        assert_eq!(watch.evaluation(61.0), Some(DivergedBy::Exploded));
    }

    #[test]
    fn a_small_first_loss_does_not_make_a_trap() {
        let mut watch = LossWatch::default();
        watch.step(1e-6);
        assert_eq!(watch.evaluation(29.0), None);
        assert_eq!(watch.step(f64::NAN), Some(DivergedBy::NotFinite));
    }
}
