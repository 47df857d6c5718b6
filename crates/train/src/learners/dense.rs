//! Networks with flat parameters on pictures.
//!
//! A step has three parts: a replica turns examples into gradients (`replica.rs`), the gradients of
//! all ranks are added up (`ranks.rs`), and an updater changes the parameters (`updater.rs`). One
//! that trains alone is a group of one.

pub(crate) mod micro_batches;
mod ranks;
mod replica;
mod updater;

use std::path::Path;
use std::time::{Duration, Instant};

use trainwright_comm::{Group, LeafTree};
use trainwright_networks::{
    Batch, BatchScore, GradientNorms, Network, Numbers, SafeTensors, StepSize, TensorInfo,
};
use trainwright_records::pictures::Picture;
use trainwright_records::pipeline::PictureUse;
use trainwright_study::{JobSpec, Seed};

use crate::error::TrainError;
use crate::events::RankTimes;
use crate::input::batches::View;
use crate::input::{Pictures, SetPart};
use crate::learners::described::{evaluation_batch, network_of};
use crate::learners::learner::{
    Chosen, Evaluation, Learner, Look, OwnedTensor, Part, StepResult, wanted,
};
use crate::learners::memory_limit::check_memory;
use crate::learners::optimizers::remembered;
use crate::predict::Predicted;
use crate::predict::trained::AboutNetwork;
use crate::train::stopwatch::timed;
use crate::{PARAMETERS, STATE};
use micro_batches::{MicroBatches, Place};
use ranks::{Order, Ranks};
use replica::{Model, Replica, ReplicaParts, Told};
use updater::Updater;

/// Parts of a job that draw random numbers, each from its own seed.
const WEIGHTS: u64 = 1;
const DROPOUT: u64 = 3;
const CHANGES: u64 = 5;

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
    /// Whether the other ranks have what this one has.
    handed_over: bool,
    /// Summed gradients of the piece that this rank owns.
    summed: Numbers,
    /// Pictures that are scored at once.
    evaluation_batch: usize,
    changes: Seed,
    times: RankTimes,
}

/// What the optimisers of all pieces remember.
struct OptimizerVectors {
    slots: Vec<(&'static str, Vec<f32>)>,
    steps: Option<u64>,
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
        let ranks = Ranks::new(group, count);
        let (place, seed) = (ranks.place(), Seed::new(job.seed));
        let evaluation_batch = evaluation_batch(&network);
        let micro_batch = job.micro_batch.map(|size| size as usize);
        let largest = largest_batch.min(pictures.len(SetPart::Train));
        let at_once = MicroBatches::new(largest, micro_batch, place.ranks, Look::No).range(0).len();
        let capacity = at_once.max(evaluation_batch);
        // Drawn and aligned parameters, gradients, those of a piece, and those of micro-batches.
        let vectors = 5 + remembered(job);
        check_memory(&network, capacity, job.threads as usize, vectors)?;
        let replica = Replica::new(ReplicaParts {
            place,
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
            updater: Updater::new(job, network.tensors(), ranks.own_piece()),
            summed: Numbers::zeros(ranks.own_piece().len()),
            ranks,
            handed_over: false,
            network,
            evaluation_batch,
            changes: seed.derive(CHANGES),
            times: RankTimes::default(),
        })
    }

