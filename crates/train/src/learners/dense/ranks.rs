//! The ranks that train one network together, and what they tell each other.
//!
//! Rank 0 runs the training loop and gives orders; the others follow them. Within a step all are
//! alike: each brings the gradients of its micro-batches, owns a piece of the parameters, updates
//! it and gives it to the others.

use std::time::Duration;

use trainwright_comm::{Group, LeafTree, Pieces};
use trainwright_networks::{BatchScore, NORM_BLOCK};

use super::micro_batches::Place;
use super::replica::Told;
use crate::error::TrainError;
use crate::events::RankTimes;
use crate::learners::learner::Look;

/// Tag of orders.
const ORDER: u64 = 1;

/// Most bytes of an account.
const LONGEST_ACCOUNT: usize = 4096;

/// How often a rank without an order looks whether the group is still whole.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// The other ranks, if any.
pub(super) struct Ranks {
    group: Option<Group>,
    pieces: Pieces,
}

/// What rank 0 has the others do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Order {
    /// Take over parameters, state and the optimiser's memory from rank 0.
    TakeOver,
    /// Make a step of so many examples, beginning at a place of the epoch's order.
    Step { epoch: u32, step: u64, at: u64, examples: u64, rate: f64, look: Look },
    /// Hand in what the optimiser remembers.
    HandIn,
    /// Tell what was done with the time.
    Account,
    /// Go home.
    End,
}

/// Bytes of an order.
const ORDER_BYTES: usize = 6 * size_of::<u64>();

impl Order {
    fn to_bytes(self) -> [u8; ORDER_BYTES] {
        let words: [u64; 6] = match self {
            Self::TakeOver => [0; 6],
            Self::Step { epoch, step, at, examples, rate, look } => {
                let kind = if look == Look::AtNoise { 2 } else { 1 };
                [kind, epoch.into(), step, at, examples, rate.to_bits()]
            }
            Self::HandIn => [3, 0, 0, 0, 0, 0],
            Self::Account => [4, 0, 0, 0, 0, 0],
            Self::End => [5, 0, 0, 0, 0, 0],
        };
        let mut bytes = [0; ORDER_BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(size_of::<u64>()).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; ORDER_BYTES]) -> Option<Self> {
        let mut words = [0_u64; 6];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(size_of::<u64>())) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        let [kind, epoch, step, at, examples, rate] = words;
        let look = if kind == 2 { Look::AtNoise } else { Look::No };
        Some(match kind {
            0 => Self::TakeOver,
            1 | 2 => {
                let (epoch, rate) = (u32::try_from(epoch).ok()?, f64::from_bits(rate));
                Self::Step { epoch, step, at, examples, rate, look }
            }
            3 => Self::HandIn,
            4 => Self::Account,
            5 => Self::End,
            _ => return None,
        })
    }
}

impl Ranks {
    /// Ranks for so many parameters; `None` for one that trains alone.
    pub(super) fn new(group: Option<Group>, parameters: usize) -> Self {
        let ranks = group.as_ref().map_or(1, Group::size);
        Self { group, pieces: Pieces::new(parameters, ranks, NORM_BLOCK) }
    }

    /// Which of them this is.
    pub(super) fn place(&self) -> Place {
        match &self.group {
            Some(group) => Place { rank: group.rank(), ranks: group.size() },
            None => Place::ALONE,
        }
    }

    /// The parameters that this rank owns.
    pub(super) fn own_piece(&self) -> std::ops::Range<usize> {
        self.pieces.range(self.place().rank)
    }

    /// Gives an order to all others.
    pub(super) fn tell(&mut self, order: Order) -> Result<(), TrainError> {
        let Some(group) = &mut self.group else { return Ok(()) };
        for rank in 1..group.size() {
            group.send(rank, ORDER, &order.to_bytes())?;
        }
        Ok(())
    }

    /// Waits for the next order, however long rank 0 is busy with other things.
    pub(super) fn hear(&mut self) -> Result<Order, TrainError> {
        let Some(group) = &mut self.group else { return Ok(Order::End) };
        while group.ready(&[0], LOOK_EVERY)?.is_none() {
            group.check()?;
        }
        let mut bytes = [0; ORDER_BYTES];
        group.receive(0, ORDER, &mut bytes)?;
        Order::from_bytes(&bytes).ok_or(TrainError::UnknownOrder)
    }

    /// What every micro-batch of a step told, in their order.
    pub(super) fn gather_told(
        &mut self,
        own: Vec<Told>,
        state: usize,
    ) -> Result<Vec<Told>, TrainError> {
        let Some(group) = &mut self.group else { return Ok(own) };
        let bytes: Vec<u8> = own.iter().flat_map(told_to_bytes).collect();
        let each = TOLD_BYTES + state * size_of::<f32>();
        let all = group.all_gather_bytes(&bytes, usize::MAX)?;
        Ok(all.iter().flat_map(|bytes| bytes.chunks_exact(each)).map(told_from_bytes).collect())
    }

