//! Where a job stands: all that a checkpoint must know beside the tensors.

use serde::{Deserialize, Serialize};
use trainwright_networks::BatchScore;

use crate::events::{Ended, EpochEnd};
use crate::train::divergence::LossWatch;
use crate::train::early_stopping::Patience;

/// Where a job stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The epoch under way, from 1.
    pub(crate) epoch: u32,
    /// Examples of it that are done with.
    pub(crate) consumed: usize,
    /// Steps over all epochs.
    pub(crate) steps: u64,
    /// Examples over all epochs.
    pub(crate) examples: u64,
    /// Sum of the losses of this epoch's examples.
    pub(crate) loss_sum: f64,
    /// Right answers among this epoch's examples.
    pub(crate) correct: usize,
    /// Training time of earlier epochs.
    pub(crate) earlier_s: f64,
    /// Training time in all.
    pub(crate) training_s: f64,
    /// Time of it in which steps waited for their examples.
    #[serde(default)]
    pub(crate) input_wait_s: Option<f64>,
    /// Evaluation time in all.
    pub(crate) evaluation_s: f64,
    /// Time for checkpoints in all.
    pub(crate) checkpoint_s: f64,
    /// Watches for divergence.
    pub(crate) watch: LossWatch,
    /// Counts epochs without a lower loss, where the job stops early.
    pub(crate) patience: Option<Patience>,
    /// What the pace remembers.
    pub(crate) pace: Option<((f64, f64, u64), usize)>,
    /// The last epoch that was finished.
    pub(crate) last: Option<EpochEnd>,
    /// Why the job ended, if it has.
    pub(crate) ended: Option<Ended>,
}

impl Progress {
    /// Before the first step.
    pub(crate) fn start(patience: Option<Patience>) -> Self {
        Self {
            epoch: 1,
            consumed: 0,
            steps: 0,
            examples: 0,
            loss_sum: 0.0,
            correct: 0,
            earlier_s: 0.0,
            training_s: 0.0,
            input_wait_s: None,
            evaluation_s: 0.0,
            checkpoint_s: 0.0,
            watch: LossWatch::default(),
            patience,
            pace: None,
            last: None,
            ended: None,
        }
    }

    /// Counts the examples of a step.
    pub(crate) fn add(&mut self, score: BatchScore) {
        self.consumed += score.examples;
        self.examples += score.examples as u64;
        self.loss_sum += score.loss_sum;
        self.correct += score.correct;
    }

    /// The score of this epoch so far.
    pub(crate) fn score(&self) -> BatchScore {
        BatchScore { loss_sum: self.loss_sum, correct: self.correct, examples: self.consumed }
    }

    /// Goes on to the next epoch.
    pub(crate) fn next_epoch(&mut self, end: EpochEnd) {
        self.epoch += 1;
        (self.consumed, self.loss_sum, self.correct) = (0, 0.0, 0);
        self.earlier_s = self.training_s;
        self.last = Some(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(loss_sum: f64, correct: usize, examples: usize) -> BatchScore {
        BatchScore { loss_sum, correct, examples }
    }

    fn end() -> EpochEnd {
        serde_json::from_value(serde_json::json!({
            "epoch": 1, "step": 2, "train_loss": 1.5, "train_accuracy": 0.5, "test_loss": 1.0,
            "test_accuracy": 0.5, "seconds": 2.0, "lr": 0.1, "batch": 4,
        }))
        .unwrap()
    }

    #[test]
    fn an_epoch_begins_from_nothing_and_the_whole_goes_on() {
        let mut own = Progress::start(None);
        own.add(score(3.0, 2, 4));
        own.add(score(1.0, 4, 4));
        own.training_s = 2.5;
        let so_far = own.score();
        assert_eq!((so_far.loss_sum, so_far.correct, so_far.examples), (4.0, 6, 8));
        own.next_epoch(end());
        assert_eq!((own.epoch, own.consumed, own.examples), (2, 0, 8));
        assert_eq!((own.loss_sum, own.correct, own.earlier_s), (0.0, 0, 2.5));
        assert_eq!(own.last, Some(end()));
    }

    #[test]
    fn progress_is_read_back_as_it_was_and_of_older_programs_too() {
        let mut own = Progress::start(None);
        own.add(score(0.1 + 0.2, 1, 3));
        own.pace = Some(((1.0 / 3.0, 2.0, 5), 64));
        let mut json = serde_json::to_value(&own).unwrap();
        assert_eq!(serde_json::from_value::<Progress>(json.clone()).unwrap(), own);
        json.as_object_mut().unwrap().remove("input_wait_s");
        assert_eq!(serde_json::from_value::<Progress>(json).unwrap(), own);
    }
}