    /// The flat vectors that a network consists of.
    fn vectors(&self) -> [(&'static str, &[TensorInfo], &[f32]); 2] {
        [
            (PARAMETERS, self.network.tensors(), &self.parameters),
            (STATE, self.network.state_tensors(), &self.state),
        ]
    }

    /// Follows the orders of rank 0 until the end; `order` is the order of an epoch's examples.
    ///
    /// # Errors
    /// When an example cannot be read, or another rank is lost.
    pub(crate) fn follow(
        &mut self,
        order: impl Fn(&Self, u32) -> Vec<u32>,
    ) -> Result<(), TrainError> {
        let (mut of_epoch, mut examples) = (0, Vec::new());
        loop {
            match self.ranks.hear()? {
                Order::TakeOver => self.take_over(None)?,
                Order::Step { epoch, step, at, examples: count, rate, look } => {
                    if of_epoch != epoch {
                        (of_epoch, examples) = (epoch, order(self, epoch));
                    }
                    let at = at as usize;
                    let (now, next) = examples[at..].split_at(count as usize);
                    self.step_together(Chosen { epoch, step, at, now, next }, rate, look)?;
                }
                Order::HandIn => drop(self.optimizer_memory()?),
                Order::Account => drop(self.ranks.account(self.times)?),
                Order::End => return Ok(()),
            }
        }
    }

    /// Sends the other ranks home.
    ///
    /// # Errors
    /// When one is lost.
    pub(crate) fn dismiss(&mut self) -> Result<(), TrainError> {
        self.ranks.tell(Order::End)
    }

    /// This rank's part of a step.
    fn step_together(
        &mut self,
        chosen: Chosen<'_>,
        rate: f64,
        look: Look,
    ) -> Result<StepResult, TrainError> {
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

    /// All that the optimiser remembers, of all ranks' pieces: vectors by name, and its steps.
    fn optimizer_memory(&mut self) -> Result<OptimizerVectors, TrainError> {
        let (count, piece) = (self.parameters.len(), self.updater.piece());
        let memory = self.updater.optimizer().memory();
        let steps = memory.steps.map(|steps| *steps);
        let mut slots = Vec::new();
        for (name, values) in memory.slots {
            let mut whole = vec![0.0; count];
            whole[piece.clone()].copy_from_slice(values);
            self.ranks.gather(&mut whole)?;
            slots.push((name, whole));
        }
        Ok(OptimizerVectors { slots, steps })
    }

    /// Gives the other ranks what rank 0 has, or takes it from there. `memory` is what rank 0's
    /// optimiser remembers of all pieces; without it, nothing.
    fn take_over(&mut self, memory: Option<(Vec<Vec<f32>>, u64)>) -> Result<(), TrainError> {
        self.ranks.take_over(&mut self.parameters)?;
        self.ranks.take_over(&mut self.state)?;
        let (count, piece) = (self.parameters.len(), self.updater.piece());
        let (vectors, steps) = memory.unwrap_or_default();
        let mut vectors = vectors.into_iter();
        let own = self.updater.optimizer().memory();
        for (_, values) in own.slots {
            let mut whole = vectors.next().unwrap_or_else(|| vec![0.0; count]);
            self.ranks.take_over(&mut whole)?;
            values.copy_from_slice(&whole[piece.clone()]);
        }
        // Sixteen bits a number, which `f32` holds exactly.
        let mut words = steps_to_words(steps);
        self.ranks.take_over(&mut words)?;
        if let Some(steps) = own.steps {
            *steps = words_to_steps(&words);
        }
        self.handed_over = true;
        Ok(())
    }

    /// Hands over what this rank has, unless the others have it.
    fn hand_over(&mut self) -> Result<(), TrainError> {
        if self.handed_over {
            return Ok(());
        }
        self.ranks.tell(Order::TakeOver)?;
        self.take_over(None)
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

    fn step(
        &mut self,
        chosen: Chosen<'_>,
        size: StepSize,
        look: Look,
    ) -> Result<StepResult, TrainError> {
        self.hand_over()?;
        let Chosen { epoch, step, at, now, .. } = chosen;
        let (at, examples) = (at as u64, now.len() as u64);
        self.ranks.tell(Order::Step { epoch, step, at, examples, rate: size.rate, look })?;
        self.step_together(chosen, size.rate, look)
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

    fn waited(&self) -> Option<Duration> {
        Some(self.replica.waited())
    }

    fn parameters(&self) -> Vec<f32> {
        self.parameters.to_vec()
    }

    fn memory(&mut self) -> Result<Vec<OwnedTensor>, TrainError> {
        let mut tensors: Vec<OwnedTensor> = Vec::new();
        for (kind, infos, values) in self.vectors() {
            tensors.extend(infos.iter().map(|info| OwnedTensor {
                name: format!("{kind}.{}", info.name),
                shape: info.shape.clone(),
                values: values[info.range.clone()].to_vec(),
            }));
        }
        self.ranks.tell(Order::HandIn)?;
        let OptimizerVectors { slots, steps } = self.optimizer_memory()?;
        let named = |(name, values)| OwnedTensor::vector(format!("optimizer.{name}"), values);
        tensors.extend(slots.into_iter().map(named));
        if let Some(steps) = steps {
            let words = steps_to_words(steps).to_vec();
            tensors.push(OwnedTensor::vector("optimizer.steps", words));
        }
        Ok(tensors)
    }

    fn restore(&mut self, file: &SafeTensors) -> Result<(), TrainError> {
        let count = self.parameters.len();
        let kept = |kind: &str, infos: &[TensorInfo], values: &mut [f32]| {
            for info in infos {
                let name = format!("{kind}.{}", info.name);
                let tensor = wanted(file, &name, info.range.len())?;
                values[info.range.clone()].copy_from_slice(&tensor);
            }
            Ok::<(), TrainError>(())
        };
        kept(PARAMETERS, self.network.tensors(), &mut self.parameters)?;
        kept(STATE, self.network.state_tensors(), &mut self.state)?;
        let memory = self.updater.optimizer().memory();
        let slots = memory.slots.iter();
        let vectors = slots.map(|(name, _)| wanted(file, &format!("optimizer.{name}"), count));
        let vectors = vectors.collect::<Result<_, _>>()?;
        let steps = match memory.steps {
            Some(_) => words_to_steps(&wanted(file, "optimizer.steps", 4)?),
            None => 0,
        };
        self.ranks.tell(Order::TakeOver)?;
        self.take_over(Some((vectors, steps)))
    }

    fn account(&mut self) -> Result<Vec<RankTimes>, TrainError> {
        self.ranks.tell(Order::Account)?;
        self.ranks.account(self.times)
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

/// What a look at the noise found.
fn look_at(told: &[Told], cut: MicroBatches, of_whole: f64) -> GradientNorms {
    let of_parts = told.iter().map(|own| own.squared).sum::<f64>() / told.len() as f64;
    let whole: usize = told.iter().map(|own| own.score.examples).sum();
    GradientNorms { part: cut.mean_size(), of_parts, whole: whole as f64, of_whole }
}

/// A count as numbers of sixteen bits, which `f32` holds exactly.
fn steps_to_words(steps: u64) -> [f32; 4] {
    [0, 16, 32, 48].map(|shift| (steps >> shift & 0xffff) as f32)
}

fn words_to_steps(words: &[f32]) -> u64 {
    words.iter().rev().fold(0, |sum, &word| sum << 16 | word as u64)
}

#[cfg(test)]
mod tests;
