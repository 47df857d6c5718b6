//! Networks with flat parameters on pictures.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use trainwright_networks::{
    Batch, BatchScore, GradientNorms, Network, Numbers, Optimizer, SafeTensors, StepOptions,
    StepSize, TensorInfo, Trained, Workspace, clip_by_global_norm, squared_norm,
};
use trainwright_records::pictures::Picture;
use trainwright_records::pipeline::PictureUse;
use trainwright_study::{JobSpec, Seed};

use crate::error::TrainError;
use crate::input::batches::View;
use crate::input::{Feed, Pictures, SetPart};
use crate::learners::described::{evaluation_batch, network_of};
use crate::learners::learner::{
    Chosen, Evaluation, Learner, Look, OwnedTensor, Part, StepResult, wanted,
};
use crate::learners::memory_limit::check_memory;
use crate::learners::optimizers::{optimizer, remembered};
use crate::predict::Predicted;
use crate::predict::trained::AboutNetwork;
use crate::{PARAMETERS, STATE};

/// Parts of a job that draw random numbers, each from its own seed.
const WEIGHTS: u64 = 1;
const DROPOUT: u64 = 3;
const CHANGES: u64 = 5;

/// Pictures that are shown of those that are learned from.
const SAMPLES: usize = 8;

/// A network, its pictures and its optimiser.
pub(crate) struct DenseLearner<'a> {
    pictures: &'a Pictures,
    network: Network,
    parameters: Numbers,
    state: Vec<f32>,
    gradients: Numbers,
    /// Gradients of half a batch, while the noise is looked at.
    half_gradients: Vec<f32>,
    optimizer: Box<dyn Optimizer>,
    workspace: Workspace,
    feed: Feed<'a>,
    /// Pictures that are scored at once.
    evaluation_batch: usize,
    clip_norm: Option<f64>,
    label_smoothing: f32,
    dropout: Seed,
    changes: Seed,
}

impl<'a> DenseLearner<'a> {
    /// The network of a job before its first step.
    ///
    /// # Errors
    /// When the network cannot be built.
    pub(crate) fn new(
        job: &JobSpec,
        pictures: &'a Pictures,
        largest_batch: usize,
    ) -> Result<Self, TrainError> {
        let mut network = network_of(job, pictures)?;
        for part in [SetPart::Train, SetPart::Test] {
            if let Some(highest) = pictures.highest_pixel(part) {
                network.check_inputs(&[highest.into()])?;
            }
        }
        if let Some(prefix) = &job.freeze {
            network.freeze(prefix)?;
        }
        let count = network.parameter_count();
        let seed = Seed::new(job.seed);
        let evaluation_batch = evaluation_batch(&network);
        let examples = pictures.len(SetPart::Train);
        let capacity = largest_batch.min(examples).max(evaluation_batch);
        // Drawn and aligned parameters, gradients, and those of half a batch.
        let vectors = 4 + remembered(job);
        check_memory(&network, capacity, job.threads as usize, vectors)?;
        let feed = pictures.feed(SetPart::Train, capacity.min(examples), &network)?;
        let drawn = network.initial_parameters(seed.derive(WEIGHTS).value());
        let mut parameters = Numbers::from(&drawn[..]);
        let mut state = network.initial_state();
        if let Some(path) = &job.weights {
            let file = SafeTensors::open(Path::new(path))?;
            network.load_weights(&file, &mut parameters, &mut state)?;
        }
        Ok(Self {
            pictures,
            parameters,
            state,
            gradients: Numbers::zeros(count),
            half_gradients: Vec::new(),
            optimizer: optimizer(job, Trained::ranges(count, &trained_ranges(network.tensors()))),
            workspace: network.workspace(capacity, job.threads as usize)?,
            feed,
            network,
            evaluation_batch,
            clip_norm: job.clip_norm,
            label_smoothing: job.label_smoothing as f32,
            dropout: seed.derive(DROPOUT),
            changes: seed.derive(CHANGES),
        })
    }

