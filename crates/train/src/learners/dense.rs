//! Networks with flat parameters on pictures.
//!
//! A step (`steps.rs`) has three parts: a replica turns examples into gradients (`replica.rs`), the
//! gradients of all ranks are added up (`ranks.rs`), and an updater changes the parameters
//! (`updater.rs`); `exchange.rs` has the ways to do so. One that trains alone is a group of one.
//! Rank 0 is driven by the training loop, the others follow its orders (`following.rs`,
//! `orders.rs`).

mod drifting;
mod exchange;
mod following;
mod memory;
pub(crate) mod micro_batches;
mod orders;
mod ranks;
mod replica;
pub(crate) mod served;
mod steps;
mod survivors;
pub(crate) mod updater;

use std::path::Path;
use std::time::Instant;

use trainwright_comm::{Buckets, Group};
use trainwright_networks::{Batch, BatchScore, Network, Numbers, SafeTensors, TensorInfo};
use trainwright_records::pictures::Picture;
use trainwright_records::pipeline::PictureUse;
use trainwright_study::{JobSpec, Seed};

use crate::account::{Account, Told};
use crate::error::TrainError;
use crate::events::{Activity, RankLost};
use crate::input::batches::View;
use crate::input::{Pictures, SetPart};
use crate::learners::described::{evaluation_batch, network_of};
use crate::learners::learner::{Evaluation, Learner, Look, OwnedTensor, Part};
use crate::learners::memory_limit::check_memory;
use crate::learners::optimizers::remembered;
use crate::predict::Predicted;
use crate::predict::trained::AboutNetwork;
use crate::train::stretch::{Plan, PlannedStep, Stretch, StretchResult};
use crate::{PARAMETERS, STATE};
use exchange::Exchange;
use micro_batches::MicroBatches;
use orders::Order;
use ranks::Ranks;
use replica::{Replica, ReplicaParts};
use survivors::Snapshot;
use updater::Updater;

/// Parts of a job that draw random numbers, each from its own seed.
const WEIGHTS: u64 = 1;
const DROPOUT: u64 = 3;
pub(crate) const CHANGES: u64 = 5;

/// Bytes of gradients that are added up together; the first bucket is small, so that the sums
/// begin early.
const BUCKET_BYTES: usize = 1 << 20;
const FIRST_BUCKET_BYTES: usize = 1 << 18;

/// Pictures that are shown of those that are learned from.
const SAMPLES: usize = 8;

/// A network, its pictures and its optimiser: one of the ranks that train together.
pub(crate) struct DenseLearner<'a> {
    pictures: &'a Pictures,
    network: Network,
    parameters: Numbers,
    state: Vec<f32>,
    replica: Replica<'a>,
    updater: Updater,
    ranks: Ranks,
    exchange: Exchange,
    /// What is added up together beside the backward pass, where that is asked for.
    buckets: Option<Buckets>,
    /// Whether the other ranks have what this one has.
    handed_over: bool,
    /// Summed gradients of what this rank updates.
    summed: Numbers,
    /// Pictures that are scored at once.
    evaluation_batch: usize,
    changes: Seed,
    account: Account,
    /// Whether survivors go on after a loss.
    elastic: bool,
    snapshot: Option<Snapshot>,
    /// Ranks that were lost since the loop was told.
    lost: Vec<RankLost>,
    /// Steps made over all epochs.
    steps_made: u64,
}

impl<'a> DenseLearner<'a> {
    /// The network of a job before its first step, for one that trains alone.
    ///
    /// # Errors
    /// When the network cannot be built.
    pub(crate) fn new(
        job: &JobSpec,
        pictures: &'a Pictures,
        largest_batch: usize,
    ) -> Result<Self, TrainError> {
        Self::among(None, job, pictures, largest_batch)
    }

