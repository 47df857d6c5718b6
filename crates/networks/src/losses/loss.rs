//! Softmax with cross-entropy: the score of a batch and the gradients of its logits.

use crate::arithmetic::kernels;

/// How well a batch was classified.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BatchScore {
    /// Cross-entropy in nats, summed over the batch; not finite when training has diverged.
    pub loss_sum: f64,
    /// How many examples have their largest logit at their label.
    pub correct: usize,
    /// How many examples there are.
    pub examples: usize,
}

impl BatchScore {
    /// Adds the score of another batch.
    pub fn add(&mut self, other: BatchScore) {
        self.loss_sum += other.loss_sum;
        self.correct += other.correct;
        self.examples += other.examples;
    }
}

/// What a network's outputs mean and how they are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// One logit a class; softmax with cross-entropy.
    Softmax,
    /// One logit for two classes; the logistic loss.
    Logistic,
}

impl Loss {
    /// How many classes that many logits tell apart.
    pub(crate) fn classes(self, logits: usize) -> usize {
        match self {
            Self::Softmax => logits,
            Self::Logistic => 2,
        }
    }

    /// Scores some examples of a batch; what it leaves of the logits has no meaning.
    pub(crate) fn score(self, logits: &mut [f32], labels: &[u32]) -> BatchScore {
        match self {
            Self::Softmax => softmax(logits, labels, 0.0),
            Self::Logistic => logistic(logits, labels, 0.0),
        }
    }

    /// Scores some examples and turns their logits into gradients of the mean loss over a batch
    /// of `examples`.
    pub(crate) fn learn(
        self,
        logits: &mut [f32],
        labels: &[u32],
        examples: usize,
        smoothing: f32,
    ) -> BatchScore {
        match self {
            Self::Softmax => {
                let score = softmax(logits, labels, smoothing);
                softmax_gradients(logits, labels, examples, smoothing);
                score
            }
            Self::Logistic => {
                let score = logistic(logits, labels, smoothing);
                for (logit, &label) in logits.iter_mut().zip(labels) {
                    let target = smoothed(label, smoothing) as f32;
                    *logit = (probability(*logit) - target) / examples as f32;
                }
                score
            }
        }
    }

    /// Turns logits into probabilities: of each class, or of the second of two.
    pub(crate) fn probabilities(self, logits: &mut [f32], width: usize) {
        match self {
            Self::Softmax => logits.chunks_exact_mut(width).for_each(|row| {
                let highest = row[largest(row)];
                kernels::shifted_exponentials(row, highest);
                let total: f32 = row.iter().sum();
                kernels::scale(row, 1.0 / total);
            }),
            Self::Logistic => logits.iter_mut().for_each(|logit| *logit = probability(*logit)),
        }
    }
}

/// Scores a batch and turns its logits into probabilities.
///
/// A smoothing spreads that share of the label's weight over all classes.
///
/// # Panics
/// When a label is no class.
fn softmax(logits: &mut [f32], labels: &[u32], smoothing: f32) -> BatchScore {
    let classes = logits.len() / labels.len();
    let mut score = BatchScore { examples: labels.len(), ..BatchScore::default() };
    for (row, &label) in logits.chunks_exact_mut(classes).zip(labels) {
        let label = label as usize;
        let winner = largest(row);
        let (highest, at_label) = (f64::from(row[winner]), f64::from(row[label]));
        let mut wanted = at_label;
        if smoothing > 0.0 {
            let mean = row.iter().copied().map(f64::from).sum::<f64>() / classes as f64;
            wanted += f64::from(smoothing) * (mean - at_label);
        }
        kernels::shifted_exponentials(row, highest as f32);
        let total: f32 = row.iter().sum();
        kernels::scale(row, 1.0 / total);
        score.loss_sum += f64::from(total).ln() - (wanted - highest);
        score.correct += usize::from(winner == label);
    }
    score
}

/// Turns probabilities into gradients of the mean loss over a batch of `examples`, of which these
/// may be some: `(p - target) / examples`.
fn softmax_gradients(probabilities: &mut [f32], labels: &[u32], examples: usize, smoothing: f32) {
    let classes = probabilities.len() / labels.len();
    let everywhere = smoothing / classes as f32;
    for (row, &label) in probabilities.chunks_exact_mut(classes).zip(labels) {
        if smoothing > 0.0 {
            row.iter_mut().for_each(|value| *value -= everywhere);
        }
        row[label as usize] -= 1.0 - smoothing;
    }
    kernels::scale(probabilities, 1.0 / examples as f32);
}

