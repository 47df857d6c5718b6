//! What ranks of a split network have of memory, told before any of it is allocated.
//!
//! Parameters, gradients, the optimiser's numbers and workspaces follow from the layers. Buffers of
//! exchanges are used again (`wire.rs`), so a step is gone through with their lengths alone, as
//! `grid.rs` and `stages.rs` make it.

use trainwright_networks::{Network, NetworkDescription};
use trainwright_study::JobSplit;

use super::circle::{BLOCK, share};
use super::refused;
use super::segment::{Room, SegmentCut, SegmentPlan, plan};
use super::stages::in_flight;
use crate::error::TrainError;

/// Bytes of a number.
const NUMBER: u64 = size_of::<f32>() as u64;

/// Bytes of the fullest rank of a network that is split, for batches of a size and an optimiser that
/// keeps so many numbers for each parameter; ranks have a thread each.
///
/// # Errors
/// When the network cannot be split so.
pub fn split_memory(
    network: &NetworkDescription,
    split: &JobSplit,
    (batch, optimizer_slots): (usize, u8),
) -> Result<u64, TrainError> {
    let whole = Network::new(network)?;
    let examples = batch.div_ceil((split.data as usize).max(1));
    let numbers = match &split.pipeline {
        Some(_) => stages(&whole, split, (examples, optimizer_slots))?,
        None => grid(&whole, split, (examples, optimizer_slots))?,
    };
    Ok(numbers * NUMBER)
}

/// Numbers of the fullest rank of a row.
fn grid(
    whole: &Network,
    split: &JobSplit,
    (examples, slots): (usize, u8),
) -> Result<u64, TrainError> {
    let tensor = (split.tensor as usize).max(1);
    let plans = plan(whole, &split.layers, tensor, &[])?;
    let mut fullest = 0;
    for place in 0..tensor {
        let room = Room { place, places: tensor, examples, workspaces: 1 };
        let mut numbers = 0;
        let mut parameters = Vec::new();
        for (at, own) in plans.iter().enumerate() {
            let (network, _) = own.network(room, at == 0)?;
            let count = network.parameter_count();
            parameters.push(count);
            numbers += count as u64 * (2 + u64::from(slots));
            numbers += network.workspace_bytes(own.examples_of(room), 1) / NUMBER;
        }
        let mut buffers = Buffers::default();
        let row = Row { place, ranks: tensor, columns: split.data as usize, examples };
        row.step(&plans, &parameters, &mut buffers);
        fullest = fullest.max(numbers + buffers.all);
    }
    Ok(fullest)
}

/// Numbers of the fullest stage.
fn stages(
    whole: &Network,
    split: &JobSplit,
    (examples, slots): (usize, u8),
) -> Result<u64, TrainError> {
    let Some(pipeline) = &split.pipeline else { return Err(refused("it has no stages")) };
    let plans = plan(whole, &[], 1, &pipeline.begins)?;
    let micro = (pipeline.micro_batches as usize).max(1);
    let count = plans.len();
    let mut fullest = 0;
    for (number, own) in plans.iter().enumerate() {
        let waiting = in_flight(pipeline.order, count, number, micro);
        let each = examples.div_ceil(micro);
        let room = Room { place: 0, places: 1, examples: each, workspaces: waiting };
        let (network, _) = own.network(room, number == 0)?;
        let parameters = network.parameter_count() as u64;
        // The sum of micro-batches has a buffer for each level of its tree, and one to write into.
        let levels = u64::from(micro.next_power_of_two().ilog2()) + 1;
        let workspaces = waiting as u64 * network.workspace_bytes(each, 1) / NUMBER;
        let (input, output) = ((each * own.widths.0) as u64, (each * own.widths.1) as u64);
        let is_last = number + 1 == count;
        let outputs = if is_last { waiting as u64 } else { 2 };
        let backs = u64::from(number > 0);
        let mut buffers = (waiting as u64 + backs) * input + outputs * output;
        if split.data > 1 {
            let mut sums = Buffers::default();
            sums.sum(network.parameter_count(), split.data as usize);
            buffers = buffers.max(sums.all);
        }
        fullest = fullest.max(parameters * (2 + u64::from(slots) + levels) + workspaces + buffers);
    }
    Ok(fullest)
}

/// Buffers by their lengths: those that wait, and numbers of all that there are.
#[derive(Debug, Default)]
struct Buffers {
    waiting: Vec<usize>,
    all: u64,
}

impl Buffers {
    /// A buffer that holds so many numbers: the smallest that does, else a new one. Gives its length.
    fn take(&mut self, length: usize) -> usize {
        let fitting = self.waiting.iter().enumerate().filter(|(_, own)| **own >= length);
        match fitting.min_by_key(|(_, own)| **own).map(|(at, _)| at) {
            Some(at) => self.waiting.swap_remove(at),
            None => {
                self.all += length as u64;
                length
            }
        }
    }

