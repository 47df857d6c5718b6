//! The logistic loss of single margins, and its sum.

use crate::exponential::exp_of_nonpositive;
use crate::kernels::kernels;
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

    /// The losses of margins, for 1 where an example is positive and 0 where not.
    pub(crate) fn of(margins: &[f32], truths: &[f32]) -> BatchScore {
        let mut total = BatchScore { examples: margins.len(), ..BatchScore::default() };
        // Up to 512 factors of at most 2 in each of eight products.
        for (margins, truths) in margins.chunks(4096).zip(truths.chunks(4096)) {
            let (mut linear, mut products, mut correct) = ([0.0; 8], [1.0; 8], [0; 8]);
            add_losses(margins, truths, (&mut linear, &mut products), &mut correct);
            total.loss_sum += linear.iter().sum::<f64>();
            total.loss_sum += products.iter().map(|product| product.ln()).sum::<f64>();
            total.correct += correct.iter().sum::<u32>() as usize;
        }
        total
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

kernels! {
    /// Adds the linear parts of losses, and multiplies what logarithms are taken of, into eight
    /// places in turn.
    fn add_losses(
        margins: &[f32],
        truths: &[f32],
        sums: (&mut [f64; 8], &mut [f64; 8]),
        correct: &mut [u32; 8],
    ) {
        let (linear, products) = sums;
        for (margins, truths) in margins.chunks(8).zip(truths.chunks(8)) {
            for (place, (&margin, &truth)) in margins.iter().zip(truths).enumerate() {
                let small = exp_of_nonpositive(-margin.abs());
                let against = if truth > 0.5 { -margin } else { margin };
                linear[place] += f64::from(if against < 0.0 { 0.0 } else { against });
                products[place] *= f64::from(1.0 + small);
                correct[place] += u32::from((margin > 0.0) == (truth > 0.5));
            }
        }
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
            let margins: Vec<f32> = examples.iter().map(|example| example.0).collect();
            let truth = |positive: bool| f32::from(u8::from(positive));
            let truths: Vec<f32> = examples.iter().map(|example| truth(example.1)).collect();
            let (found, together) = (loss.score(), LogLoss::of(&margins, &truths));
            prop_assert!((together.loss_sum - expected).abs() < 1e-6 * (1.0 + expected));
            let counted = |score: BatchScore| (score.correct, score.examples);
            prop_assert_eq!(counted(found), counted(together));
            let run = |compiled: bool| {
                let (mut sums, mut correct) = (([0.5; 8], [1.5; 8]), [0; 8]);
                let into = (&mut sums.0, &mut sums.1);
                match compiled {
                    true => add_losses(&margins, &truths, into, &mut correct),
                    false => portable::add_losses(&margins, &truths, into, &mut correct),
                }
                (sums, correct)
            };
            prop_assert_eq!(run(true), run(false));
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
            assert!(!LogLoss::of(&[0.0, margin], &[1.0, 1.0]).loss_sum.is_finite(), "{margin}");
        }
    }
}
