//! The logistic loss of single margins, and its sum.

use crate::arithmetic::exponential::exp_of_nonpositive;
use crate::arithmetic::kernels::kernels;
use crate::losses::loss::BatchScore;

/// The gradient of an example's loss by its margin: its probability less its truth, which is 1 for
/// a positive example and 0 for others.
#[inline(always)]
pub(crate) fn residual(margin: f32, truth: f32) -> f32 {
    let small = exp_of_nonpositive(-margin.abs());
    // Signs are as good as random to the processor, which would take a branch wrongly now and
    // then: bits choose between `small` and 1.
    let negative = (margin.to_bits().cast_signed() >> 31).cast_unsigned();
    let above = (small.to_bits() & negative) | (1.0_f32.to_bits() & !negative);
    f32::from_bits(above) / (1.0 + small) - truth
}

/// The losses of margins, for 1 where an example is positive and 0 where not.
///
/// The loss of margin `m` is `max(-m, 0) + ln(1 + exp(-|m|))` for a positive example, with the
/// sign of `m` turned for others. The logarithm is taken of products of `1 + exp(-|m|)`, each at
/// most 2, because it costs as much as several features.
pub(crate) fn log_loss(margins: &[f32], truths: &[f32]) -> BatchScore {
    let mut total = BatchScore { examples: margins.len(), ..BatchScore::default() };
    // Up to 64 factors in each of eight products, and up to 512 in all.
    for (margins, truths) in margins.chunks(512).zip(truths.chunks(512)) {
        let (mut linear, mut products, mut correct) = ([0.0; 8], [1.0; 8], [0; 8]);
        add_losses(margins, truths, (&mut linear, &mut products), &mut correct);
        total.loss_sum += linear.iter().sum::<f64>() + products.iter().product::<f64>().ln();
        total.correct += correct.iter().sum::<u32>() as usize;
    }
    total
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
        let mut add = |lane: usize, margin: f32, truth: f32| {
            let small = exp_of_nonpositive(-margin.abs());
            let against = if truth > 0.5 { -margin } else { margin };
            // Not `max`, which would hide a NaN.
            linear[lane] += f64::from(if against < 0.0 { 0.0 } else { against });
            products[lane] *= f64::from(1.0 + small);
            correct[lane] += u32::from((margin > 0.0) == (truth > 0.5));
        };
        let ((eights, rest), (true_eights, true_rest)) =
            (margins.as_chunks::<8>(), truths.as_chunks::<8>());
        for (margins, truths) in eights.iter().zip(true_eights) {
            (0..8).for_each(|lane| add(lane, margins[lane], truths[lane]));
        }
        for (lane, (&margin, &truth)) in rest.iter().zip(true_rest).enumerate() {
            add(lane, margin, truth);
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
            let truth = |positive: bool| f32::from(u8::from(positive));
            let (mut expected, mut correct) = (0.0, 0);
            for &(margin, positive) in &examples {
                let signed = f64::from(if positive { margin } else { -margin });
                expected += (-signed).exp().ln_1p();
                correct += usize::from((margin > 0.0) == positive);
                let probability = 1.0 / (1.0 + f64::from(-margin).exp());
                let gradient = f64::from(residual(margin, truth(positive)));
                let expected = probability - f64::from(truth(positive));
                prop_assert!((gradient - expected).abs() < 2e-7, "{gradient} {expected}");
            }
            let margins: Vec<f32> = examples.iter().map(|example| example.0).collect();
            let truths: Vec<f32> = examples.iter().map(|example| truth(example.1)).collect();
            let found = log_loss(&margins, &truths);
            // Each loss is rounded to single precision where it is small.
            prop_assert!((found.loss_sum - expected).abs() < 1e-6 * (1.0 + expected));
            prop_assert_eq!((found.correct, found.examples), (correct, examples.len()));
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
        }
    }

    #[test]
    fn nan_and_infinity_reach_the_sum() {
        for margin in [f32::NAN, f32::NEG_INFINITY] {
            assert!(!log_loss(&[0.0, margin], &[1.0, 1.0]).loss_sum.is_finite(), "{margin}");
        }
        assert!(residual(f32::NAN, 1.0).is_nan() && residual(-f32::NAN, 0.0).is_nan());
        assert_eq!((residual(f32::INFINITY, 1.0), residual(f32::NEG_INFINITY, 1.0)), (0.0, -1.0));
    }

    #[test]
    fn many_worst_margins_do_not_overflow() {
        let (margins, truths) = ([0.0; 5000], [1.0; 5000]);
        let expected = 5000.0 * std::f64::consts::LN_2;
        assert!((log_loss(&margins, &truths).loss_sum - expected).abs() < 1e-6);
    }
}
