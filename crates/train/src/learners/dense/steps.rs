//! Steps that all ranks make together: gradients of each, their sum, one update.

use std::time::Instant;

use trainwright_comm::LeafTree;
use trainwright_networks::{BatchScore, GradientNorms};

use super::DenseLearner;
use super::exchange::{Exchange, WholeSum};
use super::micro_batches::{MicroBatches, Place};
use super::replica::{Model, Told};
use crate::error::TrainError;
use crate::events::Activity;
use crate::learners::learner::Look;
use crate::train::stretch::{Chosen, PlannedStep, StepResult, Stretch};

/// Steps after which ranks look whether they are still equal.
const COMPARE_EVERY: u64 = 100;

impl DenseLearner<'_> {
    /// This rank's part of a stretch, at whose end all ranks are equal.
    pub(super) fn stretch_together(
        &mut self,
        stretch: Stretch<'_>,
    ) -> Result<Vec<StepResult>, TrainError> {
        // Before anything changes, so that a rank that is lost meanwhile leaves all as it was.
        if stretch.steps.iter().any(|planned| planned.step.is_multiple_of(COMPARE_EVERY)) {
            let Self { network, parameters, ranks, account, .. } = self;
            account
                .timed(Activity::BarrierWait, || ranks.compare(network.tensors(), parameters))?;
        }
        match self.exchange {
            Exchange::Drifting(_) => self.stretch_apart(stretch),
            Exchange::Owned | Exchange::Whole(_) => self.equal_steps(stretch),
        }
    }

    /// Steps at whose end all ranks are equal.
    fn equal_steps(&mut self, stretch: Stretch<'_>) -> Result<Vec<StepResult>, TrainError> {
        let mut steps = Vec::with_capacity(stretch.steps.len());
        for (planned, chosen) in stretch.each() {
            let result = self.step_together(planned, chosen)?;
            steps.push(result);
            if !result.score.loss_sum.is_finite() {
                break;
            }
        }
        Ok(steps)
    }

    /// Computes the gradients of this rank's micro-batches.
    pub(super) fn learn(
        &mut self,
        planned: PlannedStep,
        chosen: Chosen<'_>,
    ) -> Result<Vec<Told>, TrainError> {
        let Self { network, parameters, state, replica, account, .. } = self;
        account.step(planned.step);
        let before = account.before_computing();
        let (start, waited) = (Instant::now(), replica.waited());
        let told = replica.learn(Model { network, parameters, state }, chosen, planned.look)?;
        // Micro-batches wait and are computed in turn; in the timeline all waits come first.
        let input = replica.waited() - waited;
        account.spent(Activity::InputWait, start, input);
        let computed = start.elapsed().saturating_sub(input);
        account.spent(Activity::Compute, start + input, computed);
        account.after_computing(before, computed);
        Ok(told)
    }

    /// Whether gradients are added up beside the backward pass: where each rank has one
    /// micro-batch, whose gradients are leaves of the tree.
    fn sums_beside(&self, cut: MicroBatches, look: Look) -> bool {
        let ranks = self.ranks.place().ranks;
        self.buckets.is_some() && ranks > 1 && cut.count() == ranks && look == Look::No
    }

    /// Computes the gradients of this rank's micro-batch while those that are final are added up.
    fn learn_and_sum(
        &mut self,
        planned: PlannedStep,
        chosen: Chosen<'_>,
    ) -> Result<Vec<Told>, TrainError> {
        let Self { network, parameters, state, replica, ranks, buckets, account, .. } = self;
        let Some(buckets) = buckets else { unreachable!("sums run beside only with buckets") };
        account.step(planned.step);
        let (start, waited) = (Instant::now(), replica.waited());
        let model = Model { network, parameters, state };
        let (told, times) = replica.learn_beside(model, chosen, (ranks, &*buckets))?;
        let (input, took) = (replica.waited() - waited, start.elapsed());
        let computed = took.saturating_sub(input + times.exposed);
        account.spent(Activity::InputWait, start, input);
        account.spent(Activity::Compute, start + input, computed);
        let hidden_from = start + took.saturating_sub(times.exposed + times.hidden);
        account.spent(Activity::HiddenCommunication, hidden_from, times.hidden);
        account.spent(Activity::Communication, start + input + computed, times.exposed);
        Ok(told)
    }

    /// This rank's part of a step.
    fn step_together(
        &mut self,
        planned: PlannedStep,
        chosen: Chosen<'_>,
    ) -> Result<StepResult, TrainError> {
        let PlannedStep { rate, look, .. } = planned;
        let cut = self.replica.cut(chosen.now.len(), look);
        let beside = self.sums_beside(cut, look);
        let told = match beside {
            true => self.learn_and_sum(planned, chosen)?,
            false => self.learn(planned, chosen)?,
        };
        let Self { ranks, account, state, .. } = self;
        // The first thing of a step for which ranks need each other: whoever is early waits here.
        let told = account.timed(Activity::BarrierWait, || ranks.gather_told(told, state.len()))?;
        let mut score = BatchScore::default();
        told.iter().for_each(|own| score.add(own.score));
        let mut norms = None;
        if score.loss_sum.is_finite() {
            let squared = match self.exchange {
                Exchange::Owned => self.update_piece(cut, (rate, look), beside)?,
                _ => self.update_all(cut, rate, look)?,
            };
            self.fold(&told);
            norms = squared
                .map(|of_whole| look_at(&told, cut, of_whole))
                .filter(|_| look == Look::AtNoise);
        }
        Ok(StepResult { score, norms })
    }

    /// Takes what micro-batches tell of the state into it, in their order.
    pub(super) fn fold(&mut self, told: &[Told]) {
        let Self { network, state, account, .. } = self;
        account.timed(Activity::Update, || {
            told.iter().for_each(|own| network.fold_statistics(state, &own.statistics));
        });
    }

    /// Adds up the gradients of all, changes the parameters that this rank owns, and gets the
    /// others; tells the squared norm of the gradients, where it was needed.
    fn update_piece(
        &mut self,
        cut: MicroBatches,
        (rate, look): (f64, Look),
        is_summed: bool,
    ) -> Result<Option<f64>, TrainError> {
        let Self { replica, ranks, updater, summed, parameters, account, .. } = self;
        let place = ranks.place();
        let in_place = is_summed || (place == Place::ALONE && cut.count() == 1);
        if !in_place {
            let nodes = replica.nodes(&cut.of(place));
            let tree = LeafTree::new(cut.count());
            account.timed(Activity::Communication, || ranks.sum(tree, &nodes, summed))?;
        }
        let (gradients, team) = match in_place {
            true => replica.summed(updater.piece()),
            false => (&mut summed[..], replica.workspace().team()),
        };
        let squared = match updater.clips() || look == Look::AtNoise {
            true => {
                let own = account.timed(Activity::Update, || updater.squares(gradients, team));
                Some(account.timed(Activity::Communication, || ranks.sum_squares(own))?)
            }
            false => None,
        };
        let size = (rate, squared.map(f64::sqrt));
        account.timed(Activity::Update, || updater.update(parameters, gradients, size, team));
        account.timed(Activity::Communication, || ranks.gather(parameters))?;
        Ok(squared)
    }

    /// Adds up the gradients of all and changes all parameters, which no other rank can disturb
    /// any more: a rank that is lost before leaves them as they were.
    fn update_all(
        &mut self,
        cut: MicroBatches,
        rate: f64,
        look: Look,
    ) -> Result<Option<f64>, TrainError> {
        let Self { replica, ranks, summed, account, exchange, .. } = self;
        let Exchange::Whole(sum) = exchange else {
            unreachable!("other exchanges have updates of their own");
        };
        let nodes = replica.nodes(&cut.of(ranks.place()));
        if let WholeSum::Fixed = sum {
            let tree = LeafTree::new(cut.count());
            account
                .timed(Activity::Communication, || ranks.sum_everywhere(tree, &nodes, summed))?;
        } else {
            account.timed(Activity::Update, || own_sum(&nodes, summed));
            account.timed(Activity::Communication, || ranks.sum_whole(sum, summed))?;
        }
        Ok(self.update_summed(rate, look))
    }

    /// Changes all parameters by the gradients in `summed`; tells their squared norm, where it was
    /// needed.
    pub(super) fn update_summed(&mut self, rate: f64, look: Look) -> Option<f64> {
        let Self { replica, updater, summed, parameters, account, .. } = self;
        let team = replica.workspace().team();
        account.timed(Activity::Update, || {
            let squared = (updater.clips() || look == Look::AtNoise)
                .then(|| updater.squares(summed, team).iter().sum::<f64>());
            updater.update(parameters, summed, (rate, squared.map(f64::sqrt)), team);
            squared
        })
    }
}

/// What a rank has added up by itself: one node, or nothing where it had no micro-batch.
pub(super) fn own_sum(nodes: &[&[f32]], into: &mut [f32]) {
    match nodes.first() {
        Some(node) => into.copy_from_slice(node),
        None => into.fill(0.0),
    }
}

/// What a look at the noise found.
fn look_at(told: &[Told], cut: MicroBatches, of_whole: f64) -> GradientNorms {
    let of_parts = told.iter().map(|own| own.squared).sum::<f64>() / told.len() as f64;
    let whole: usize = told.iter().map(|own| own.score.examples).sum();
    GradientNorms { part: cut.mean_size(), of_parts, whole: whole as f64, of_whole }
}
