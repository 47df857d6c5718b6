//! What the training loop needs of a network: steps, scores, and everything it remembers.

use std::time::Instant;

use trainwright_networks::{BatchScore, NamedTensor, SafeTensors};
use trainwright_records::pictures::Picture;

use trainwright_study::Seed;

use crate::account::Told;
use crate::error::TrainError;
use crate::events::Activity;
use crate::predict::Predicted;
use crate::predict::trained::AboutNetwork;
use crate::train::stretch::{Plan, PlannedStep, Stretch, StretchResult};

/// A network with its data, its parameters and its optimiser.
pub(crate) trait Learner {
    /// How many examples there are to learn from.
    fn examples(&self) -> usize;

    /// The order in which the examples of `pool` come in an epoch.
    fn order(&self, _epoch: u32, seed: Seed, pool: &[u32]) -> Vec<u32> {
        seed.shuffled(pool.to_vec())
    }

    /// The steps that are made before the loop looks up again: at least one.
    fn next_stretch(&self, plan: &Plan<'_>) -> Vec<PlannedStep> {
        plan.steps(1)
    }

    /// Makes steps; a score that is not finite may leave the parameters as they were before its
    /// step, and ends the stretch.
    ///
    /// # Errors
    /// When an example cannot be read, or another rank is lost.
    fn stretch(&mut self, stretch: Stretch<'_>) -> Result<StretchResult, TrainError>;

    /// Scores examples without learning.
    ///
    /// # Errors
    /// When an example cannot be read.
    fn evaluate(&mut self, part: Part<'_>) -> Result<Evaluation, TrainError>;

    /// What each example of the test part is taken for.
    ///
    /// # Errors
    /// When an example cannot be read.
    fn predictions(&mut self) -> Result<Vec<Predicted>, TrainError>;

    /// The parameters, one after another.
    fn parameters(&self) -> Vec<f32>;

    /// Everything that a checkpoint keeps: parameters, state and the optimiser's memory.
    ///
    /// # Errors
    /// When a rank that has a part of it is lost.
    fn memory(&mut self) -> Result<Vec<OwnedTensor>, TrainError>;

    /// Puts back what [`Self::memory`] told.
    ///
    /// # Errors
    /// When the file lacks a tensor or has one of another shape.
    fn restore(&mut self, file: &SafeTensors) -> Result<(), TrainError>;

    /// The parameters as other programs want them.
    fn export(&self) -> Vec<OwnedTensor>;

    /// The network as an ONNX file.
    ///
    /// # Errors
    /// When ONNX has no such network.
    fn onnx(&self) -> Result<Vec<u8>, TrainError>;

    /// What a checkpoint tells about the network, so that it can be applied without its data.
    fn about(&self) -> Option<AboutNetwork> {
        None
    }

    /// Some pictures as they are learned from.
    ///
    /// # Errors
    /// When one cannot be read.
    fn samples(&mut self) -> Result<Vec<Picture>, TrainError> {
        Ok(Vec::new())
    }

    /// What each of the ranks that train together did with its time.
    ///
    /// # Errors
    /// When one is lost.
    fn account(&mut self) -> Result<Vec<Told>, TrainError>;

    /// Counts time that the loop has spent from a moment until now.
    fn spent(&mut self, activity: Activity, from: Instant);
}

/// Whether a step also measures the noise of its gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    No,
    AtNoise,
}

/// Examples to score.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    Test,
    /// Some of the training part.
    Training(&'a [u32]),
}

/// How well a part is predicted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evaluation {
    pub(crate) score: BatchScore,
    pub(crate) auc: Option<f64>,
}

/// A tensor with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OwnedTensor {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl OwnedTensor {
    /// A vector.
    pub(crate) fn vector(name: impl Into<String>, values: Vec<f32>) -> Self {
        Self { name: name.into(), shape: vec![values.len()], values }
    }

    /// The same, borrowed.
    pub(crate) fn borrowed(&self) -> NamedTensor<'_> {
        NamedTensor { name: self.name.clone(), shape: self.shape.clone(), values: &self.values }
    }
}

/// The numbers of a tensor that must be as many as expected.
///
/// # Errors
/// When there is no such tensor, or it has other numbers.
pub(crate) fn wanted(file: &SafeTensors, name: &str, count: usize) -> Result<Vec<f32>, TrainError> {
    let found = file.values(name);
    match found {
        Some(values) if values.len() == count => Ok(values),
        other => Err(TrainError::Tensor {
            name: name.to_owned(),
            expected: count,
            found: other.map(|values| values.len()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use trainwright_networks::write_safetensors;

    use super::*;

    fn file(tensors: &[OwnedTensor]) -> SafeTensors {
        let path = tempfile::NamedTempFile::new().unwrap();
        let borrowed: Vec<_> = tensors.iter().map(OwnedTensor::borrowed).collect();
        let mut bytes = Vec::new();
        write_safetensors(&mut bytes, &[].into(), &borrowed).unwrap();
        std::fs::write(path.path(), bytes).unwrap();
        SafeTensors::open(path.path()).unwrap()
    }

    #[test]
    fn a_tensor_of_another_length_or_none_is_refused_with_both_lengths() {
        let file = file(&[OwnedTensor::vector("w", vec![1.0, 2.5])]);
        assert_eq!(wanted(&file, "w", 2).unwrap(), [1.0, 2.5]);
        assert_eq!(
            wanted(&file, "w", 3).unwrap_err().to_string(),
            "tensor `w` has 2 numbers where 3 are needed"
        );
        assert_eq!(
            wanted(&file, "v", 3).unwrap_err().to_string(),
            "tensor `v` has no numbers where 3 are needed"
        );
    }

    #[test]
    fn a_tensor_without_numbers_is_there() {
        let file = file(&[OwnedTensor::vector("none", Vec::new())]);
        assert_eq!(wanted(&file, "none", 0).unwrap(), Vec::<f32>::new());
    }
}
