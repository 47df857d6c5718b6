//! Softmax with cross-entropy: the score of a batch and the gradients of its logits.

use crate::kernels;

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

/// Scores a batch and turns its logits into probabilities.
///
/// # Panics
/// When a label is not below `classes`.
pub(crate) fn softmax(logits: &mut [f32], labels: &[u32], classes: usize) -> BatchScore {
    let mut score = BatchScore { examples: labels.len(), ..BatchScore::default() };
    for (row, &label) in logits.chunks_exact_mut(classes).zip(labels) {
        let label = label as usize;
        let winner = largest(row);
        let (highest, at_label) = (row[winner], row[label]);
        kernels::shifted_exponentials(row, highest);
        let total: f32 = row.iter().sum();
        kernels::scale(row, 1.0 / total);
        score.loss_sum += f64::from(total).ln() - (f64::from(at_label) - f64::from(highest));
        score.correct += usize::from(winner == label);
    }
    score
}

/// Turns probabilities into gradients of the mean loss over a batch of `examples`, of which these
/// may be some: `(p - [label]) / examples`.
pub(crate) fn softmax_gradients(
    probabilities: &mut [f32],
    labels: &[u32],
    classes: usize,
    examples: usize,
) {
    for (row, &label) in probabilities.chunks_exact_mut(classes).zip(labels) {
        row[label as usize] -= 1.0;
    }
    kernels::scale(probabilities, 1.0 / examples as f32);
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
    use super::*;

    #[test]
    fn equal_logits_give_equal_probabilities() {
        let mut logits = [5.0; 4];
        let score = softmax(&mut logits, &[2], 4);
        assert_eq!(logits, [0.25; 4]);
        assert_eq!(score.loss_sum, 4.0_f64.ln());
        softmax_gradients(&mut logits, &[2], 4, 1);
        assert_eq!(logits, [0.25, 0.25, -0.75, 0.25]);
    }

    #[test]
    fn large_logits_do_not_overflow() {
        let mut logits = [1000.0, 0.0, -1000.0, 0.0];
        let score = softmax(&mut logits, &[0, 0], 2);
        assert_eq!(logits, [1.0, 0.0, 0.0, 1.0]);
        assert_eq!((score.loss_sum, score.correct, score.examples), (1000.0, 1, 2));
    }

    #[test]
    fn a_nan_or_infinite_logit_makes_the_loss_not_finite() {
        for bad in [f32::NAN, f32::INFINITY] {
            for place in 0..3 {
                let mut logits = [0.0, 1.0, 2.0];
                logits[place] = bad;
                assert!(!softmax(&mut logits, &[1], 3).loss_sum.is_finite(), "{bad} at {place}");
            }
        }
    }
}