    /// Adds up the gradients of all, and leaves to this rank those of its piece.
    pub(super) fn sum(
        &mut self,
        tree: LeafTree,
        nodes: &[&[f32]],
        own: &mut [f32],
    ) -> Result<(), TrainError> {
        match &mut self.group {
            Some(group) => group.reduce_scatter_nodes(tree, nodes, &self.pieces, own)?,
            None => own.copy_from_slice(nodes[0]),
        }
        Ok(())
    }

    /// The sum of the squares of all blocks, in their order, from those of each piece.
    pub(super) fn sum_squares(&mut self, own: Vec<f64>) -> Result<f64, TrainError> {
        let Some(group) = &mut self.group else { return Ok(own.iter().sum()) };
        let bytes: Vec<u8> = own.iter().flat_map(|square| square.to_le_bytes()).collect();
        let all = group.all_gather_bytes(&bytes, usize::MAX)?;
        Ok(all.iter().flat_map(|bytes| bytes.chunks_exact(size_of::<f64>())).map(number).sum())
    }

    /// Gives every rank the pieces of all others.
    pub(super) fn gather(&mut self, vector: &mut [f32]) -> Result<(), TrainError> {
        if let Some(group) = &mut self.group {
            group.all_gather(vector, &self.pieces)?;
        }
        Ok(())
    }

    /// Gives every rank the numbers of rank 0.
    pub(super) fn take_over(&mut self, vector: &mut [f32]) -> Result<(), TrainError> {
        if let Some(group) = &mut self.group {
            group.broadcast(vector, 0)?;
        }
        Ok(())
    }

    /// What all ranks did with their time, from what this one did.
    pub(super) fn account(&mut self, own: RankTimes) -> Result<Vec<RankTimes>, TrainError> {
        let Some(group) = &mut self.group else { return Ok(vec![own]) };
        let (rank, traffic) = (group.rank(), group.traffic());
        let own =
            RankTimes { rank, bytes_sent: traffic.sent, bytes_received: traffic.received, ..own };
        let text = serde_json::to_vec(&own).expect("numbers become JSON");
        let all = group.all_gather_bytes(&text, LONGEST_ACCOUNT)?;
        let read = |text: &Vec<u8>| serde_json::from_slice(text).ok();
        all.iter().map(|text| read(text).ok_or(TrainError::UnknownOrder)).collect()
    }
}

/// Bytes of what a micro-batch tells, without its statistics.
const TOLD_BYTES: usize = 4 * size_of::<u64>();

fn told_to_bytes(told: &Told) -> Vec<u8> {
    let BatchScore { loss_sum, correct, examples } = told.score;
    let words = [loss_sum.to_bits(), correct as u64, examples as u64, told.squared.to_bits()];
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend(told.statistics.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

fn told_from_bytes(bytes: &[u8]) -> Told {
    let (words, statistics) = bytes.split_at(TOLD_BYTES);
    let word = |place: usize| {
        let bytes = &words[place * size_of::<u64>()..(place + 1) * size_of::<u64>()];
        u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
    };
    let score = BatchScore {
        loss_sum: f64::from_bits(word(0)),
        correct: word(1) as usize,
        examples: word(2) as usize,
    };
    let statistics = statistics.chunks_exact(size_of::<f32>());
    let statistics =
        statistics.map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")));
    Told { score, squared: f64::from_bits(word(3)), statistics: statistics.collect() }
}

fn number(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were_given_and_others_are_refused() {
        let step =
            |look| Order::Step { epoch: 7, step: u64::MAX, at: 3, examples: 128, rate: 0.1, look };
        let orders =
            [Order::TakeOver, step(Look::No), step(Look::AtNoise), Order::HandIn, Order::Account];
        for order in orders.into_iter().chain([Order::End]) {
            assert_eq!(Order::from_bytes(&order.to_bytes()), Some(order));
        }
        assert_eq!(Order::from_bytes(&[9; ORDER_BYTES]), None);
    }

    #[test]
    fn what_a_micro_batch_told_arrives_to_the_bit() {
        let score = BatchScore { loss_sum: f64::NAN, correct: 3, examples: 9 };
        let told = Told { score, squared: 0.1 + 0.2, statistics: vec![f32::MIN_POSITIVE, -0.0] };
        let again = told_from_bytes(&told_to_bytes(&told));
        assert_eq!(format!("{again:?}"), format!("{told:?}"));
    }
}
