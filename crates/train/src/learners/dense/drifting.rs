//! Local SGD: ranks make steps of their own for a while, then their parameters are averaged.
//!
//! A rank learns from its share of each batch, with the mean over that share. At the end of a
//! stretch parameters, the optimiser's vectors (momentum too) and the network's state are averaged,
//! each rank's weighted by its examples. With one plain step a stretch that is the step of all
//! ranks together, but for rounding. Where there is momentum on the outer step, the average is the
//! end of a step from where the stretch began, which the next ones go on in (Chen and Huo 2016;
//! Wang et al. 2020, "SlowMo").

use trainwright_networks::BatchScore;
use trainwright_study::JobSpec;

use super::DenseLearner;
use super::exchange::Exchange;
use super::steps::own_sum;
use crate::error::TrainError;
use crate::events::Activity;
use crate::learners::learner::Look;
use crate::train::stretch::{PlannedStep, StepResult, Stretch};

/// How ranks drift apart and meet.
pub(super) struct Drift {
    /// Steps between two averages.
    pub(super) every: usize,
    pub(super) outer: Option<Outer>,
}

/// Momentum of the averages.
pub(super) struct Outer {
    momentum: f32,
    pub(super) velocity: Vec<f32>,
    /// Parameters at the beginning of the stretch.
    start: Vec<f32>,
}

impl Drift {
    pub(super) fn new(job: &JobSpec, parameters: usize) -> Self {
        let outer = (job.outer_momentum > 0.0).then(|| Outer {
            momentum: job.outer_momentum as f32,
            velocity: vec![0.0; parameters],
            start: vec![0.0; parameters],
        });
        Self { every: job.sync_every as usize, outer }
    }
}

impl Outer {
    /// Moves from where the stretch began, by the way to the average and what is left of earlier
    /// ways.
    fn step(&mut self, average: &mut [f32]) {
        let Self { momentum, velocity, start } = self;
        for ((value, velocity), start) in average.iter_mut().zip(velocity).zip(start) {
            *velocity = *momentum * *velocity + (*value - *start);
            *value = *start + *velocity;
        }
    }
}

impl DenseLearner<'_> {
    /// This rank's steps of a stretch, and the average at its end.
    pub(super) fn stretch_apart(
        &mut self,
        stretch: Stretch<'_>,
    ) -> Result<Vec<StepResult>, TrainError> {
        let Self { exchange, parameters, account, .. } = self;
        if let Exchange::Drifting(Drift { outer: Some(outer), .. }) = exchange {
            account.timed(Activity::Update, || outer.start.copy_from_slice(parameters));
        }
        let mut own = Vec::with_capacity(stretch.steps.len());
        for (planned, chosen) in stretch.each() {
            let told = self.learn(planned, chosen)?;
            let mut score = BatchScore::default();
            told.iter().for_each(|part| score.add(part.score));
            own.push(score);
            if !score.loss_sum.is_finite() {
                // The others go on until they hear of it.
                own.resize(stretch.steps.len(), BatchScore { loss_sum: f64::NAN, ..score });
                break;
            }
            if score.examples > 0 {
                self.step_apart(planned, chosen.now.len());
            }
            self.fold(&told);
        }
        let Self { ranks, account, .. } = self;
        let all = account.timed(Activity::BarrierWait, || ranks.gather_scores(&own))?;
        let steps = together(&all);
        if steps.iter().all(|step| step.score.loss_sum.is_finite()) {
            self.average(&all)?;
        }
        Ok(steps)
    }

    /// Changes this rank's copy by its own gradients.
    fn step_apart(&mut self, planned: PlannedStep, examples: usize) {
        let Self { replica, ranks, summed, account, .. } = self;
        let cut = replica.cut(examples, Look::No);
        let nodes = replica.nodes(&cut.of(ranks.place()));
        account.timed(Activity::Update, || own_sum(&nodes, summed));
        self.update_summed(planned.rate, Look::No);
    }

    /// Averages what ranks have, each weighted by its examples of the stretch.
    fn average(&mut self, scores: &[Vec<BatchScore>]) -> Result<(), TrainError> {
        let examples = |own: &Vec<BatchScore>| own.iter().map(|score| score.examples).sum();
        let examples: Vec<usize> = scores.iter().map(examples).collect();
        let own = examples[self.ranks.place().rank];
        let weight = (own as f64 / examples.iter().sum::<usize>() as f64) as f32;
        let Self { ranks, parameters, state, updater, account, exchange, .. } = self;
        let memory = updater.optimizer().memory();
        account.timed(Activity::Communication, || {
            ranks.average(parameters, weight)?;
            ranks.average(state, weight)?;
            for (_, values) in memory.slots {
                ranks.average(values, weight)?;
            }
            if let Some(steps) = memory.steps {
                *steps = ranks.largest(*steps)?;
            }
            Ok::<(), TrainError>(())
        })?;
        if let Exchange::Drifting(Drift { outer: Some(outer), .. }) = exchange {
            account.timed(Activity::Update, || outer.step(parameters));
        }
        Ok(())
    }
}

/// The scores of steps over all ranks, up to one that is not finite.
fn together(all: &[Vec<BatchScore>]) -> Vec<StepResult> {
    let mut steps = Vec::new();
    for step in 0..all.first().map_or(0, Vec::len) {
        let mut score = BatchScore::default();
        all.iter().for_each(|own| score.add(own[step]));
        steps.push(StepResult { score, norms: None });
        if !score.loss_sum.is_finite() {
            break;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_momentum_goes_on_in_the_direction_of_earlier_averages() {
        let mut outer = Outer { momentum: 0.5, velocity: vec![0.0; 2], start: vec![1.0, 2.0] };
        let mut values = vec![3.0, 1.0];
        outer.step(&mut values);
        assert_eq!(values, [3.0, 1.0], "the first step ends at the average");
        outer.start.clone_from(&values);
        let mut values = vec![3.0, 1.5];
        outer.step(&mut values);
        // 3 + 0.5 * 2 + 0, and 1 + 0.5 * -1 + 0.5.
        assert_eq!(values, [4.0, 1.0]);
    }

    #[test]
    fn scores_of_ranks_are_added_step_by_step_until_one_is_not_finite() {
        let score = |loss_sum| BatchScore { loss_sum, correct: 1, examples: 2 };
        let all = [
            vec![score(1.0), score(2.0), score(3.0)],
            vec![score(0.5), score(f64::NAN), score(f64::NAN)],
        ];
        let steps = together(&all);
        assert_eq!(steps.len(), 2);
        assert_eq!((steps[0].score.loss_sum, steps[0].score.examples), (1.5, 4));
        assert!(steps[1].score.loss_sum.is_nan());
    }
}