    /// The same for one of a group.
    ///
    /// # Errors
    /// When the network cannot be built.
    pub(crate) fn among(
        group: Option<Group>,
        job: &JobSpec,
        pictures: &'a Pictures,
        largest_batch: usize,
    ) -> Result<Self, TrainError> {
        let network = checked_network(job, pictures)?;
        let count = network.parameter_count();
        let (ranks, exchange) = (Ranks::new(group, count), Exchange::of(job, count));
        let (place, seed) = (ranks.place(), Seed::new(job.seed));
        let piece = if exchange.is_owned() { ranks.own_piece() } else { 0..count };
        let evaluation_batch = evaluation_batch(&network);
        let micro_batch = job.micro_batch.map(|size| size as usize);
        let largest = largest_batch.min(pictures.len(SetPart::Train));
        // The last survivor has all of a step.
        let fewest = if job.elastic { 1 } else { place.ranks };
        let at_once = MicroBatches::new(largest, micro_batch, fewest, Look::No).range(0).len();
        let capacity = at_once.max(evaluation_batch);
        // Drawn and aligned parameters, gradients, those of a piece, and those of micro-batches.
        let vectors = 5 + remembered(job);
        check_memory(&network, capacity, job.threads as usize, vectors)?;
        let replica = Replica::new(ReplicaParts {
            place,
            leaves: exchange.leaves(),
            micro_batch,
            feed: pictures.feed(SetPart::Train, at_once, &network)?,
            workspace: network.workspace(capacity, job.threads as usize)?,
            parameters: count,
            label_smoothing: job.label_smoothing as f32,
            dropout: seed.derive(DROPOUT),
            changes: seed.derive(CHANGES),
        });
        let (parameters, state) = beginning(&network, job, seed.derive(WEIGHTS))?;
        Ok(Self {
            pictures,
            parameters,
            state,
            replica,
            summed: Numbers::zeros(piece.len()),
            updater: Updater::new(job, network.tensors(), piece),
            ranks,
            exchange,
            buckets: job.overlap.then(|| buckets(&network)),
            handed_over: false,
            network,
            evaluation_batch,
            changes: seed.derive(CHANGES),
            account: Account::new(),
            elastic: job.elastic,
            snapshot: None,
            lost: Vec::new(),
            steps_made: 0,
        })
    }

