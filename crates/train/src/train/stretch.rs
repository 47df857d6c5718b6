//! Steps that are made before the loop looks up again.

use std::time::Duration;

use trainwright_networks::{BatchScore, GradientNorms};

use crate::events::RankLost;
use crate::learners::learner::Look;
use crate::train::pace::Pace;

/// What the schedule says of the steps to come, as far as the epoch goes.
pub(crate) struct Plan<'a> {
    pub(crate) pace: &'a Pace,
    /// The epoch, from 1.
    pub(crate) epoch: u32,
    /// Steps made so far, over all epochs.
    pub(crate) made: u64,
    /// Examples of the epoch that are done with.
    pub(crate) consumed: usize,
    /// Examples that are left of it.
    pub(crate) left: usize,
}

/// The size of one step to come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlannedStep {
    /// Updates over all epochs when it is made.
    pub(crate) step: u64,
    pub(crate) examples: usize,
    pub(crate) rate: f64,
    pub(crate) look: Look,
}

impl Plan<'_> {
    /// The next steps of a batch each, as many as are asked for and the epoch has.
    pub(crate) fn steps(&self, count: usize) -> Vec<PlannedStep> {
        let (mut consumed, mut left) = (self.consumed, self.left);
        let mut steps = Vec::with_capacity(count.min(left));
        while steps.len() < count && left > 0 {
            let size = self.pace.size(self.epoch, consumed);
            let (step, examples) = (self.made + 1 + steps.len() as u64, size.batch.min(left));
            let look = self.pace.look(step, examples);
            steps.push(PlannedStep { step, examples, rate: size.rate, look });
            (consumed, left) = (consumed + examples, left - examples);
        }
        steps
    }

    /// A run of updates of one example each, which are told as one step.
    pub(crate) fn single_examples(&self, most: usize) -> Vec<PlannedStep> {
        let examples = most.min(self.left);
        let rate = self.pace.size(self.epoch, self.consumed).rate;
        let step = self.made + examples as u64;
        vec![PlannedStep { step, examples, rate, look: Look::No }]
    }
}

/// Steps that a learner makes at one go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch<'a> {
    /// Epoch of the steps, from 1.
    pub(crate) epoch: u32,
    /// Examples of the epoch that came before.
    pub(crate) at: usize,
    pub(crate) steps: &'a [PlannedStep],
    /// All examples that are left of the epoch; the steps take them from the front.
    pub(crate) rest: &'a [u32],
}

/// Examples of one step of a stretch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen<'a> {
    /// Epoch of the step, from 1.
    pub(crate) epoch: u32,
    /// Number of the step.
    pub(crate) step: u64,
    /// Those to learn from now.
    pub(crate) now: &'a [u32],
    /// Those that are left of the epoch.
    pub(crate) next: &'a [u32],
}

impl<'a> Stretch<'a> {
    /// The steps with their examples.
    pub(crate) fn each(self) -> impl Iterator<Item = (PlannedStep, Chosen<'a>)> {
        let Self { epoch, steps, mut rest, .. } = self;
        steps.iter().map(move |planned| {
            let (now, next) = rest.split_at(planned.examples);
            rest = next;
            (*planned, Chosen { epoch, step: planned.step, now, next })
        })
    }
}

/// What came of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepResult {
    pub(crate) score: BatchScore,
    pub(crate) norms: Option<GradientNorms>,
}

/// What came of a stretch.
#[derive(Debug)]
pub(crate) struct StretchResult {
    /// Of each step, up to one whose loss is not finite.
    pub(crate) steps: Vec<StepResult>,
    /// How long steps waited for their examples; `None` where they never wait.
    pub(crate) waited: Option<Duration>,
    /// Ranks that were lost meanwhile, without which the stretch was made.
    pub(crate) lost: Vec<RankLost>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::learners::fake::fake_job;

    fn plan(pace: &Pace, made: u64, consumed: usize, left: usize) -> Plan<'_> {
        Plan { pace, epoch: 1, made, consumed, left }
    }

    #[test]
    fn steps_follow_the_schedule_and_end_with_the_epoch() {
        let keys = json!({ "lr": 0.5, "batch": 4, "epochs": 1, "schedule": "cosine" });
        let pace = Pace::new(&fake_job(keys), 10);
        let steps = plan(&pace, 7, 0, 10).steps(8);
        let told: Vec<(u64, usize)> = steps.iter().map(|own| (own.step, own.examples)).collect();
        assert_eq!(told, [(8, 4), (9, 4), (10, 2)]);
        for (planned, consumed) in steps.iter().zip([0, 4, 8]) {
            assert_eq!(planned.rate, pace.size(1, consumed).rate);
        }
        assert_eq!(plan(&pace, 8, 4, 6).steps(1), steps[1..2], "one at a time or many");
        assert_eq!(plan(&pace, 10, 10, 0).steps(3), []);
    }

    #[test]
    fn updates_of_single_examples_are_counted_each() {
        let pace = Pace::new(&fake_job(json!({ "lr": 0.5 })), 100);
        let found = plan(&pace, 5, 20, 80).single_examples(64);
        let expected = PlannedStep { step: 69, examples: 64, rate: 0.5, look: Look::No };
        assert_eq!(found, [expected]);
        assert_eq!(plan(&pace, 69, 84, 16).single_examples(64)[0].examples, 16);
    }

    #[test]
    fn a_stretch_deals_its_examples_to_the_steps_in_order() {
        let steps = [(1, 2), (2, 3)].map(|(step, examples)| PlannedStep {
            step,
            examples,
            rate: 0.1,
            look: Look::No,
        });
        let rest = [9, 8, 7, 6, 5, 4];
        let stretch = Stretch { epoch: 3, at: 0, steps: &steps, rest: &rest };
        let dealt: Vec<(u64, &[u32], &[u32])> =
            stretch.each().map(|(_, own)| (own.step, own.now, own.next)).collect();
        assert_eq!(dealt, [(1, &rest[..2], &rest[2..]), (2, &rest[2..5], &rest[5..])]);
    }
}
