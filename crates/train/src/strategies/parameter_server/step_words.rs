//! What leader and workers tell each other of a step.

use trainwright_networks::BatchScore;

/// A step as a worker must know it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StepWords {
    pub(super) epoch: u32,
    /// Number of the step, from 1.
    pub(super) step: u64,
    /// Examples of the epoch that came before.
    pub(super) at: usize,
    pub(super) examples: usize,
    /// Micro-batches.
    pub(super) leaves: usize,
    pub(super) rate: f64,
}

impl StepWords {
    pub(super) fn to_words(self) -> Vec<u32> {
        let numbers = [
            self.epoch.into(),
            self.step,
            self.at as u64,
            self.examples as u64,
            self.leaves as u64,
            self.rate.to_bits(),
        ];
        numbers.into_iter().flat_map(halves).collect()
    }

    pub(super) fn read(words: &[u32]) -> Option<Self> {
        let numbers = wholes(words);
        let [epoch, step, at, examples, leaves, rate] = numbers.as_slice() else { return None };
        Some(Self {
            epoch: u32::try_from(*epoch).ok()?,
            step: *step,
            at: usize::try_from(*at).ok()?,
            examples: usize::try_from(*examples).ok().filter(|count| *count > 0)?,
            leaves: usize::try_from(*leaves).ok().filter(|count| *count > 0)?,
            rate: f64::from_bits(*rate),
        })
    }
}

/// A score as words.
pub(super) fn score_to_words(score: BatchScore) -> Vec<u32> {
    let numbers = [score.loss_sum.to_bits(), score.correct as u64, score.examples as u64];
    numbers.into_iter().flat_map(halves).collect()
}

/// The score that words tell.
pub(super) fn score_of_words(words: &[u32]) -> Option<BatchScore> {
    let numbers = wholes(words);
    let [loss_sum, correct, examples] = numbers.as_slice() else { return None };
    let [correct, examples] = [*correct as usize, *examples as usize];
    Some(BatchScore { loss_sum: f64::from_bits(*loss_sum), correct, examples })
}

fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn wholes(words: &[u32]) -> Vec<u64> {
    words
        .chunks(2)
        .map(|pair| pair.iter().rev().fold(0, |sum, &half| sum << 32 | u64::from(half)))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_words_are_a_step_or_none(words in proptest::collection::vec(any::<u32>(), 0..14)) {
            if let Some(step) = StepWords::read(&words) {
                prop_assert!(step.examples > 0 && step.leaves > 0);
                prop_assert_eq!(step.to_words(), words);
            } else {
                prop_assert!(words.len() != 12 || words[1] != 0 || words[6..8] == [0, 0] || words[8..10] == [0, 0]);
            }
        }
    }

    #[test]
    fn steps_and_scores_arrive_to_the_bit() {
        let step =
            StepWords { epoch: 3, step: u64::MAX, at: 7 << 33, examples: 5, leaves: 2, rate: 0.1 };
        assert_eq!(StepWords::read(&step.to_words()), Some(step));
        assert_eq!(StepWords::read(&step.to_words()[1..]), None);
        let score = BatchScore { loss_sum: 0.1 + 0.2, correct: 3, examples: 9 };
        assert_eq!(score_of_words(&score_to_words(score)), Some(score));
        assert_eq!(score_of_words(&[]), None);
    }
}
