//! All-reduce around a ring, in the ring's own order or in the fixed one.

use std::ops::Range;

use bytemuck::{cast_slice, must_cast_slice};

use crate::error::CommError;
use crate::group::Group;
use crate::leaves::{LeafTree, PartialSum};
use crate::pieces::Pieces;
use crate::transport::{Outgoing, Source};

impl Group {
    /// Each piece begins its way after its owner, is added to at each rank, ends at its owner and
    /// is then handed around.
    pub(super) fn ring_fast(
        &mut self,
        values: &mut [f32],
        pieces: &Pieces,
    ) -> Result<(), CommError> {
        let size = self.size();
        for step in 0..size - 1 {
            self.ring_step(values, pieces, Ring::adding(self.rank(), size, step), add)?;
        }
        for step in 0..size - 1 {
            self.ring_step(
                values,
                pieces,
                Ring::handing(self.rank(), size, step),
                <[f32]>::copy_from_slice,
            )?;
        }
        Ok(())
    }

    /// Sends one piece to the next rank and takes another from the one before.
    fn ring_step(
        &mut self,
        values: &mut [f32],
        pieces: &Pieces,
        step: Ring,
        take: fn(&mut [f32], &[f32]),
    ) -> Result<(), CommError> {
        let mut cut = pieces.split_mut(values);
        let into = std::mem::take(&mut cut[step.comes]);
        let parts = [must_cast_slice(&*cut[step.goes])];
        let sends = [Outgoing { to: step.next, parts: &parts }];
        let sends = if parts[0].is_empty() { &[][..] } else { &sends };
        let sources = [Source { from: step.previous, parts: 1 }];
        let sources = if into.is_empty() { &[][..] } else { &sources };
        let (tag, bytes) = (self.next_tag(), size_of_val(into));
        self.transport.combine(tag, sends, sources, bytes, &mut |offset, parts| {
            let part: &[f32] = cast_slice(parts[0]);
            take(&mut into[offset / size_of::<f32>()..][..part.len()], part);
        })
    }

    /// The first half, with nodes instead of sums: each rank adds what makes up a larger node and
    /// hands on the rest. Leaves to each rank the sum of its own piece.
    pub(super) fn ring_fixed(
        &mut self,
        tree: LeafTree,
        nodes: &[&[f32]],
        pieces: &Pieces,
        sum: &mut [f32],
    ) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        let own = tree.nodes_of(rank, size);
        let share = |piece: usize| {
            let mut partial = PartialSum::new(tree, pieces.range(piece).len());
            for (range, node) in own.iter().zip(nodes) {
                partial.add_copy(range.clone(), &node[pieces.range(piece)]);
            }
            partial
        };
        let mut going = share(Ring::adding(rank, size, 0).goes);
        for step in 0..size - 1 {
            let ring = Ring::adding(rank, size, step);
            let mut coming = share(ring.comes);
            let expected = tree.nodes_within(&held(tree, size, ring.comes, ring.previous));
            self.ring_nodes(ring, &going, &expected, &mut coming)?;
            going = coming;
        }
        sum[pieces.range(rank)].copy_from_slice(going.values()[0]);
        Ok(())
    }

    fn ring_nodes(
        &mut self,
        ring: Ring,
        going: &PartialSum,
        expected: &[Range<usize>],
        coming: &mut PartialSum,
    ) -> Result<(), CommError> {
        let parts: Vec<&[u8]> = going.values().into_iter().map(must_cast_slice).collect();
        let filled = parts.first().is_some_and(|part| !part.is_empty());
        let sends = [Outgoing { to: ring.next, parts: &parts }];
        let sends = if filled { &sends[..] } else { &[] };
        let mut buffers: Vec<Vec<f32>> = expected.iter().map(|_| coming.buffer()).collect();
        let bytes = buffers.first().map_or(0, |buffer| size_of_val(buffer.as_slice()));
        let sources = [Source { from: ring.previous, parts: expected.len() }];
        let sources = if bytes > 0 { &sources[..] } else { &[] };
        let tag = self.next_tag();
        self.transport.combine(tag, sends, sources, bytes, &mut |offset, parts| {
            for (buffer, part) in buffers.iter_mut().zip(parts) {
                let part: &[f32] = cast_slice(part);
                buffer[offset / size_of::<f32>()..][..part.len()].copy_from_slice(part);
            }
        })?;
        for (range, buffer) in expected.iter().zip(buffers) {
            coming.add(range.clone(), buffer);
        }
        Ok(())
    }
}

/// Which pieces go and come in a step, and where.
#[derive(Clone, Copy)]
struct Ring {
    next: usize,
    previous: usize,
    goes: usize,
    comes: usize,
}

impl Ring {
    fn adding(rank: usize, size: usize, step: usize) -> Self {
        Self::at(rank, size, rank + 2 * size - 1 - step)
    }

    fn handing(rank: usize, size: usize, step: usize) -> Self {
        Self::at(rank, size, rank + size - step)
    }

    fn at(rank: usize, size: usize, goes: usize) -> Self {
        let previous = (rank + size - 1) % size;
        Self {
            next: (rank + 1) % size,
            previous,
            goes: goes % size,
            comes: (goes + size - 1) % size,
        }
    }
}

/// The leaves that a piece has met when it leaves a rank: those of the ranks after its owner, up to
/// this one.
fn held(tree: LeafTree, size: usize, piece: usize, rank: usize) -> Vec<Range<usize>> {
    let of = |ranks: Range<usize>| {
        let start =
            if ranks.start < size { tree.range(ranks.start, size).start } else { tree.leaves() };
        let end = if ranks.end > 0 { tree.range(ranks.end - 1, size).end } else { 0 };
        start..end.max(start)
    };
    if rank > piece {
        vec![of(piece + 1..rank + 1)]
    } else {
        vec![of(0..rank + 1), of(piece + 1..size)]
    }
}

fn add(into: &mut [f32], values: &[f32]) {
    for (into, value) in into.iter_mut().zip(values) {
        *into += value;
    }
}