    fn give_back(&mut self, length: usize) {
        if length > 0 {
            self.waiting.push(length);
        }
    }

    /// The sum of so many numbers over ranks, block by block.
    fn sum(&mut self, numbers: usize, ranks: usize) {
        if ranks < 2 || numbers == 0 {
            return;
        }
        let part = numbers.min(BLOCK).div_ceil(ranks);
        let parts: Vec<usize> = (0..=ranks).map(|_| self.take(part)).collect();
        parts.into_iter().for_each(|part| self.give_back(part));
    }
}

/// A rank of a grid.
struct Row {
    place: usize,
    ranks: usize,
    /// Ranks with the same layers.
    columns: usize,
    examples: usize,
}

/// How many numbers a rank has of the inputs and outputs of a segment, and how many there are.
#[derive(Debug, Clone, Copy)]
struct Lengths {
    own: (usize, usize),
    whole: (usize, usize),
}

impl Row {
    fn lengths(&self, own: &SegmentPlan) -> Lengths {
        let columns = |width: usize| self.examples * share(width, self.ranks, self.place).len();
        let rows = |width: usize| share(self.examples, self.ranks, self.place).len() * width;
        let whole = (self.examples * own.widths.0, self.examples * own.widths.1);
        let own = match own.cut {
            SegmentCut::Whole => whole,
            SegmentCut::Outputs | SegmentCut::Directions => (whole.0, columns(own.widths.1)),
            SegmentCut::Inputs => (columns(own.widths.0), whole.1),
            SegmentCut::Samples => (rows(own.widths.0), rows(own.widths.1)),
        };
        Lengths { own, whole }
    }

    /// Takes and gives back the buffers of a step.
    fn step(&self, plans: &[SegmentPlan], parameters: &[usize], buffers: &mut Buffers) {
        let lengths: Vec<Lengths> = plans.iter().map(|own| self.lengths(own)).collect();
        let leaves = |at: usize| {
            let next = plans.get(at + 1).map(|own| own.cut);
            plans[at].cut == SegmentCut::Outputs && next == Some(SegmentCut::Inputs)
        };
        let Some(first) = lengths.first() else { return };
        let mut values = buffers.take(first.whole.0);
        let mut inputs = Vec::new();
        for (at, own) in lengths.iter().enumerate() {
            let gets = at > 0 && leaves(at - 1);
            if own.own.0 < own.whole.0 && !gets {
                values = buffers.exchanged(values, own.own.0);
            }
            if plans[at].cut == SegmentCut::Directions && self.place == 1 {
                // It reads its input backwards.
                values = buffers.exchanged(values, own.own.0);
            }
            inputs.push(values);
            values = buffers.take(own.own.1);
            match plans[at].cut {
                SegmentCut::Inputs => buffers.sum(own.whole.1, self.ranks),
                cut if cut.gives_columns() && !leaves(at) => {
                    values = buffers.gathered(values, own.whole.1, own.own.1);
                }
                SegmentCut::Samples => values = buffers.exchanged(values, own.whole.1),
                _ => {}
            }
        }
        for (at, own) in lengths.iter().enumerate().rev() {
            if own.own.1 < own.whole.1 && !leaves(at) {
                values = buffers.exchanged(values, own.own.1);
            }
            let back = if at > 0 { buffers.take(own.own.0) } else { 0 };
            buffers.give_back(inputs.pop().unwrap_or(0));
            buffers.give_back(std::mem::replace(&mut values, back));
            if at == 0 {
                break;
            }
            match plans[at].cut {
                cut if cut.gives_columns() => buffers.sum(own.whole.0, self.ranks),
                SegmentCut::Inputs if !leaves(at - 1) => {
                    values = buffers.gathered(values, own.whole.0, own.own.0);
                }
                SegmentCut::Samples => values = buffers.exchanged(values, own.whole.0),
                _ => {}
            }
        }
        for (own, &count) in plans.iter().zip(parameters) {
            if own.cut == SegmentCut::Samples {
                buffers.sum(count, self.ranks);
            }
            buffers.sum(count, self.columns);
        }
    }
}

impl Buffers {
    /// Another buffer in the place of one.
    fn exchanged(&mut self, one: usize, length: usize) -> usize {
        let other = self.take(length);
        self.give_back(one);
        other
    }

    /// Columns put together, beside those of one other rank at a time.
    fn gathered(&mut self, own: usize, whole: usize, part: usize) -> usize {
        let whole = self.take(whole);
        let theirs = self.take(part);
        self.give_back(theirs);
        self.give_back(own);
        whole
    }
}
