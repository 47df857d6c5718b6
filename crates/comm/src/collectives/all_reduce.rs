//! All-reduce: every rank gets the sum of the vectors of all.

use super::expect_length;
use crate::error::CommError;
use crate::group::Group;
use crate::leaves::{Completion, LeafTree};
use crate::pieces::Pieces;

/// How an all-reduce goes about. K numbers, N ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// All send to rank 0, which adds up and sends to all. The first rank moves 2K(N-1).
    Naive,
    /// Each piece goes around a ring and is added to at each rank, then around again. A rank sends
    /// 2K(N-1)/N in 2(N-1) messages; with [`Order::Fixed`] and more than two ranks, more, for then
    /// up to log2 N nodes go around for each piece.
    Ring,
    /// Ranks add up by pairs along the tree, and the sum goes down again: 2 log2 N steps of K.
    Tree,
    /// Each rank adds up its own piece of all and sends it to all: 2K(N-1)/N in 2(N-1) messages,
    /// all of a half at once.
    Sharded,
}

/// In which order numbers are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As [`LeafTree`] says: the same bits with every algorithm and transport, and for any number
    /// of ranks that share the same leaves.
    Fixed,
    /// As is fastest for the algorithm. It matters for [`Algorithm::Ring`] only, which adds each
    /// piece in the order of the ring, beginning after its owner: the bits then depend on the
    /// number of ranks and on where the pieces are cut. All ranks still get the same bits.
    Fast,
}

impl Group {
    /// Replaces every rank's vector by the sum over the ranks.
    ///
    /// # Errors
    /// Where a rank is lost or calls with another length.
    pub fn all_reduce(
        &mut self,
        values: &mut [f32],
        algorithm: Algorithm,
        order: Order,
    ) -> Result<(), CommError> {
        let pieces = Pieces::new(values.len(), self.size(), Pieces::ALIGN);
        match (algorithm, order) {
            (Algorithm::Naive, _) => {
                let pieces = Pieces::all_to_the_first(values.len(), self.size());
                self.reduce_scatter(values, &pieces)?;
                self.all_gather(values, &pieces)
            }
            (Algorithm::Ring, Order::Fast) => self.ring_fast(values, &pieces),
            (Algorithm::Ring | Algorithm::Tree, _) => {
                let own = values.to_vec();
                let tree = LeafTree::new(self.size());
                self.all_reduce_nodes(tree, &[&own], values, algorithm)
            }
            (Algorithm::Sharded, _) => self.sharded(values, &pieces),
        }
    }

    /// Both halves: in one go where ranks share memory, for then each number is read and written
    /// once where it is.
    fn sharded(&mut self, values: &mut [f32], pieces: &Pieces) -> Result<(), CommError> {
        let (rank, size, tag) = (self.rank(), self.size(), self.next_tag());
        let leaves: Vec<_> = (0..size).map(|leaf| leaf..leaf + 1).collect();
        let completion = Completion::new(LeafTree::new(size), &leaves);
        let mut add_up = |all: &mut [&mut [f32]]| completion.sum_everywhere(all);
        if let Some(done) =
            self.transport.put_together(tag, values, pieces.range(rank), &mut add_up)
        {
            return done;
        }
        self.reduce_scatter(values, pieces)?;
        self.all_gather(values, pieces)
    }

    /// Gives every rank the sum of all leaves, in the fixed order.
    ///
    /// # Errors
    /// Where a rank is lost, or a vector has another length than the others.
    pub fn all_reduce_nodes(
        &mut self,
        tree: LeafTree,
        nodes: &[&[f32]],
        sum: &mut [f32],
        algorithm: Algorithm,
    ) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        expect_length("nodes of this rank", tree.nodes_of(rank, size).len(), nodes.len())?;
        for node in nodes {
            expect_length("numbers in a node", sum.len(), node.len())?;
        }
        let pieces = match algorithm {
            Algorithm::Naive => Pieces::all_to_the_first(sum.len(), size),
            _ => Pieces::new(sum.len(), size, Pieces::ALIGN),
        };
        match algorithm {
            Algorithm::Tree => return self.tree_fixed(tree, nodes, sum),
            Algorithm::Ring => self.ring_fixed(tree, nodes, &pieces, sum)?,
            Algorithm::Naive | Algorithm::Sharded => {
                let own = &mut sum[pieces.range(rank)];
                self.reduce_scatter_nodes(tree, nodes, &pieces, own)?;
            }
        }
        self.all_gather(sum, &pieces)
    }
}