    /// The flat vectors that a network consists of.
    fn vectors(&self) -> [(&'static str, &[TensorInfo], &[f32]); 2] {
        [
            (PARAMETERS, self.network.tensors(), &self.parameters),
            (STATE, self.network.state_tensors(), &self.state),
        ]
    }

    /// Gradients of a batch, and their noise from its two halves.
    fn look(&mut self, step: u64, chosen: &[u32]) -> Result<StepResult, TrainError> {
        let half_batch = chosen.len() / 2;
        let (first, second) = chosen.split_at(half_batch);
        let dropout = self.dropout.derive(step);
        let mut score = self.gradients(step, first, dropout)?;
        let team = self.workspace.team();
        let mut of_halves = 0.5 * squared_norm(&self.gradients, team);
        self.half_gradients.clear();
        self.half_gradients.extend_from_slice(&self.gradients);
        score.add(self.gradients(step, second, dropout.derive(1))?);
        let team = self.workspace.team();
        of_halves += 0.5 * squared_norm(&self.gradients, team);
        for (gradient, half) in self.gradients.iter_mut().zip(&self.half_gradients) {
            *gradient = 0.5 * (*gradient + half);
        }
        let of_whole = squared_norm(&self.gradients, team);
        Ok(StepResult { score, norms: Some(GradientNorms { half_batch, of_halves, of_whole }) })
    }

    fn gradients(
        &mut self,
        step: u64,
        chosen: &[u32],
        dropout: Seed,
    ) -> Result<BatchScore, TrainError> {
        let view = View::Learned(self.changes.derive(step));
        let Self { network, parameters, state, gradients, feed, workspace, .. } = self;
        let options =
            StepOptions { label_smoothing: self.label_smoothing, dropout_seed: dropout.value() };
        let batch = feed.batch(chosen, view, workspace.team())?;
        network.check_inputs(batch.inputs)?;
        Ok(network.gradients(parameters, state, batch, options, gradients, workspace))
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
        feed.foretell(chosen, &[], PictureUse::Judging)?;
        for chosen in chosen.chunks(size) {
            let batch = feed.batch(chosen, View::Judged, self.workspace.team())?;
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
        let wanted = PictureUse::Learning { epoch: chosen.epoch.into() };
        self.feed.foretell(chosen.now, chosen.next, wanted)?;
        let result = match look {
            Look::AtNoise => self.look(chosen.step, chosen.now)?,
            Look::No => {
                let dropout = self.dropout.derive(chosen.step);
                let score = self.gradients(chosen.step, chosen.now, dropout)?;
                StepResult { score, norms: None }
            }
        };
        if result.score.loss_sum.is_finite() {
            let team = self.workspace.team();
            if let Some(limit) = self.clip_norm {
                clip_by_global_norm(&mut self.gradients, limit, team);
            }
            self.optimizer.step(&mut self.parameters, &self.gradients, size.rate, team);
        }
        Ok(result)
    }

    fn evaluate(&mut self, part: Part<'_>) -> Result<Evaluation, TrainError> {
        let all = self.all_of_test();
        let (part, chosen) = match part {
            Part::Test => (SetPart::Test, &all[..]),
            Part::Training(chosen) => (SetPart::Train, chosen),
        };
        let mut score = BatchScore::default();
        self.judge(part, chosen, |own, batch| {
            let Self { network, parameters, state, workspace, .. } = own;
            score.add(network.score(parameters, state, batch, workspace));
        })?;
        Ok(Evaluation { score, auc: None })
    }

    fn predictions(&mut self) -> Result<Vec<Predicted>, TrainError> {
        let all = self.all_of_test();
        let mut predictions = Vec::with_capacity(all.len());
        self.judge(SetPart::Test, &all, |own, batch| {
            let Self { network, parameters, state, workspace, .. } = own;
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
        Some(self.feed.waited())
    }

    fn parameters(&self) -> Vec<f32> {
        self.parameters.to_vec()
    }

    fn memory(&mut self) -> Vec<OwnedTensor> {
        let mut tensors: Vec<OwnedTensor> = Vec::new();
        for (kind, infos, values) in self.vectors() {
            tensors.extend(infos.iter().map(|info| OwnedTensor {
                name: format!("{kind}.{}", info.name),
                shape: info.shape.clone(),
                values: values[info.range.clone()].to_vec(),
            }));
        }
        let memory = self.optimizer.memory();
        for (name, values) in memory.slots {
            tensors.push(OwnedTensor::vector(format!("optimizer.{name}"), values.to_vec()));
        }
        if let Some(steps) = memory.steps {
            // Sixteen bits a number, which `f32` holds exactly.
            let words = [0, 16, 32, 48].map(|shift| (*steps >> shift & 0xffff) as f32);
            tensors.push(OwnedTensor::vector("optimizer.steps", words.to_vec()));
        }
        tensors
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
        let memory = self.optimizer.memory();
        for (name, values) in memory.slots {
            values.copy_from_slice(&wanted(file, &format!("optimizer.{name}"), count)?);
        }
        if let Some(steps) = memory.steps {
            let words = wanted(file, "optimizer.steps", 4)?;
            *steps = words.iter().rev().fold(0, |sum, &word| sum << 16 | word as u64);
        }
        Ok(())
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
        feed.foretell(&chosen, &[], PictureUse::Learning { epoch: 1 })?;
        let batch = feed.batch(&chosen, view, self.workspace.team())?;
        let pictures = batch.inputs.chunks_exact(rows * columns * channels);
        let picture = |inputs: &[f32]| {
            let pixels = inputs.iter().map(|&input| (input * 255.0).round() as u8).collect();
            Picture { rows, columns, channels, pixels }
        };
        Ok(pictures.map(picture).collect())
    }
}

/// Where the parameters lie that training changes.
fn trained_ranges(tensors: &[TensorInfo]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for tensor in tensors.iter().filter(|tensor| tensor.trainable) {
        match ranges.last_mut() {
            Some(last) if last.end == tensor.range.start => last.end = tensor.range.end,
            _ => ranges.push(tensor.range.clone()),
        }
    }
    ranges
}

#[cfg(test)]
mod tests;
