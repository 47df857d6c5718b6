//! Reduce-scatter to the owners of pieces: the first half of an all-reduce.

use bytemuck::{cast_slice, must_cast_slice};

use super::{expect_length, nodes_of_all};
use crate::error::CommError;
use crate::group::Group;
use crate::leaves::{Completion, LeafTree};
use crate::pieces::Pieces;
use crate::transport::{Outgoing, Source};

impl Group {
    /// Adds up the nodes of all ranks and leaves to each rank the sum of its own piece.
    ///
    /// `nodes` are the values of this rank's nodes, as [`crate::TreeSum::nodes`] gives them; `own`
    /// has the length of the rank's piece. With one node a rank, each rank sends every piece but
    /// its own once. The sum has the bits that the tree prescribes, for any number of ranks.
    ///
    /// # Errors
    /// Where a rank is lost, or a vector has another length than `pieces` says.
    pub fn reduce_scatter_nodes(
        &mut self,
        tree: LeafTree,
        nodes: &[&[f32]],
        pieces: &Pieces,
        own: &mut [f32],
    ) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        expect_length("pieces, one a rank", size, pieces.ranks())?;
        expect_length("nodes of this rank", tree.nodes_of(rank, size).len(), nodes.len())?;
        for node in nodes {
            expect_length("numbers in a node", pieces.length(), node.len())?;
        }
        let cut = |piece: usize| -> Vec<&[u8]> {
            nodes.iter().map(|node| must_cast_slice(&node[pieces.range(piece)])).collect()
        };
        let parts: Vec<Vec<&[u8]>> = (0..size).map(cut).collect();
        let here: Vec<&[f32]> = nodes.iter().map(|node| &node[pieces.range(rank)]).collect();
        expect_length("numbers in the own piece", pieces.range(rank).len(), own.len())?;
        self.add_up_for_owners(tree, &parts, OwnNodes::Apart(&here), own)
    }

    /// Adds up vectors, one a rank, and leaves to each rank the sum of its own piece, within its
    /// vector; the other pieces keep what they held.
    ///
    /// # Errors
    /// Where a rank is lost, or the vector has another length than `pieces` says.
    pub fn reduce_scatter(&mut self, values: &mut [f32], pieces: &Pieces) -> Result<(), CommError> {
        expect_length("pieces, one a rank", self.size(), pieces.ranks())?;
        expect_length("numbers in the vector", pieces.length(), values.len())?;
        let tree = LeafTree::new(self.size());
        let mut cut = pieces.split_mut(values);
        let own = std::mem::take(&mut cut[self.rank()]);
        let parts: Vec<Vec<&[u8]>> = cut.iter().map(|piece| vec![must_cast_slice(piece)]).collect();
        self.add_up_for_owners(tree, &parts, OwnNodes::InPlace, own)
    }

    /// `parts` holds, for each rank, the parts of its piece in this rank's nodes.
    fn add_up_for_owners(
        &mut self,
        tree: LeafTree,
        parts: &[Vec<&[u8]>],
        mine: OwnNodes<'_>,
        own: &mut [f32],
    ) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        let filled = |to: &usize| parts[*to].iter().any(|part| !part.is_empty());
        let sends: Vec<Outgoing<'_>> = (0..size)
            .filter(|to| *to != rank && filled(to))
            .map(|to| Outgoing { to, parts: &parts[to] })
            .collect();
        let sources: Vec<Source> = (0..size)
            .filter(|from| *from != rank && !own.is_empty())
            .map(|from| Source { from, parts: tree.nodes_of(from, size).len() })
            .filter(|source| source.parts > 0)
            .collect();
        let (nodes, place) = nodes_of_all(tree, size, rank);
        let completion = Completion::new(tree, &nodes);
        let bytes = size_of_val(own);
        let tag = self.next_tag();
        let mut add_up = |offset: usize, others: &[&[u8]]| {
            let length = others.first().map_or(bytes, |part| part.len()) / size_of::<f32>();
            let start = offset / size_of::<f32>();
            let mut all: Vec<&[f32]> = others.iter().map(|part| cast_slice(part)).collect();
            let into = &mut own[start..start + length];
            match mine {
                OwnNodes::Apart(here) => {
                    all.splice(
                        place.start..place.start,
                        here.iter().map(|n| &n[start..][..length]),
                    );
                    completion.sum(&all, into);
                }
                OwnNodes::InPlace => completion.sum_in_place(&all, place.start, into),
            }
        };
        if sources.is_empty() && bytes > 0 {
            add_up(0, &[]);
        }
        self.transport.combine(tag, &sends, &sources, bytes, &mut add_up)
    }
}

/// Where a rank's own nodes are: apart from the sum, or one node where the sum will be.
#[derive(Clone, Copy)]
enum OwnNodes<'a> {
    Apart(&'a [&'a [f32]]),
    InPlace,
}
