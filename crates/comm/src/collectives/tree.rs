//! All-reduce by pairs of ranks, along the tree of ranks.

use std::ops::Range;

use bytemuck::{cast_slice, must_cast_slice};

use crate::error::CommError;
use crate::group::Group;
use crate::leaves::{LeafTree, PartialSum};
use crate::transport::{Outgoing, Source};

impl Group {
    pub(super) fn tree_fixed(
        &mut self,
        tree: LeafTree,
        nodes: &[&[f32]],
        sum: &mut [f32],
    ) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        let mut partial = PartialSum::new(tree, sum.len());
        for (range, values) in tree.nodes_of(rank, size).into_iter().zip(nodes) {
            partial.add_copy(range, values);
        }
        let mut distance = 1;
        while distance < size {
            let tag = self.next_tag();
            if rank % (2 * distance) == distance {
                let parts: Vec<&[u8]> = partial.values().into_iter().map(must_cast_slice).collect();
                if !parts.is_empty() {
                    let sends = [Outgoing { to: rank - distance, parts: &parts }];
                    self.transport.exchange(tag, &sends, &mut [])?;
                }
                partial.clear();
            } else if rank % (2 * distance) == 0 && rank + distance < size {
                let last = (rank + 2 * distance).min(size) - 1;
                let held = tree.range(rank + distance, size).start..tree.range(last, size).end;
                self.receive_nodes(
                    tag,
                    rank + distance,
                    &tree.nodes_within(&[held]),
                    &mut partial,
                )?;
            }
            distance *= 2;
        }
        if let Some(root) = partial.values().first() {
            sum.copy_from_slice(root);
        }
        self.broadcast(sum, 0)
    }

    /// Receives nodes of these leaves and adds them.
    pub(super) fn receive_nodes(
        &mut self,
        tag: crate::transport::Tag,
        from: usize,
        nodes: &[Range<usize>],
        partial: &mut PartialSum,
    ) -> Result<(), CommError> {
        if nodes.is_empty() {
            return Ok(());
        }
        let mut buffers: Vec<Vec<f32>> = nodes.iter().map(|_| partial.buffer()).collect();
        let source = Source { from, parts: nodes.len() };
        let bytes = size_of_val(buffers[0].as_slice());
        self.transport.combine(tag, &[], &[source], bytes, &mut |offset, parts| {
            for (buffer, part) in buffers.iter_mut().zip(parts) {
                let part: &[f32] = cast_slice(part);
                buffer[offset / size_of::<f32>()..][..part.len()].copy_from_slice(part);
            }
        })?;
        for (range, buffer) in nodes.iter().zip(buffers) {
            partial.add(range.clone(), buffer);
        }
        Ok(())
    }
}
