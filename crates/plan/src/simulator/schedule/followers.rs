//! Tasks that become ready at one moment, one after another in the order of their keys.
//!
//! The messages of a part on one edge, and the sums, updates or handings out of a shard, stand in the
//! queue as the first of them that was not served: the next takes its place. So a queue is much shorter
//! than what is ready, and the next is mostly at its head already.

use crate::simulator::pairs::{Pair, ReadPair};
use crate::simulator::shape::{EdgeTasks, Shape};
use crate::simulator::task::{Kind, key, kind_of, low_of, owner_of, two_parts};

/// Key and place of the message forward of a pair that is at this place of its table.
pub(super) fn forward_message(
    own: &EdgeTasks,
    edge: u32,
    (at, pair): (usize, &Pair),
) -> (u64, u32) {
    let low = two_parts(pair.source, pair.reader);
    (key(Kind::MoveForward, edge, low), own.block.base + 2 * at as u32)
}

/// Key and place of the message back from a reader.
pub(super) fn backward_message(
    own: &EdgeTasks,
    edge: u32,
    (read, reader): (&ReadPair, u16),
) -> (u64, u32) {
    let low = two_parts(read.source, reader);
    (key(Kind::MoveBackward, edge, low), own.block.base + 2 * read.pair + 1)
}

/// Key and place of the task that follows one in the queue.
#[inline]
pub(super) fn next(shape: &Shape<'_>, (own_key, place): (u64, u32)) -> Option<(u64, u32)> {
    match kind_of(own_key) {
        Kind::Forward | Kind::Backward => None,
        Kind::MoveForward => next_forward(shape, owner_of(own_key), place),
        Kind::MoveBackward => next_backward(shape, owner_of(own_key), place),
        kind => next_of_shard(shape, (kind, own_key), place),
    }
}

fn next_forward(shape: &Shape<'_>, edge: usize, place: u32) -> Option<(u64, u32)> {
    let devices = shape.problem.devices();
    let (ends, own) = (&shape.problem.edges[edge], &shape.edges[edge]);
    let table = &shape.tables[own.table as usize];
    let at = (place - own.block.base) as usize / 2;
    let source = table.pairs[at].source as usize;
    let here = shape.device[ends.from as usize * devices + source];
    let there = &shape.device[ends.to as usize * devices..];
    let rest = at + 1..table.pairs_of_source(source).end;
    let mut rest = table.pairs[rest.clone()].iter().zip(rest);
    let (pair, at) = rest.find(|(pair, _)| there[pair.reader as usize] != here)?;
    Some(forward_message(own, edge as u32, (at, pair)))
}

fn next_backward(shape: &Shape<'_>, edge: usize, place: u32) -> Option<(u64, u32)> {
    let devices = shape.problem.devices();
    let (ends, own) = (&shape.problem.edges[edge], &shape.edges[edge]);
    let table = &shape.tables[own.table as usize];
    let Pair { reader, read_at, .. } = table.pairs[(place - own.block.base) as usize / 2];
    let here = shape.device[ends.to as usize * devices + reader as usize];
    let there = &shape.device[ends.from as usize * devices..];
    let end = table.of_reader[reader as usize + 1] as usize;
    let mut rest = table.by_reader[read_at as usize + 1..end].iter();
    let read = rest.find(|read| there[read.source as usize] != here)?;
    Some(backward_message(own, edge as u32, (read, reader)))
}

fn next_of_shard(
    shape: &Shape<'_>,
    (kind, own_key): (Kind, u64),
    place: u32,
) -> Option<(u64, u32)> {
    let group = &shape.groups[owner_of(own_key)];
    let shard = &group.shards[low_of(own_key) / shape.problem.devices()];
    let end = match kind {
        Kind::Sum => shard.sum_tasks().end,
        Kind::Update => shard.update_tasks().end,
        _ => shard.hand_out_tasks().end,
    };
    (place + 1 < end).then_some((own_key + 1, place + 1))
}
