//! What a network and its optimiser remember: between ranks, and in checkpoints.

use trainwright_networks::{SafeTensors, TensorInfo};

use super::DenseLearner;
use super::orders::Order;
use crate::error::TrainError;
use crate::learners::learner::{OwnedTensor, wanted};
use crate::{PARAMETERS, STATE};

/// What the optimisers of all pieces remember.
pub(super) struct OptimizerVectors {
    slots: Vec<(&'static str, Vec<f32>)>,
    steps: Option<u64>,
}

impl DenseLearner<'_> {
    /// Everything that a checkpoint keeps.
    pub(super) fn kept(&mut self) -> Result<Vec<OwnedTensor>, TrainError> {
        let mut tensors: Vec<OwnedTensor> = Vec::new();
        for (kind, infos, values) in self.vectors() {
            tensors.extend(infos.iter().map(|info| OwnedTensor {
                name: format!("{kind}.{}", info.name),
                shape: info.shape.clone(),
                values: values[info.range.clone()].to_vec(),
            }));
        }
        self.ranks.tell(&Order::HandIn)?;
        let OptimizerVectors { slots, steps } = self.optimizer_memory()?;
        let named = |(name, values)| OwnedTensor::vector(format!("optimizer.{name}"), values);
        tensors.extend(slots.into_iter().map(named));
        if let Some(steps) = steps {
            let words = steps_to_words(steps).to_vec();
            tensors.push(OwnedTensor::vector("optimizer.steps", words));
        }
        Ok(tensors)
    }

    /// Puts back what [`Self::kept`] told.
    pub(super) fn put_back(&mut self, file: &SafeTensors) -> Result<(), TrainError> {
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
        self.ranks.tell(&Order::TakeOver)?;
        self.take_over(Some((vectors, steps)))
    }

    /// All that the optimiser remembers, of all ranks' pieces: vectors by name, and its steps.
    pub(super) fn optimizer_memory(&mut self) -> Result<OptimizerVectors, TrainError> {
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
    pub(super) fn take_over(
        &mut self,
        memory: Option<(Vec<Vec<f32>>, u64)>,
    ) -> Result<(), TrainError> {
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
    pub(super) fn hand_over(&mut self) -> Result<(), TrainError> {
        if self.handed_over {
            return Ok(());
        }
        self.ranks.tell(&Order::TakeOver)?;
        self.take_over(None)
    }
}

/// A count as numbers of sixteen bits, which `f32` holds exactly.
pub(super) fn steps_to_words(steps: u64) -> [f32; 4] {
    [0, 16, 32, 48].map(|shift| (steps >> shift & 0xffff) as f32)
}

pub(super) fn words_to_steps(words: &[f32]) -> u64 {
    words.iter().rev().fold(0, |sum, &word| sum << 16 | word as u64)
}
