//! A network whose layers are split over ranks, as a plan says: a grid of ranks that share examples
//! and layers, or stages of a pipeline.
//!
//! Every rank owns its pieces of the parameters and of the optimiser's memory (`segment.rs`). Rank 0
//! is driven by the training loop and tells the others which examples come next (`rank.rs`); a step
//! is in `grid.rs` or `stages.rs`, what ranks of one row or column tell each other in `circle.rs`, by way of
//! `wire.rs`.
//! At the end of an epoch the parameters are collected, so that rank 0 can score and export the
//! network as one that trains alone does.

mod circle;
mod exchange_time;
mod grid;
mod memory;
mod rank;
mod segment;
mod stages;
mod wire;

use std::time::Instant;

use trainwright_comm::Group;
use trainwright_networks::SafeTensors;
use trainwright_records::pictures::Picture;
use trainwright_study::{JobSpec, JobSplit, Seed};

use crate::account::Told;
use crate::error::TrainError;
use crate::events::Activity;
use crate::input::Pictures;
use crate::learners::dense::DenseLearner;
use crate::learners::learner::{Evaluation, Learner, OwnedTensor, Part};
use crate::predict::Predicted;
use crate::predict::trained::AboutNetwork;
use crate::train::TrainOptions;
use crate::train::stretch::{Plan, PlannedStep, Stretch, StretchResult};
pub use exchange_time::{ExchangeTime, exchange_time};
pub use memory::split_memory;
pub(crate) use rank::SplitRank;

/// Steps that are made at one go.
const STRETCH: usize = 16;

/// The first rank of a split network.
pub(crate) struct SplitLearner<'a> {
    /// The whole network, for scores and exports.
    whole: DenseLearner<'a>,
    /// Whether the whole network has the parameters of the last step.
    is_collected: bool,
    rank: SplitRank<'a>,
}

impl<'a> SplitLearner<'a> {
    /// Rank 0 of a job; the parameters are drawn as for one that trains alone.
    ///
    /// # Errors
    /// When the network cannot be split so, or another rank is lost.
    pub(crate) fn new(
        group: Option<Group>,
        (job, split): (&JobSpec, &JobSplit),
        pictures: &'a Pictures,
        largest_batch: usize,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        if options.checkpoint.is_some() {
            return Err(refused(
                "checkpoints of a split network are not kept; leave --checkpoint out",
            ));
        }
        let alone = JobSpec { split: None, ..job.clone() };
        let whole = DenseLearner::new(&alone, pictures, largest_batch)?;
        let group = match group {
            Some(group) => group,
            None => Group::threads(1).pop().expect("a group of one has a rank"),
        };
        let mut rank = SplitRank::new(group, (job, split), pictures, largest_batch)?;
        rank.begin(&whole.parameters())?;
        Ok(Self { whole, is_collected: true, rank })
    }

    /// Gives the whole network the parameters that the ranks have. The loop scores it after the last
    /// step of an epoch, and exports it only then.
    fn collect(&mut self) -> Result<(), TrainError> {
        if !self.is_collected {
            self.rank.collect(self.whole.parameters_mut())?;
            self.is_collected = true;
        }
        Ok(())
    }

    /// Sends the other ranks home.
    ///
    /// # Errors
    /// When one is lost.
    pub(crate) fn dismiss(&mut self) -> Result<(), TrainError> {
        self.rank.dismiss()
    }
}

/// An error about the plan.
fn refused(reason: impl Into<String>) -> TrainError {
    TrainError::Split { reason: reason.into() }
}

impl Learner for SplitLearner<'_> {
    fn examples(&self) -> usize {
        self.whole.examples()
    }

    fn order(&self, epoch: u32, seed: Seed, pool: &[u32]) -> Vec<u32> {
        self.whole.order(epoch, seed, pool)
    }

    fn next_stretch(&self, plan: &Plan<'_>) -> Vec<PlannedStep> {
        plan.steps(STRETCH)
    }

    fn stretch(&mut self, stretch: Stretch<'_>) -> Result<StretchResult, TrainError> {
        let mut steps = Vec::with_capacity(stretch.steps.len());
        self.is_collected = false;
        for (planned, chosen) in stretch.each() {
            let result = self.rank.lead_step(planned, chosen)?;
            steps.push(result);
            if !result.score.loss_sum.is_finite() {
                break;
            }
        }
        Ok(StretchResult { steps, waited: None, lost: Vec::new() })
    }

    fn evaluate(&mut self, part: Part<'_>) -> Result<Evaluation, TrainError> {
        self.collect()?;
        self.whole.evaluate(part)
    }

    fn predictions(&mut self) -> Result<Vec<Predicted>, TrainError> {
        self.collect()?;
        self.whole.predictions()
    }

    fn parameters(&self) -> Vec<f32> {
        self.whole.parameters()
    }

    fn memory(&mut self) -> Result<Vec<OwnedTensor>, TrainError> {
        Err(refused("checkpoints of a split network are not kept"))
    }

    fn restore(&mut self, _file: &SafeTensors) -> Result<(), TrainError> {
        Err(refused("checkpoints of a split network are not kept"))
    }

    fn account(&mut self) -> Result<Vec<Told>, TrainError> {
        self.rank.lead_accounts()
    }

    fn spent(&mut self, activity: Activity, from: Instant) {
        self.rank.account.spent(activity, from, from.elapsed());
    }

    fn export(&self) -> Vec<OwnedTensor> {
        self.whole.export()
    }

    fn onnx(&self) -> Result<Vec<u8>, TrainError> {
        self.whole.onnx()
    }

    fn about(&self) -> Option<AboutNetwork> {
        self.whole.about()
    }

    fn samples(&mut self) -> Result<Vec<Picture>, TrainError> {
        self.collect()?;
        self.whole.samples()
    }
}
