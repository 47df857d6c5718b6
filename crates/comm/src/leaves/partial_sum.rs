//! A part of the tree's sum: the largest nodes that the leaves so far make up.

use std::ops::Range;

use super::tree::LeafTree;

/// Nodes with their values, in order; two parts of a node never stand beside each other.
#[derive(Debug)]
pub(crate) struct PartialSum {
    tree: LeafTree,
    length: usize,
    nodes: Vec<(Range<usize>, Vec<f32>)>,
    spare: Vec<Vec<f32>>,
}

impl PartialSum {
    /// No leaf yet, of vectors of this length.
    pub(crate) fn new(tree: LeafTree, length: usize) -> Self {
        Self { tree, length, nodes: Vec::new(), spare: Vec::new() }
    }

    /// A buffer to be filled and given to [`Self::add`]; what it holds is left from earlier.
    pub(crate) fn buffer(&mut self) -> Vec<f32> {
        self.spare.pop().unwrap_or_else(|| vec![0.0; self.length])
    }

    /// Adds a node that lies beside none of the present leaves twice.
    pub(crate) fn add(&mut self, leaves: Range<usize>, values: Vec<f32>) {
        let mut at = self.nodes.partition_point(|(node, _)| node.start < leaves.start);
        self.nodes.insert(at, (leaves, values));
        loop {
            if at > 0 && self.join(at - 1) {
                at -= 1;
            } else if !self.join(at) {
                break;
            }
        }
    }

    /// Adds a copy of a node.
    pub(crate) fn add_copy(&mut self, leaves: Range<usize>, values: &[f32]) {
        let mut buffer = self.buffer();
        buffer.copy_from_slice(values);
        self.add(leaves, buffer);
    }

    /// The value of each node.
    pub(crate) fn values(&self) -> Vec<&[f32]> {
        self.nodes.iter().map(|(_, values)| values.as_slice()).collect()
    }

    /// Forgets all leaves and keeps the buffers.
    pub(crate) fn clear(&mut self) {
        self.spare.extend(self.nodes.drain(..).map(|(_, values)| values));
    }

    /// Vectors in use or in waiting.
    pub(crate) fn buffers(&self) -> usize {
        self.nodes.len() + self.spare.len()
    }

    /// Numbers of a vector.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Joins the nodes at `at` and after it where they are the parts of a node.
    fn join(&mut self, at: usize) -> bool {
        let Some([(left, _), (right, _)]) = self.nodes.get(at..at + 2) else { return false };
        if !self.tree.are_siblings(left, right) {
            return false;
        }
        let (right, addend) = self.nodes.remove(at + 1);
        let (left, sum) = &mut self.nodes[at];
        left.end = right.end;
        for (sum, addend) in sum.iter_mut().zip(&addend) {
            *sum += addend;
        }
        self.spare.push(addend);
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, word for word.
    fn slow(leaves: &[f32]) -> f32 {
        if let [leaf] = leaves {
            return *leaf;
        }
        let power = leaves.len().next_power_of_two() / 2;
        slow(&leaves[..power]) + slow(&leaves[power..])
    }

    proptest! {
        /// Nodes come in any order around a ring, and leave no trace of it.
        #[test]
        fn leaves_in_any_order_give_the_bits_of_the_definition(
            leaves in proptest::collection::vec((-1e6_f32..1e6, any::<u32>()), 1..40),
        ) {
            let values: Vec<f32> = leaves.iter().map(|own| own.0).collect();
            let mut order: Vec<usize> = (0..leaves.len()).collect();
            order.sort_by_key(|at| leaves[*at].1);
            let mut sum = PartialSum::new(LeafTree::new(leaves.len()), 1);
            for leaf in order {
                sum.add_copy(leaf..leaf + 1, &values[leaf..=leaf]);
            }
            let found = sum.values();
            prop_assert_eq!(found.len(), 1, "all leaves make up the root");
            prop_assert_eq!(found[0][0].to_bits(), slow(&values).to_bits());
            let buffers = sum.buffers();
            sum.clear();
            prop_assert_eq!((sum.values().len(), sum.buffers()), (0, buffers));
        }
    }

    #[test]
    fn neighbours_that_are_no_parts_of_one_node_stay_apart() {
        let mut sum = PartialSum::new(LeafTree::new(7), 1);
        for leaf in [1, 2, 3] {
            sum.add_copy(leaf..leaf + 1, &[leaf as f32]);
        }
        // The parts of 2..4 are joined; 1..2 waits for 0..1.
        assert_eq!(sum.values(), [&[1.0][..], &[5.0][..]]);
        sum.add_copy(0..1, &[10.0]);
        assert_eq!(sum.values(), [&[16.0][..]]);
    }
}
