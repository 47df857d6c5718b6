//! One copy of the computation: from examples to gradients, with parameters that others own.

use std::ops::Range;
use std::time::Duration;

use trainwright_comm::{LeafTree, TreeSum};
use trainwright_networks::{
    BatchScore, Learned, Network, Numbers, StepOptions, Team, Workspace, squared_norm,
};
use trainwright_records::pipeline::PictureUse;
use trainwright_study::Seed;

use super::micro_batches::{Ahead, MicroBatches, Place};
use crate::error::TrainError;
use crate::input::Feed;
use crate::input::batches::View;
use crate::learners::learner::Look;
use crate::train::stretch::Chosen;

/// Which micro-batches a replica's sum is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    /// Those of the step: the replica's own make some nodes of a tree over all.
    OfStep,
    /// The replica's own, of a mean over the whole step.
    Own,
    /// The replica's own, of a mean over its own examples.
    Apart,
}

/// Computes the gradients of its micro-batches.
pub(super) struct Replica<'a> {
    place: Place,
    leaves: Leaves,
    /// Examples of a micro-batch, where the job says so.
    micro_batch: Option<usize>,
    feed: Feed<'a>,
    workspace: Workspace,
    /// Gradients of a single micro-batch; of several they are in `sum`.
    gradients: Numbers,
    sum: Option<TreeSum>,
    label_smoothing: f32,
    dropout: Seed,
    changes: Seed,
}

/// What a replica is made of, besides what it allocates.
pub(super) struct ReplicaParts<'a> {
    pub(super) place: Place,
    pub(super) leaves: Leaves,
    pub(super) micro_batch: Option<usize>,
    pub(super) feed: Feed<'a>,
    pub(super) workspace: Workspace,
    pub(super) parameters: usize,
    pub(super) label_smoothing: f32,
    pub(super) dropout: Seed,
    pub(super) changes: Seed,
}

/// The network that is learned, as it is before a step.
#[derive(Clone, Copy)]
pub(super) struct Model<'a> {
    pub(super) network: &'a Network,
    pub(super) parameters: &'a [f32],
    pub(super) state: &'a [f32],
}

/// What one micro-batch taught, besides its gradients.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub(super) score: BatchScore,
    /// Squared norm of the gradients of the micro-batch's own mean loss, where noise is looked at.
    pub(super) squared: f64,
    /// What it says of the state.
    pub(super) statistics: Vec<f32>,
}

impl<'a> Replica<'a> {
    pub(super) fn new(parts: ReplicaParts<'a>) -> Self {
        let ReplicaParts { place, leaves, micro_batch, feed, workspace, .. } = parts;
        Self {
            place,
            leaves,
            micro_batch,
            feed,
            workspace,
            gradients: Numbers::zeros(parts.parameters),
            sum: None,
            label_smoothing: parts.label_smoothing,
            dropout: parts.dropout,
            changes: parts.changes,
        }
    }

    /// Takes another place among the ranks.
    pub(super) fn move_to(&mut self, place: Place) {
        self.place = place;
        self.sum = None;
    }

    /// Takes a place among the ranks for one step, and adds up as that asks for.
    pub(super) fn stand(&mut self, place: Place, leaves: Leaves) {
        if self.place != place {
            self.move_to(place);
        }
        self.leaves = leaves;
    }

    /// How a step is cut for so many ranks.
    pub(super) fn cut_for(&self, examples: usize, ranks: usize) -> MicroBatches {
        MicroBatches::new(examples, self.micro_batch, ranks, Look::No)
    }

    /// How a step is cut.
    pub(super) fn cut(&self, examples: usize, look: Look) -> MicroBatches {
        MicroBatches::new(examples, self.micro_batch, self.place.ranks, look)
    }

