//! What a network, its optimiser and its exchange remember: between ranks, and in checkpoints.

use std::time::Instant;

use trainwright_networks::{SafeTensors, TensorInfo};

use super::DenseLearner;
use super::drifting::Drift;
use super::exchange::{Exchange, WholeSum};
use super::orders::Order;
use crate::error::TrainError;
use crate::events::Activity;
use crate::learners::learner::{OwnedTensor, wanted};
use crate::{PARAMETERS, STATE};

/// The velocity of averages in a checkpoint.
const VELOCITY: &str = "outer.velocity";

/// What a rank has not sent so far, in a checkpoint; its rank follows.
const RESIDUAL: &str = "residual";

/// What ranks remember beside parameters and state, whole.
pub(super) struct Memory {
    /// What the optimisers of all pieces remember.
    slots: Vec<(&'static str, Vec<f32>)>,
    steps: Option<u64>,
    /// What each rank has not sent so far.
    residuals: Vec<Vec<f32>>,
}

/// What rank 0 has read from a checkpoint and gives to the others.
#[derive(Default)]
pub(super) struct Restored {
    slots: Vec<Vec<f32>>,
    steps: u64,
    residuals: Vec<Vec<f32>>,
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
        let Memory { slots, steps, residuals } = self.with_survivors(|own| {
            own.hand_over()?;
            own.ranks.tell(&Order::HandIn)?;
            own.gathered_memory()
        })?;
        let named = |(name, values)| OwnedTensor::vector(format!("optimizer.{name}"), values);
        tensors.extend(slots.into_iter().map(named));
        if let Some(steps) = steps {
            let words = steps_to_words(steps).to_vec();
            tensors.push(OwnedTensor::vector("optimizer.steps", words));
        }
        let named = |(rank, values)| OwnedTensor::vector(format!("{RESIDUAL}.{rank}"), values);
        tensors.extend(residuals.into_iter().enumerate().map(named));
        if let Exchange::Drifting(Drift { outer: Some(outer), .. }) = &self.exchange {
            tensors.push(OwnedTensor::vector(VELOCITY, outer.velocity.clone()));
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
        let slots = slots.map(|(name, _)| wanted(file, &format!("optimizer.{name}"), count));
        let slots = slots.collect::<Result<_, _>>()?;
        let steps = match memory.steps {
            Some(_) => words_to_steps(&wanted(file, "optimizer.steps", 4)?),
            None => 0,
        };
        // A job may have been kept under a strategy that has none of these.
        if let Exchange::Drifting(Drift { outer: Some(outer), .. }) = &mut self.exchange
            && let Some(velocity) = file.values(VELOCITY).filter(|own| own.len() == count)
        {
            outer.velocity = velocity;
        }
        let residuals = (0..).map_while(|rank| file.values(&format!("{RESIDUAL}.{rank}")));
        let residuals = residuals.take_while(|own| own.len() == count).collect();
        self.ranks.tell(&Order::TakeOver)?;
        self.take_over(Some(Restored { slots, steps, residuals }))
    }

    /// What all ranks remember; only rank 0 needs it, but all take part.
    pub(super) fn gathered_memory(&mut self) -> Result<Memory, TrainError> {
        let (count, piece) = (self.parameters.len(), self.updater.piece());
        let memory = self.updater.optimizer().memory();
        let steps = memory.steps.map(|steps| *steps);
        let mut slots = Vec::new();
        for (name, values) in memory.slots {
            let mut whole = vec![0.0; count];
            whole[piece.clone()].copy_from_slice(values);
            if self.exchange.is_owned() {
                self.ranks.gather(&mut whole)?;
            }
            slots.push((name, whole));
        }
        let residuals = match &self.exchange {
            Exchange::Whole(WholeSum::Top(top)) => self.ranks.gather_vectors(top.residual())?,
            _ => Vec::new(),
        };
        Ok(Memory { slots, steps, residuals })
    }

