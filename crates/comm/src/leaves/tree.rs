//! The shape of the tree.

use std::ops::Range;

use super::completion::Completion;

/// The tree over the leaves of a step.
///
/// ```
/// use trainwright_comm::LeafTree;
///
/// let tree = LeafTree::new(7);
/// // Three ranks: 0..2, 2..4 and 4..7. The last three leaves are a node of the tree.
/// assert_eq!(tree.range(2, 3), 4..7);
/// assert_eq!(tree.nodes_of(2, 3), vec![4..7]);
/// // Two ranks: 0..3 is no node, but 0..2 and 2..3 are.
/// assert_eq!(tree.nodes_of(0, 2), vec![0..2, 2..3]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeafTree {
    leaves: usize,
}

impl LeafTree {
    /// The tree over this many leaves.
    ///
    /// # Panics
    /// Where there is none: a sum of nothing has no order.
    pub fn new(leaves: usize) -> Self {
        assert!(leaves > 0, "a tree has at least one leaf");
        Self { leaves }
    }

    /// The number of leaves.
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// The leaves of a rank: contiguous, and no rank has two more than another.
    ///
    /// # Panics
    /// Where there is no such rank.
    pub fn range(&self, rank: usize, ranks: usize) -> Range<usize> {
        assert!(rank < ranks, "there is no rank {rank} among {ranks}");
        self.leaves * rank / ranks..self.leaves * (rank + 1) / ranks
    }

    /// The largest nodes that lie within the leaves of a rank, in order.
    pub fn nodes_of(&self, rank: usize, ranks: usize) -> Vec<Range<usize>> {
        self.nodes_within(&[self.range(rank, ranks)])
    }

    /// Adds up the nodes of so many ranks, which [`Self::nodes_of`] lists for each, in their order.
    ///
    /// # Panics
    /// Where they are not those nodes, or have another length than the sum.
    pub fn add_up(&self, ranks: usize, nodes: &[&[f32]], into: &mut [f32]) {
        let all: Vec<Range<usize>> =
            (0..ranks).flat_map(|rank| self.nodes_of(rank, ranks)).collect();
        assert_eq!(all.len(), nodes.len(), "the nodes are not those of {ranks} ranks");
        Completion::new(*self, &all).sum(nodes, into);
    }

    /// The largest nodes all of whose leaves lie in these ranges, in order. The ranges ascend.
    pub(crate) fn nodes_within(&self, held: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        self.collect(0..self.leaves, &joined(held), &mut found);
        found
    }

    /// Whether these two are the parts of a node.
    pub(crate) fn are_siblings(&self, left: &Range<usize>, right: &Range<usize>) -> bool {
        let wanted = left.start..right.end;
        let mut node = 0..self.leaves;
        while node.len() > 1 {
            let middle = split(&node);
            if node == wanted {
                return left.end == middle && right.start == middle;
            }
            node = if wanted.start >= middle { middle..node.end } else { node.start..middle };
        }
        false
    }

    fn collect(&self, node: Range<usize>, held: &[Range<usize>], found: &mut Vec<Range<usize>>) {
        if held.iter().any(|range| range.start <= node.start && node.end <= range.end) {
            found.push(node);
        } else if node.len() > 1
            && held.iter().any(|range| range.start < node.end && node.start < range.end)
        {
            let middle = split(&node);
            self.collect(node.start..middle, held, found);
            self.collect(middle..node.end, held, found);
        }
    }
}

/// Where a node of at least two leaves splits.
pub(super) fn split(node: &Range<usize>) -> usize {
    // The largest power of two below n is the one at or below n - 1.
    node.start + (1 << (node.len() - 1).ilog2())
}

/// Ascending ranges without empty ones, neighbours made one.
fn joined(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut whole: Vec<Range<usize>> = Vec::new();
    for range in ranges.iter().filter(|range| !range.is_empty()) {
        match whole.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => whole.push(range.clone()),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nodes_split_at_the_largest_power_of_two_below_their_size() {
        for (leaves, middle) in [(2, 1), (3, 2), (4, 2), (5, 4), (7, 4), (8, 4), (9, 8)] {
            assert_eq!(split(&(10..10 + leaves)), 10 + middle, "{leaves} leaves");
        }
    }

    #[test]
    fn powers_of_two_give_each_rank_one_node() {
        for (leaves, ranks) in [(4, 4), (8, 4), (16, 4), (8, 2), (32, 8), (1, 1), (3, 3), (6, 3)] {
            let tree = LeafTree::new(leaves);
            for rank in 0..ranks {
                assert_eq!(tree.nodes_of(rank, ranks), [tree.range(rank, ranks)]);
            }
        }
    }

    #[test]
    fn siblings_are_exactly_the_two_parts_of_a_node() {
        let tree = LeafTree::new(7);
        assert!(tree.are_siblings(&(0..2), &(2..4)));
        assert!(tree.are_siblings(&(0..4), &(4..7)));
        assert!(tree.are_siblings(&(4..6), &(6..7)));
        assert!(!tree.are_siblings(&(2..4), &(4..6)));
        assert!(!tree.are_siblings(&(1..2), &(2..3)));
        assert!(!tree.are_siblings(&(0..3), &(3..7)), "the node is right, its middle is not");
    }

    proptest! {
        #[test]
        fn nodes_cover_the_held_leaves_once_and_none_could_be_larger(
            leaves in 1_usize..70, a in 0_usize..70, b in 0_usize..70, c in 0_usize..70,
        ) {
            let tree = LeafTree::new(leaves);
            let mut cuts = [a.min(leaves), b.min(leaves), c.min(leaves)];
            cuts.sort_unstable();
            let held = [0..cuts[0], cuts[1]..cuts[2]];
            let nodes = tree.nodes_within(&held);
            let covered: Vec<usize> = nodes.iter().cloned().flatten().collect();
            let expected: Vec<usize> = held.iter().cloned().flatten().collect();
            prop_assert_eq!(covered, expected);
            for pair in nodes.windows(2) {
                prop_assert!(!tree.are_siblings(&pair[0], &pair[1]));
            }
        }
    }
}
