//! The logistic loss of single margins, and its sum.

use crate::exponential::exp_of_nonpositive;
use crate::loss::BatchScore;

/// Losses of examples, added up.
///
/// The loss of margin `m` is `max(-m, 0) + ln(1 + exp(-|m|))` for a positive example, with the
/// sign of `m` turned for others. Products of `1 + exp(-|m|)`, each at most 2, are kept and their
/// logarithm is taken now and then, because a logarithm costs as much as several features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogLoss {
    linear: f64,
    logarithms: f64,
    product: f64,
    correct: usize,
    examples: usize,
}

impl Default for LogLoss {
    fn default() -> Self {
        Self { linear: 0.0, logarithms: 0.0, product: 1.0, correct: 0, examples: 0 }
    }
}

impl LogLoss {
    /// Adds an example and gives the gradient of its loss by the margin, `p - [positive]`.
    #[inline(always)]
    pub(crate) fn add(&mut self, margin: f32, positive: bool) -> f32 {
        let small = exp_of_nonpositive(-margin.abs());
        let against = if positive { -margin } else { margin };
        // Not `max`, which would hide a NaN.
        self.linear += f64::from(if against < 0.0 { 0.0 } else { against });
        self.product *= f64::from(1.0 + small);
        self.examples += 1;
        if self.examples.is_multiple_of(512) {
            self.settle();
        }
        self.correct += usize::from((margin > 0.0) == positive);
        let probability = if margin > 0.0 { 1.0 } else { small } / (1.0 + small);
        probability - f32::from(u8::from(positive))
    }

    /// The sum so far.
    pub(crate) fn score(mut self) -> BatchScore {
        self.settle();
        let loss_sum = self.linear + self.logarithms;
        BatchScore { loss_sum, correct: self.correct, examples: self.examples }
    }

    fn settle(&mut self) {
        self.logarithms += self.product.ln();
        self.product = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_agree_with_the_definition(
            examples in prop::collection::vec((-40.0_f32..40.0, any::<bool>()), 0..1500),
        ) {
            let (mut loss, mut expected) = (LogLoss::default(), 0.0);
            for &(margin, positive) in &examples {
                let gradient = f64::from(loss.add(margin, positive));
                let signed = f64::from(if positive { margin } else { -margin });
                expected += (-signed).exp().ln_1p();
                let probability = 1.0 / (1.0 + f64::from(-margin).exp());
                let expected = probability - f64::from(u8::from(positive));
                prop_assert!((gradient - expected).abs() < 2e-7, "{gradient} {expected}");
            }
            let found = loss.score();
            // Each loss is rounded to single precision where it is small.
            prop_assert!((found.loss_sum - expected).abs() < 1e-6 * (1.0 + expected));
            prop_assert_eq!(found.examples, examples.len());
        }
    }

    #[test]
    fn nan_and_infinity_reach_the_sum() {
        for margin in [f32::NAN, f32::NEG_INFINITY] {
            let mut loss = LogLoss::default();
            loss.add(margin, true);
            assert!(!loss.score().loss_sum.is_finite(), "{margin}");
        }
    }
}