    /// Gives the other ranks what rank 0 has, or takes it from there. `restored` is what rank 0 has
    /// read; without it the optimiser of rank 0 is as it is, where it knows all pieces, else new.
    pub(super) fn take_over(&mut self, restored: Option<Restored>) -> Result<(), TrainError> {
        let Self { ranks, parameters, state, updater, exchange, .. } = self;
        ranks.take_over(parameters)?;
        ranks.take_over(state)?;
        let (count, piece) = (parameters.len(), updater.piece());
        let keeps = restored.is_none() && !exchange.is_owned();
        let Restored { slots, steps, residuals } = restored.unwrap_or_default();
        let mut slots = slots.into_iter();
        let own = updater.optimizer().memory();
        for (_, values) in own.slots {
            let mut whole = match slots.next() {
                Some(whole) => whole,
                None if keeps => values.to_vec(),
                None => vec![0.0; count],
            };
            ranks.take_over(&mut whole)?;
            values.copy_from_slice(&whole[piece.clone()]);
        }
        // Sixteen bits a number, which `f32` holds exactly.
        let known = own.steps.as_deref().copied().filter(|_| keeps);
        let mut words = steps_to_words(known.unwrap_or(steps));
        ranks.take_over(&mut words)?;
        if let Some(steps) = own.steps {
            *steps = words_to_steps(&words);
        }
        self.take_over_exchange(residuals)?;
        self.handed_over = true;
        Ok(())
    }

    /// The part of [`Self::take_over`] that only some exchanges have.
    fn take_over_exchange(&mut self, residuals: Vec<Vec<f32>>) -> Result<(), TrainError> {
        let (place, count) = (self.ranks.place(), self.parameters.len());
        match &mut self.exchange {
            Exchange::Drifting(Drift { outer: Some(outer), .. }) => {
                self.ranks.take_over(&mut outer.velocity)?;
            }
            Exchange::Whole(WholeSum::Top(top)) => {
                let mut dealt = dealt_out(residuals, place.ranks, count).into_iter();
                for rank in 0..place.ranks {
                    let mut own = dealt.next().unwrap_or_else(|| vec![0.0; count]);
                    self.ranks.take_over(&mut own)?;
                    if rank == place.rank {
                        top.restore(&own);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Hands over what this rank has, unless the others have it.
    pub(super) fn hand_over(&mut self) -> Result<(), TrainError> {
        if self.handed_over {
            return Ok(());
        }
        let start = Instant::now();
        self.ranks.tell(&Order::TakeOver)?;
        self.take_over(None)?;
        self.account.spent(Activity::Communication, start, start.elapsed());
        Ok(())
    }
}

/// What was not sent, for as many ranks as there are now: each its own where they are as many as
/// before, else all of it for the first.
fn dealt_out(residuals: Vec<Vec<f32>>, ranks: usize, count: usize) -> Vec<Vec<f32>> {
    if residuals.len() == ranks {
        return residuals;
    }
    let mut sum = vec![0.0; count];
    for own in residuals {
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    vec![sum]
}

/// A count as numbers of sixteen bits, which `f32` holds exactly.
pub(super) fn steps_to_words(steps: u64) -> [f32; 4] {
    [0, 16, 32, 48].map(|shift| (steps >> shift & 0xffff) as f32)
}

pub(super) fn words_to_steps(words: &[f32]) -> u64 {
    words.iter().rev().fold(0, |sum, &word| sum << 16 | word as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_as_numbers() {
        for steps in [0, 1, 65_535, 65_536, u64::MAX, 0x0123_4567_89ab_cdef] {
            assert_eq!(words_to_steps(&steps_to_words(steps)), steps);
        }
    }

    #[test]
    fn what_was_not_sent_is_lost_with_no_number_of_ranks() {
        let kept = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
        assert_eq!(dealt_out(kept.clone(), 2, 2), kept);
        assert_eq!(dealt_out(kept, 3, 2), [[4.0, 6.0]]);
        assert_eq!(dealt_out(Vec::new(), 3, 2), [[0.0, 0.0]]);
    }
}