    /// Computes the gradients of the replica's micro-batches of a step; they are in
    /// [`Self::nodes`] then.
    ///
    /// # Errors
    /// When an example cannot be read.
    pub(super) fn learn(
        &mut self,
        model: Model<'_>,
        chosen: Chosen<'_>,
        look: Look,
    ) -> Result<Vec<Told>, TrainError> {
        let cut = self.cut(chosen.now.len(), look);
        let (own, examples) = (cut.of(self.place), cut.examples_of(self.place));
        let of = match self.leaves {
            Leaves::OfStep | Leaves::Own => chosen.now.len(),
            Leaves::Apart => examples.len(),
        };
        let (leaves, place) = match self.leaves {
            Leaves::OfStep => (cut.count(), self.place),
            Leaves::Own | Leaves::Apart => (own.len(), Place::ALONE),
        };
        self.foretell(&chosen, examples)?;
        let mut sum = (own.len() > 1).then(|| self.empty_sum(leaves, place));
        let mut told = Vec::with_capacity(own.len());
        for number in own {
            let range = cut.range(number);
            let work = MicroBatch { number, chosen: &chosen.now[range], of };
            told.push(match &mut sum {
                Some(sum) => sum.add_leaf(|into| self.one(model, &chosen, work, look, into))?,
                None => {
                    let mut into = std::mem::take(&mut self.gradients);
                    let told = self.one(model, &chosen, work, look, &mut into);
                    self.gradients = into;
                    told?
                }
            });
        }
        self.sum = sum.or_else(|| self.sum.take().map(cleared));
        Ok(told)
    }

    /// The sums of gradients after [`Self::learn`], in the order of the tree.
    pub(super) fn nodes(&self, own: &Range<usize>) -> Vec<&[f32]> {
        match (own.len(), &self.sum) {
            (0, _) => Vec::new(),
            (1, _) | (_, None) => vec![&self.gradients],
            (_, Some(sum)) => sum.nodes(),
        }
    }

    /// The gradients of a step that this replica made alone.
    pub(super) fn alone(&mut self) -> (&mut [f32], &mut Team) {
        (&mut self.gradients, self.workspace.team())
    }

    pub(super) fn workspace(&mut self) -> &mut Workspace {
        &mut self.workspace
    }

    /// Time that it took to get all batches so far.
    pub(super) fn waited(&self) -> Duration {
        self.feed.waited()
    }

    fn foretell(&mut self, chosen: &Chosen<'_>, own: Range<usize>) -> Result<(), TrainError> {
        let wanted = PictureUse::Learning { epoch: chosen.epoch.into() };
        let (given, place) = (self.micro_batch, self.place);
        let ahead = Ahead { rest: chosen.next, batch: chosen.now.len(), given, place };
        self.feed.foretell(&chosen.now[own], ahead.count(), &|| ahead.examples(), wanted)
    }

    /// A sum over the micro-batches of a step, with the buffers of the last where they fit.
    fn empty_sum(&mut self, leaves: usize, place: Place) -> TreeSum {
        match self.sum.take() {
            Some(sum) if sum.tree().leaves() == leaves => cleared(sum),
            _ => {
                let Place { rank, ranks } = place;
                TreeSum::new(LeafTree::new(leaves), rank, ranks, self.gradients.len())
            }
        }
    }

    /// Gradients of one micro-batch.
    fn one(
        &mut self,
        model: Model<'_>,
        chosen: &Chosen<'_>,
        work: MicroBatch<'_>,
        look: Look,
        gradients: &mut [f32],
    ) -> Result<Told, TrainError> {
        let Model { network, parameters, state } = model;
        let of_step = self.dropout.derive(chosen.step);
        let dropout = match work.number {
            0 => of_step,
            number => of_step.derive(number as u64),
        };
        let options = StepOptions {
            label_smoothing: self.label_smoothing,
            dropout_seed: dropout.value(),
            of_examples: Some(work.of),
        };
        let view = View::Learned(self.changes.derive(chosen.epoch.into()));
        let batch = self.feed.batch(work.chosen, view, self.workspace.team())?;
        network.check_inputs(batch.inputs)?;
        let mut statistics = state.to_vec();
        let learned = Learned { gradients, statistics: &mut statistics };
        let workspace = &mut self.workspace;
        let score = network.gradients(parameters, state, batch, options, learned, workspace);
        let squared = match look {
            Look::No => 0.0,
            Look::AtNoise => {
                let scale = work.of as f64 / work.chosen.len() as f64;
                scale * scale * squared_norm(gradients, self.workspace.team())
            }
        };
        Ok(Told { score, squared, statistics })
    }
}

/// One micro-batch of a step.
#[derive(Clone, Copy)]
struct MicroBatch<'a> {
    number: usize,
    chosen: &'a [u32],
    /// Examples over which the mean is taken.
    of: usize,
}

fn cleared(mut sum: TreeSum) -> TreeSum {
    sum.clear();
    sum
}
