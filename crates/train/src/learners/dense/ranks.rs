//! The ranks that train one network together, and what they tell each other.
//!
//! Rank 0 runs the training loop and gives orders; the others follow them. Within a step all are
//! alike: each brings the gradients of its micro-batches, owns a piece of the parameters, updates
//! it and gives it to the others.

use std::time::Duration;

use trainwright_comm::{
    Algorithm, Buckets, CommError, Group, LeafTree, Order as SumOrder, OverlapTimes, Pieces,
    Traffic, Unfinished,
};
use trainwright_networks::{BatchScore, GradientSink, NORM_BLOCK, TensorInfo};

use super::exchange::WholeSum;
use super::micro_batches::Place;
use super::orders::{HEAD_BYTES, Order};
use super::replica::Told;
use crate::account::Told as Account;
use crate::error::TrainError;
use crate::events::RankTimes;

/// Tag of orders.
const ORDER: u64 = 1;

/// Most bytes of an account, whose timeline is bounded.
const LONGEST_ACCOUNT: usize = 1 << 24;

/// How often a rank without an order looks whether the group is still whole.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// The other ranks, if any.
pub(super) struct Ranks {
    group: Option<Group>,
    pieces: Pieces,
    /// What was moved in groups that came apart.
    earlier: Traffic,
}