    /// The parameters, to be changed by whoever trains them elsewhere.
    pub(crate) fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    /// The flat vectors that a network consists of.
    fn vectors(&self) -> [(&'static str, &[TensorInfo], &[f32]); 2] {
        [
            (PARAMETERS, self.network.tensors(), &self.parameters),
            (STATE, self.network.state_tensors(), &self.state),
        ]
    }

    /// Hands over each batch of pictures to judge by, with the network and its parameters.
    fn judge(
        &mut self,
        part: SetPart,
        chosen: &[u32],
        mut judge: impl FnMut(&mut Self, Batch<'_>),
    ) -> Result<(), TrainError> {
        let size = self.evaluation_batch;
        let mut feed = self.pictures.feed(part, size.min(chosen.len()), &self.network)?;
        feed.foretell(chosen, 0, &Vec::new, PictureUse::Judging)?;
        for chosen in chosen.chunks(size) {
            self.look_after()?;
            let batch = feed.batch(chosen, View::Judged, self.replica.workspace().team())?;
            self.network.check_inputs(batch.inputs)?;
            judge(self, batch);
        }
        Ok(())
    }

    /// Numbers of all pictures to judge by.
    fn all_of_test(&self) -> Vec<u32> {
        (0..).take(self.pictures.len(SetPart::Test)).collect()
    }
}

impl Learner for DenseLearner<'_> {
    fn examples(&self) -> usize {
        self.pictures.len(SetPart::Train)
    }

    fn order(&self, epoch: u32, seed: Seed, pool: &[u32]) -> Vec<u32> {
        self.pictures.order(epoch, seed, pool)
    }

    fn stretch(&mut self, stretch: Stretch<'_>) -> Result<StretchResult, TrainError> {
        let before = self.replica.waited();
        let Stretch { epoch, at, steps, .. } = stretch;
        let order = Order::Stretch { epoch, at: at as u64, steps: steps.to_vec() };
        self.remember();
        let results = self.with_survivors(|own| {
            own.hand_over()?;
            let Self { ranks, account, .. } = own;
            account.timed(Activity::Communication, || ranks.tell(&order))?;
            own.stretch_together(stretch)
        })?;
        self.snapshot = None;
        self.steps_made = steps.last().map_or(self.steps_made, |planned| planned.step);
        let waited = Some(self.replica.waited() - before);
        Ok(StretchResult { steps: results, waited, lost: std::mem::take(&mut self.lost) })
    }

    fn next_stretch(&self, plan: &Plan<'_>) -> Vec<PlannedStep> {
        plan.steps(match &self.exchange {
            Exchange::Drifting(drift) => drift.every,
            Exchange::Owned | Exchange::Whole(_) => 1,
        })
    }

    fn evaluate(&mut self, part: Part<'_>) -> Result<Evaluation, TrainError> {
        let all = self.all_of_test();
        let (part, chosen) = match part {
            Part::Test => (SetPart::Test, &all[..]),
            Part::Training(chosen) => (SetPart::Train, chosen),
        };
        let mut score = BatchScore::default();
        self.judge(part, chosen, |own, batch| {
            let Self { network, parameters, state, replica, .. } = own;
            score.add(network.score(parameters, state, batch, replica.workspace()));
        })?;
        Ok(Evaluation { score, auc: None })
    }

    fn predictions(&mut self) -> Result<Vec<Predicted>, TrainError> {
        let all = self.all_of_test();
        let mut predictions = Vec::with_capacity(all.len());
        self.judge(SetPart::Test, &all, |own, batch| {
            let Self { network, parameters, state, replica, .. } = own;
            let workspace = replica.workspace();
            let rows = network.probabilities(parameters, state, batch.inputs, workspace);
            let rows = rows.chunks_exact(rows.len() / batch.labels.len());
            predictions.extend(
                rows.zip(batch.labels)
                    .map(|(row, &class)| Predicted::most_probable(row, Some(class))),
            );
        })?;
        Ok(predictions)
    }

    fn parameters(&self) -> Vec<f32> {
        self.parameters.to_vec()
    }

    fn memory(&mut self) -> Result<Vec<OwnedTensor>, TrainError> {
        self.kept()
    }

    fn restore(&mut self, file: &SafeTensors) -> Result<(), TrainError> {
        self.put_back(file)
    }

    fn account(&mut self) -> Result<Vec<Told>, TrainError> {
        self.with_survivors(|own| {
            own.hand_over()?;
            own.ranks.tell(&Order::Account)?;
            own.ranks.account(own.account.told())
        })
    }

    fn spent(&mut self, activity: Activity, from: Instant) {
        self.account.spent(activity, from, from.elapsed());
    }

    fn export(&self) -> Vec<OwnedTensor> {
        let of_vector = |(_, infos, values): (_, &[TensorInfo], &[f32])| -> Vec<OwnedTensor> {
            let tensors = infos.iter().flat_map(|info| info.to_pytorch(values));
            tensors.map(|(name, shape, values)| OwnedTensor { name, shape, values }).collect()
        };
        self.vectors().into_iter().flat_map(of_vector).collect()
    }

    fn onnx(&self) -> Result<Vec<u8>, TrainError> {
        Ok(self.network.to_onnx(&self.parameters, &self.state)?)
    }

    fn about(&self) -> Option<AboutNetwork> {
        let description = self.network.description().clone();
        Some(AboutNetwork { description, pictures: self.pictures.shape() })
    }

    fn samples(&mut self) -> Result<Vec<Picture>, TrainError> {
        if self.network.input_rows().is_some() {
            return Ok(Vec::new());
        }
        let [rows, columns, channels] = self.pictures.input_shape();
        let chosen: Vec<u32> = (0..).take(self.examples().min(SAMPLES)).collect();
        let view = View::Learned(self.changes.derive(1));
        let mut feed = self.pictures.feed(SetPart::Train, chosen.len(), &self.network)?;
        feed.foretell(&chosen, 0, &Vec::new, PictureUse::Learning { epoch: 1 })?;
        let batch = feed.batch(&chosen, view, self.replica.workspace().team())?;
        let pictures = batch.inputs.chunks_exact(rows * columns * channels);
        let picture = |inputs: &[f32]| {
            let pixels = inputs.iter().map(|&input| (input * 255.0).round() as u8).collect();
            Picture { rows, columns, channels, pixels }
        };
        Ok(pictures.map(picture).collect())
    }
}

/// The network of a job, whose pictures are such as it takes.
fn checked_network(job: &JobSpec, pictures: &Pictures) -> Result<Network, TrainError> {
    let mut network = network_of(job, pictures)?;
    for part in [SetPart::Train, SetPart::Test] {
        if let Some(highest) = pictures.highest_pixel(part) {
            network.check_inputs(&[highest.into()])?;
        }
    }
    if let Some(prefix) = &job.freeze {
        network.freeze(prefix)?;
    }
    Ok(network)
}

/// Gradients that are added up together, the last layers first.
fn buckets(network: &Network) -> Buckets {
    let sizes: Vec<usize> = network.tensors().iter().map(|tensor| tensor.range.len()).collect();
    Buckets::new(&sizes, BUCKET_BYTES, FIRST_BUCKET_BYTES)
}

/// Parameters and state before the first step.
fn beginning(
    network: &Network,
    job: &JobSpec,
    seed: Seed,
) -> Result<(Numbers, Vec<f32>), TrainError> {
    let drawn = network.initial_parameters(seed.value());
    let (mut parameters, mut state) = (Numbers::from(&drawn[..]), network.initial_state());
    if let Some(path) = &job.weights {
        let file = SafeTensors::open(Path::new(path))?;
        network.load_weights(&file, &mut parameters, &mut state)?;
    }
    Ok((parameters, state))
}

#[cfg(test)]
mod tests;
