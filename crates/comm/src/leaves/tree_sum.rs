//! A rank's own share of the tree: its leaves, added up as they come.

use std::ops::Range;

use super::partial_sum::PartialSum;
use super::tree::LeafTree;

/// Adds up the leaves of a rank in order, into the largest nodes that they make up.
///
/// Holds as many buffers as the tree is deep, and uses them again after [`Self::clear`].
///
/// ```
/// use trainwright_comm::{LeafTree, TreeSum};
///
/// let mut sum = TreeSum::new(LeafTree::new(3), 0, 1, 2);
/// for leaf in [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] {
///     sum.add_leaf(|values| values.copy_from_slice(&leaf));
/// }
/// assert_eq!(sum.nodes(), [[9.0, 12.0]]);
/// ```
#[derive(Debug)]
pub struct TreeSum {
    tree: LeafTree,
    own: Range<usize>,
    next: usize,
    partial: PartialSum,
}

impl TreeSum {
    /// The sum of the leaves of `rank` among `ranks`, of vectors of this length.
    ///
    /// # Panics
    /// Where there is no such rank.
    pub fn new(tree: LeafTree, rank: usize, ranks: usize, length: usize) -> Self {
        let own = tree.range(rank, ranks);
        Self { tree, next: own.start, own, partial: PartialSum::new(tree, length) }
    }

    /// The tree.
    pub fn tree(&self) -> LeafTree {
        self.tree
    }

    /// The leaves that are still to come, of the rank's own.
    pub fn missing(&self) -> Range<usize> {
        self.next..self.own.end
    }

    /// Adds the next leaf, which `fill` writes. The buffer holds numbers of an earlier leaf:
    /// `fill` overwrites all of it.
    ///
    /// # Panics
    /// Where all leaves of the rank were added.
    pub fn add_leaf<R>(&mut self, fill: impl FnOnce(&mut [f32]) -> R) -> R {
        assert!(self.next < self.own.end, "all leaves of the rank were added: clear first");
        let mut values = self.partial.buffer();
        let given = fill(&mut values);
        self.partial.add(self.next..self.next + 1, values);
        self.next += 1;
        given
    }

    /// The nodes of the leaves added so far; those of [`LeafTree::nodes_of`] once none is missing.
    pub fn nodes(&self) -> Vec<&[f32]> {
        self.partial.values()
    }

    /// Memory of its buffers, in bytes.
    pub fn bytes(&self) -> usize {
        self.partial.buffers() * self.partial.length() * size_of::<f32>()
    }

    /// Begins again with the first leaf.
    pub fn clear(&mut self) {
        self.partial.clear();
        self.next = self.own.start;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_nodes_are_those_that_the_tree_names(leaves in 1_usize..40, ranks in 1_usize..6) {
            let tree = LeafTree::new(leaves);
            for rank in 0..ranks {
                let mut sum = TreeSum::new(tree, rank, ranks, 1);
                // A second round: buffers that were used before change nothing.
                for _ in 0..2 {
                    sum.clear();
                    while let Some(leaf) = sum.missing().next() {
                        sum.add_leaf(|values| values[0] = leaf as f32);
                    }
                    let expected: Vec<f32> = tree.nodes_of(rank, ranks).into_iter()
                        .map(|node| node.map(|leaf| leaf as f32).sum()).collect();
                    let found: Vec<f32> = sum.nodes().iter().map(|values| values[0]).collect();
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }

    #[test]
    fn few_buffers_serve_many_leaves() {
        let mut sum = TreeSum::new(LeafTree::new(64), 0, 1, 1);
        let mut buffers = std::collections::BTreeSet::new();
        for _ in 0..64 {
            sum.add_leaf(|values| buffers.insert(values.as_ptr()));
        }
        assert!(buffers.len() <= 7, "{} buffers", buffers.len());
    }
}