/// Scores single logits of the second of two classes: `ln(1 + exp(z)) - target z`.
///
/// # Panics
/// When a label is neither 0 nor 1.
fn logistic(logits: &[f32], labels: &[u32], smoothing: f32) -> BatchScore {
    let mut score = BatchScore { examples: labels.len(), ..BatchScore::default() };
    for (&logit, &label) in logits.iter().zip(labels) {
        assert!(label < 2, "label {label} is neither 0 nor 1");
        let z = f64::from(logit);
        let soft_plus = z.max(0.0) + (-z.abs()).exp().ln_1p();
        score.loss_sum += soft_plus - smoothed(label, smoothing) * z;
        score.correct += usize::from((logit > 0.0) == (label == 1));
    }
    score
}

/// The target of a label of two classes, half of the smoothing away from it.
fn smoothed(label: u32, smoothing: f32) -> f64 {
    let smoothing = f64::from(smoothing);
    f64::from(label) * (1.0 - smoothing) + 0.5 * smoothing
}

/// The logistic function, without overflow at either end.
fn probability(logit: f32) -> f32 {
    let tail = (-logit.abs()).exp();
    if logit >= 0.0 { 1.0 / (1.0 + tail) } else { tail / (1.0 + tail) }
}

/// Place of the first largest value; a NaN anywhere is taken, so that it reaches the loss.
fn largest(row: &[f32]) -> usize {
    let mut place = 0;
    for (index, value) in row.iter().enumerate() {
        if value.is_nan() {
            return index;
        }
        if *value > row[place] {
            place = index;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::initial_weights::test_values as values;

    #[test]
    fn equal_logits_give_equal_probabilities() {
        let mut logits = [5.0; 4];
        let score = softmax(&mut logits, &[2], 0.0);
        assert_eq!(logits, [0.25; 4]);
        assert_eq!(score.loss_sum, 4.0_f64.ln());
        softmax_gradients(&mut logits, &[2], 1, 0.0);
        assert_eq!(logits, [0.25, 0.25, -0.75, 0.25]);
    }

    #[test]
    fn large_logits_do_not_overflow() {
        let mut logits = [1000.0, 0.0, -1000.0, 0.0];
        let score = softmax(&mut logits, &[0, 0], 0.0);
        assert_eq!(logits, [1.0, 0.0, 0.0, 1.0]);
        assert_eq!((score.loss_sum, score.correct, score.examples), (1000.0, 1, 2));
    }

    #[test]
    fn a_nan_or_infinite_logit_makes_the_loss_not_finite() {
        for bad in [f32::NAN, f32::INFINITY] {
            for place in 0..3 {
                let mut logits = [0.0, 1.0, 2.0];
                logits[place] = bad;
                assert!(!softmax(&mut logits, &[1], 0.0).loss_sum.is_finite(), "{bad} at {place}");
            }
        }
    }

    /// Loss of one example from the definition, with its target spread over the classes.
    fn by_hand(logits: &[f64], label: usize, smoothing: f64) -> f64 {
        let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
        let classes = logits.len() as f64;
        let each = logits.iter().enumerate().map(|(class, logit)| {
            let target = if class == label { 1.0 - smoothing } else { 0.0 } + smoothing / classes;
            -target * (logit - total.ln())
        });
        each.sum()
    }

    #[test]
    fn smoothed_losses_and_gradients_follow_the_definition() {
        for smoothing in [0.0_f32, 0.1, 0.3] {
            let logits = [0.3_f32, -1.2, 2.0];
            let wide = logits.map(f64::from);
            let mut found = logits;
            let score = Loss::Softmax.learn(&mut found, &[1], 1, smoothing);
            let smoothing = f64::from(smoothing);
            assert!((score.loss_sum - by_hand(&wide, 1, smoothing)).abs() < 1e-6);
            for (place, found) in found.into_iter().enumerate() {
                let at = |change: f64| {
                    let mut changed = wide;
                    changed[place] += change;
                    by_hand(&changed, 1, smoothing)
                };
                let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((f64::from(found) - expected).abs() < 1e-6, "{found} {expected}");
            }
        }
    }

    #[test]
    fn one_logit_is_the_difference_of_two() {
        for (label, logit) in [(0, 1.5_f32), (1, 1.5), (1, -20.0), (0, 90.0)] {
            let (mut one, mut two) = ([logit], [0.0, logit]);
            let single = Loss::Logistic.learn(&mut one, &[label], 1, 0.2);
            let pair = Loss::Softmax.learn(&mut two, &[label], 1, 0.2);
            assert!((single.loss_sum - pair.loss_sum).abs() < 1e-5 * (1.0 + pair.loss_sum));
            assert_eq!(single.correct, pair.correct);
            assert!((one[0] - two[1]).abs() < 1e-6);
        }
    }

    /// Random logits, and labels of which there are two where one logit tells two classes.
    fn batch(classes: usize, examples: usize, seed: u64) -> (Vec<f32>, Vec<u32>) {
        let logits = values(classes * examples, seed).iter().map(|value| 8.0 * value).collect();
        let label = |it: u64| ((it * 7 + seed % 97) % classes.max(2) as u64) as u32;
        (logits, (0..examples as u64).map(label).collect())
    }

    /// Learns from half of a batch of twice as many, and compares with the definition.
    fn check(classes: usize, examples: usize, seed: u64, smoothing: f32) {
        let (logits, labels) = batch(classes, examples, seed);
        let mut learned = logits.clone();
        let found = Loss::Softmax.learn(&mut learned, &labels, 2 * examples, smoothing);
        let (mut loss, mut correct, smoothing) = (0.0, 0, f64::from(smoothing));
        let rows = logits.chunks(classes).zip(learned.chunks(classes)).zip(&labels);
        for ((row, gradients), &label) in rows {
            let label = label as usize;
            let wide: Vec<f64> = row.iter().copied().map(f64::from).collect();
            loss += by_hand(&wide, label, smoothing);
            correct += usize::from(row.iter().all(|&logit| logit <= row[label]));
            let total: f64 = wide.iter().map(|logit| logit.exp()).sum();
            for (class, (logit, &gradient)) in wide.iter().zip(gradients).enumerate() {
                let own = if class == label { 1.0 - smoothing } else { 0.0 };
                let target = own + smoothing / classes as f64;
                let expected = (logit.exp() / total - target) / (2 * examples) as f64;
                assert!((f64::from(gradient) - expected).abs() < 1e-6, "{gradient} {expected}");
            }
        }
        assert!((found.loss_sum - loss).abs() < 1e-5 * (1.0 + loss));
        assert_eq!((found.correct, found.examples), (correct, examples));
    }

    proptest! {
        #[test]
        fn a_batch_is_scored_example_by_example(
            (classes, examples) in (2..9_usize, 1..20_usize), seed: u64, smoothing in 0.0_f32..0.5,
        ) {
            check(classes, examples, seed, smoothing);
        }

        #[test]
        fn scoring_is_learning_without_smoothing(
            (classes, examples) in (2..6_usize, 1..9_usize), seed: u64,
        ) {
            for (loss, classes) in [(Loss::Softmax, classes), (Loss::Logistic, 1)] {
                let (logits, labels) = batch(classes, examples, seed);
                let learned = loss.learn(&mut logits.clone(), &labels, examples, 0.0);
                prop_assert_eq!(loss.score(&mut logits.clone(), &labels), learned);
            }
        }

        #[test]
        fn probabilities_are_those_of_the_definition(
            (classes, examples) in (1..7_usize, 1..9_usize), seed: u64,
        ) {
            let (logits, _) = batch(classes, examples, seed);
            let [mut shares, mut single] = [logits.clone(), logits.clone()];
            Loss::Softmax.probabilities(&mut shares, classes);
            Loss::Logistic.probabilities(&mut single, 1);
            for (at, &logit) in logits.iter().enumerate() {
                let row = &logits[at / classes * classes..][..classes];
                let total: f64 = row.iter().map(|&it| f64::from(it).exp()).sum();
                let share = f64::from(logit).exp() / total;
                prop_assert!((f64::from(shares[at]) - share).abs() < 1e-6);
                let alone = 1.0 / (1.0 + f64::from(-logit).exp());
                prop_assert!((f64::from(single[at]) - alone).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn of_equal_logits_the_first_wins_and_a_nan_before_all() {
        assert_eq!(largest(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(largest(&[f32::NEG_INFINITY; 2]), 0);
        assert_eq!(largest(&[1.0, f32::NAN, 3.0]), 1);
        assert_eq!((probability(-200.0), probability(200.0), probability(0.0)), (0.0, 1.0, 0.5));
    }

    #[test]
    #[should_panic(expected = "label 2 is neither 0 nor 1")]
    fn one_logit_tells_no_third_class() {
        Loss::Logistic.score(&mut [0.0], &[2]);
    }
}
