//! Steps that all ranks make together: gradients of each, their sum, one update.

use std::time::Instant;

use trainwright_comm::LeafTree;
use trainwright_networks::{BatchScore, GradientNorms};

use super::DenseLearner;
use super::micro_batches::{MicroBatches, Place};
use super::replica::{Model, Told};
use crate::error::TrainError;
use crate::learners::learner::Look;
use crate::train::stopwatch::timed;
use crate::train::stretch::{Chosen, PlannedStep, StepResult, Stretch, StretchResult};

impl DenseLearner<'_> {
    /// This rank's part of a stretch, at whose end all ranks are equal.
    pub(super) fn stretch_together(
        &mut self,
        stretch: Stretch<'_>,
    ) -> Result<StretchResult, TrainError> {
        let before = self.replica.waited();
        let mut steps = Vec::with_capacity(stretch.steps.len());
        for (planned, chosen) in stretch.each() {
            let result = self.step_together(planned, chosen)?;
            steps.push(result);
            if !result.score.loss_sum.is_finite() {
                break;
            }
        }
        Ok(StretchResult { steps, waited: Some(self.replica.waited() - before) })
    }

    /// This rank's part of a step.
    fn step_together(
        &mut self,
        planned: PlannedStep,
        chosen: Chosen<'_>,
    ) -> Result<StepResult, TrainError> {
        let PlannedStep { rate, look, .. } = planned;
        let cut = self.replica.cut(chosen.now.len(), look);
        let Self { network, parameters, state, replica, ranks, times, .. } = self;
        let (start, waited) = (Instant::now(), replica.waited());
        let told = replica.learn(Model { network, parameters, state }, chosen, look)?;
        let (learned, input) = (start.elapsed(), replica.waited() - waited);
        times.input_wait_s += input.as_secs_f64();
        times.compute_s += learned.saturating_sub(input).as_secs_f64();
        // The first thing of a step for which ranks need each other: whoever is early waits here.
        let told = timed(&mut times.barrier_wait_s, || ranks.gather_told(told, state.len()))?;
        let mut score = BatchScore::default();
        told.iter().for_each(|own| score.add(own.score));
        let mut norms = None;
        if score.loss_sum.is_finite() {
            let squared = self.update(cut, rate, look)?;
            told.iter()
                .for_each(|own| self.network.fold_statistics(&mut self.state, &own.statistics));
            norms = squared
                .map(|of_whole| look_at(&told, cut, of_whole))
                .filter(|_| look == Look::AtNoise);
        }
        Ok(StepResult { score, norms })
    }

    /// Adds up the gradients of all and changes the parameters; tells their squared norm, where it
    /// was needed.
    fn update(
        &mut self,
        cut: MicroBatches,
        rate: f64,
        look: Look,
    ) -> Result<Option<f64>, TrainError> {
        let Self { replica, ranks, updater, summed, parameters, times, .. } = self;
        let place = ranks.place();
        let whole = place == Place::ALONE && cut.count() == 1;
        if !whole {
            let nodes = replica.nodes(&cut.of(place));
            let tree = LeafTree::new(cut.count());
            timed(&mut times.communication_s, || ranks.sum(tree, &nodes, summed))?;
        }
        let (gradients, team) = match whole {
            true => replica.alone(),
            false => (&mut summed[..], replica.workspace().team()),
        };
        let squared = match updater.clips() || look == Look::AtNoise {
            true => {
                let own = timed(&mut times.update_s, || updater.squares(gradients, team));
                Some(timed(&mut times.communication_s, || ranks.sum_squares(own))?)
            }
            false => None,
        };
        let size = (rate, squared.map(f64::sqrt));
        timed(&mut times.update_s, || updater.update(parameters, gradients, size, team));
        timed(&mut times.communication_s, || ranks.gather(parameters))?;
        Ok(squared)
    }
}

/// What a look at the noise found.
fn look_at(told: &[Told], cut: MicroBatches, of_whole: f64) -> GradientNorms {
    let of_parts = told.iter().map(|own| own.squared).sum::<f64>() / told.len() as f64;
    let whole: usize = told.iter().map(|own| own.score.examples).sum();
    GradientNorms { part: cut.mean_size(), of_parts, whole: whole as f64, of_whole }
}
