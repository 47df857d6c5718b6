//! Where and when a job is kept.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where and when a job is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointOptions {
    /// Folder of the checkpoints; made where it is missing.
    pub folder: PathBuf,
    /// When.
    pub every: CheckpointEvery,
    /// What to do with checkpoints that are there.
    pub start: CheckpointStart,
}

/// When a job is kept, beside its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckpointEvery {
    /// After so many steps.
    Steps(u64),
    /// After so many epochs.
    Epochs(u32),
}

/// What to do with checkpoints that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckpointStart {
    /// Refuse them: this is a new job.
    Fresh,
    /// Go on from the last that is not damaged; without any, begin.
    Resume,
}

impl CheckpointEvery {
    /// Whether a checkpoint is due after this step, which made so many updates.
    pub(crate) fn is_due_after_step(self, steps: u64, made: u64) -> bool {
        match self {
            Self::Steps(every) => steps / every != (steps - made) / every,
            Self::Epochs(_) => false,
        }
    }

    /// Whether a checkpoint is due after this epoch.
    pub(crate) fn is_due_after_epoch(self, epoch: u32) -> bool {
        match self {
            Self::Steps(_) => false,
            Self::Epochs(every) => epoch.is_multiple_of(every),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However many updates a step makes, no multiple goes by without a checkpoint.
        #[test]
        fn a_checkpoint_is_due_where_counting_by_hand_finds_a_multiple(
            before in 0_u64..500, made in 1_u64..60, every in 1_u64..50,
        ) {
            let steps = before + made;
            let passed = (before + 1..=steps).any(|step| step % every == 0);
            prop_assert_eq!(CheckpointEvery::Steps(every).is_due_after_step(steps, made), passed);
        }
    }

    #[test]
    fn steps_are_due_when_a_multiple_is_reached_or_passed() {
        let due = |steps, made| CheckpointEvery::Steps(10).is_due_after_step(steps, made);
        let single: Vec<u64> = (1..=30).filter(|&steps| due(steps, 1)).collect();
        assert_eq!(single, [10, 20, 30]);
        // Steps of an asynchronous training make many updates at once.
        assert!(due(23, 4) && due(25, 25) && !due(29, 9));
        assert!(!(1..=30).any(|epoch| CheckpointEvery::Steps(1).is_due_after_epoch(epoch)));
    }

    #[test]
    fn epochs_are_due_by_their_number() {
        let every = CheckpointEvery::Epochs(3);
        let due: Vec<u32> = (1..=9).filter(|&epoch| every.is_due_after_epoch(epoch)).collect();
        assert_eq!(due, [3, 6, 9]);
        assert!(!(1..=30).any(|steps| every.is_due_after_step(steps, 1)));
    }
}