impl Ranks {
    /// Ranks for so many parameters; `None` for one that trains alone.
    pub(super) fn new(group: Option<Group>, parameters: usize) -> Self {
        let ranks = group.as_ref().map_or(1, Group::size);
        let pieces = Pieces::new(parameters, ranks, NORM_BLOCK);
        Self { group, pieces, earlier: Traffic::default() }
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
    pub(super) fn tell(&mut self, order: &Order) -> Result<(), TrainError> {
        let Some(group) = &mut self.group else { return Ok(()) };
        let (head, more) = order.to_bytes();
        for rank in 1..group.size() {
            group.send(rank, ORDER, &head)?;
            if !more.is_empty() {
                group.send(rank, ORDER, &more)?;
            }
        }
        Ok(())
    }

    /// Waits for the next order, however long rank 0 is busy with other things.
    pub(super) fn hear(&mut self) -> Result<Order, TrainError> {
        let Some(group) = &mut self.group else { return Ok(Order::End) };
        while group.ready(&[0], LOOK_EVERY)?.is_none() {
            group.check()?;
        }
        let mut head = [0; HEAD_BYTES];
        group.receive(0, ORDER, &mut head)?;
        let mut more = vec![0; Order::more_bytes(&head).ok_or(TrainError::UnknownOrder)?];
        if !more.is_empty() {
            group.receive(0, ORDER, &mut more)?;
        }
        Order::from_bytes(&head, &more).ok_or(TrainError::UnknownOrder)
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

    /// Whether all ranks have the parameters of rank 0, tensor by tensor.
    ///
    /// # Errors
    /// The first rank and tensor that differ, on every rank; or a rank that is lost.
    pub(super) fn compare(
        &mut self,
        tensors: &[TensorInfo],
        parameters: &[f32],
    ) -> Result<(), TrainError> {
        let Some(group) = &mut self.group else { return Ok(()) };
        let sum = |tensor: &TensorInfo| checksum(&parameters[tensor.range.clone()]);
        let own: Vec<u8> = tensors.iter().flat_map(|tensor| sum(tensor).to_le_bytes()).collect();
        let all = group.all_gather_bytes(&own, own.len())?;
        let word = size_of::<u32>();
        for (rank, sums) in all.iter().enumerate() {
            let mut pairs = sums.chunks_exact(word).zip(all[0].chunks_exact(word));
            if let Some(place) = pairs.position(|(own, first)| own != first) {
                let tensor = tensors[place].name.clone();
                return Err(TrainError::Unequal { rank, tensor });
            }
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

    /// Adds up gradients bucket by bucket while `backward` computes those before them, and leaves
    /// to this rank those of its piece, within the vector.
    pub(super) fn sum_beside<R>(
        &mut self,
        buckets: &Buckets,
        gradients: &mut [f32],
        backward: impl FnOnce(&mut dyn GradientSink) -> R,
    ) -> Result<(R, OverlapTimes), TrainError> {
        let Self { group: Some(group), pieces, .. } = self else {
            unreachable!("who trains alone has nothing to add up");
        };
        let mut ranges = buckets.ranges().iter();
        let reduce = |group: &mut Group, bucket: &mut [f32]| match ranges.next() {
            Some(range) => group.reduce_scatter(bucket, &pieces.within(range)),
            None => Ok(()),
        };
        Ok(group.overlapped(buckets, gradients, reduce, |own| backward(&mut Finishing(own)))?)
    }

    /// Adds up the gradients of all in the fixed order, for every rank.
    pub(super) fn sum_everywhere(
        &mut self,
        tree: LeafTree,
        nodes: &[&[f32]],
        sum: &mut [f32],
    ) -> Result<(), TrainError> {
        match &mut self.group {
            Some(group) => group.all_reduce_nodes(tree, nodes, sum, Algorithm::Sharded)?,
            None => sum.copy_from_slice(nodes[0]),
        }
        Ok(())
    }

    /// Adds up what each rank has added up by itself, for every rank.
    pub(super) fn sum_whole(
        &mut self,
        how: &mut WholeSum,
        values: &mut [f32],
    ) -> Result<(), TrainError> {
        match &mut self.group {
            Some(group) => how.add_up(group, values),
            None => Ok(()),
        }
    }

    /// Replaces numbers by their mean over all ranks, of which this one has a weight.
    pub(super) fn average(&mut self, values: &mut [f32], weight: f32) -> Result<(), TrainError> {
        if let Some(group) = &mut self.group {
            values.iter_mut().for_each(|value| *value *= weight);
            group.all_reduce(values, Algorithm::Sharded, SumOrder::Fixed)?;
        }
        Ok(())
    }

    /// The largest of the numbers of all ranks.
    pub(super) fn largest(&mut self, own: u64) -> Result<u64, TrainError> {
        let Some(group) = &mut self.group else { return Ok(own) };
        let all = group.all_gather_bytes(&own.to_le_bytes(), size_of::<u64>())?;
        let read = all.iter().filter_map(|bytes| Some(u64::from_le_bytes(*bytes.first_chunk()?)));
        Ok(read.max().unwrap_or(own))
    }

    /// The scores of the steps of a stretch, of each rank.
    pub(super) fn gather_scores(
        &mut self,
        own: &[BatchScore],
    ) -> Result<Vec<Vec<BatchScore>>, TrainError> {
        let Some(group) = &mut self.group else { return Ok(vec![own.to_vec()]) };
        let bytes: Vec<u8> = own.iter().flat_map(|score| score_to_bytes(*score)).collect();
        let all = group.all_gather_bytes(&bytes, bytes.len())?;
        Ok(all
            .iter()
            .map(|bytes| bytes.chunks_exact(SCORE_BYTES).map(score_of).collect())
            .collect())
    }

    /// A vector of each rank.
    pub(super) fn gather_vectors(&mut self, own: &[f32]) -> Result<Vec<Vec<f32>>, TrainError> {
        let Some(group) = &mut self.group else { return Ok(vec![own.to_vec()]) };
        let all = group.all_gather_equal(own)?;
        Ok(all.chunks_exact(own.len().max(1)).map(<[f32]>::to_vec).collect())
    }

    /// Whether the group is whole, as far as this rank has heard.
    pub(super) fn check(&self) -> Result<(), CommError> {
        self.group.as_ref().map_or(Ok(()), Group::check)
    }

    /// Forms a group with the survivors after a loss.
    pub(super) fn regroup(&mut self) -> Result<(), TrainError> {
        let Some(group) = self.group.take() else { return Ok(()) };
        let moved = group.traffic();
        self.earlier.sent += moved.sent;
        self.earlier.received += moved.received;
        self.earlier.messages += moved.messages;
        let group = group.regroup()?;
        self.pieces = Pieces::new(self.pieces.length(), group.size(), NORM_BLOCK);
        self.group = Some(group);
        Ok(())
    }

    /// What all ranks did with their time, from what this one did.
    pub(super) fn account(&mut self, own: Account) -> Result<Vec<Account>, TrainError> {
        let Some(group) = &mut self.group else { return Ok(vec![own]) };
        let (moved, before) = (group.traffic(), self.earlier);
        let times = RankTimes {
            rank: group.rank(),
            bytes_sent: before.sent + moved.sent,
            bytes_received: before.received + moved.received,
            messages: before.messages + moved.messages,
            ..own.times
        };
        let text = serde_json::to_vec(&Account { times, ..own }).expect("numbers become JSON");
        let all = group.all_gather_bytes(&text, LONGEST_ACCOUNT)?;
        let read = |text: &Vec<u8>| serde_json::from_slice(text).ok();
        all.iter().map(|text| read(text).ok_or(TrainError::UnknownOrder)).collect()
    }
}

/// Gradients that are handed over to be added up as they become final.
struct Finishing<'a, 'b>(&'a mut Unfinished<'b>);

impl GradientSink for Finishing<'_, '_> {
    fn open(&mut self) -> &mut [f32] {
        self.0.values()
    }

    fn final_from(&mut self, start: usize) {
        self.0.finished_from(start);
    }
}

/// The checksum of some numbers.
fn checksum(values: &[f32]) -> u32 {
    let mut bytes = [0; 4096];
    values.chunks(bytes.len() / size_of::<f32>()).fold(0, |sum, values| {
        for (bytes, value) in bytes.chunks_exact_mut(size_of::<f32>()).zip(values) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        crc32c::crc32c_append(sum, &bytes[..size_of_val(values)])
    })
}

/// Bytes of a score.
const SCORE_BYTES: usize = 3 * size_of::<u64>();

/// Bytes of what a micro-batch tells, without its statistics.
const TOLD_BYTES: usize = SCORE_BYTES + size_of::<f64>();

fn score_to_bytes(score: BatchScore) -> impl Iterator<Item = u8> {
    let BatchScore { loss_sum, correct, examples } = score;
    [loss_sum.to_bits(), correct as u64, examples as u64].into_iter().flat_map(u64::to_le_bytes)
}

fn score_of(bytes: &[u8]) -> BatchScore {
    let word = |place: usize| {
        let bytes = &bytes[place * size_of::<u64>()..(place + 1) * size_of::<u64>()];
        u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
    };
    let (correct, examples) = (word(1) as usize, word(2) as usize);
    BatchScore { loss_sum: f64::from_bits(word(0)), correct, examples }
}

fn told_to_bytes(told: &Told) -> Vec<u8> {
    let mut bytes: Vec<u8> = score_to_bytes(told.score).collect();
    bytes.extend(told.squared.to_le_bytes());
    bytes.extend(told.statistics.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

fn told_from_bytes(bytes: &[u8]) -> Told {
    let (words, statistics) = bytes.split_at(TOLD_BYTES);
    let (score, squared) = words.split_at(SCORE_BYTES);
    let statistics = statistics.chunks_exact(size_of::<f32>());
    let statistics =
        statistics.map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")));
    let (score, squared) = (score_of(score), number(squared));
    Told { score, squared, statistics: statistics.collect() }
}

fn number(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use trainwright_networks::Network;

    use super::*;

    #[test]
    fn a_rank_whose_parameters_differ_is_named_with_the_tensor() {
        let network = Network::perceptron(5, &[3], 2).unwrap();
        let count = network.parameter_count();
        let tensors = network.tensors();
        let compared = |spoilt: Option<usize>| -> Vec<Result<(), TrainError>> {
            std::thread::scope(|scope| {
                let ranks = Group::threads(3).into_iter().map(|group| {
                    scope.spawn(move || {
                        let mut parameters = vec![0.5; count];
                        if let Some(place) = spoilt.filter(|_| group.rank() == 2) {
                            parameters[place] = 0.500_000_06;
                        }
                        Ranks::new(Some(group), count).compare(tensors, &parameters)
                    })
                });
                let ranks: Vec<_> = ranks.collect();
                ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
            })
        };
        assert!(compared(None).iter().all(Result::is_ok));
        for (place, tensor) in [(0, &tensors[0]), (count - 1, &tensors[3])] {
            for result in compared(Some(place)) {
                let told = result.unwrap_err().to_string();
                assert!(told.contains("rank 2") && told.contains(&tensor.name), "{told}");
            }
        }
    }

    #[test]
    fn what_a_micro_batch_told_arrives_to_the_bit() {
        let score = BatchScore { loss_sum: f64::NAN, correct: 3, examples: 9 };
        let told = Told { score, squared: 0.1 + 0.2, statistics: vec![f32::MIN_POSITIVE, -0.0] };
        let again = told_from_bytes(&told_to_bytes(&told));
        assert_eq!(format!("{again:?}"), format!("{told:?}"));
    }
}
