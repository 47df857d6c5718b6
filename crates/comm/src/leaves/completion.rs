//! Completing the tree: nodes of all ranks become the sum, stretch by stretch.

use std::ops::Range;

use super::tree::{LeafTree, split};

/// Numbers that are added up at a time, so that what lies between stays in the first cache.
const STRETCH: usize = 2048;

/// How given nodes, which together hold every leaf, add up to the root.
#[derive(Debug)]
pub(crate) struct Completion {
    root: Sum,
    depth: usize,
}

#[derive(Debug)]
enum Sum {
    /// The node of this number among the given ones.
    Given(usize),
    Of(Box<Sum>, Box<Sum>),
}

impl Completion {
    /// For nodes of the tree, in order, which hold every leaf once.
    pub(crate) fn new(tree: LeafTree, nodes: &[Range<usize>]) -> Self {
        let root = build(0..tree.leaves(), nodes);
        Self { depth: root.depth(), root }
    }

    /// Writes the sum of the given nodes' values.
    pub(crate) fn sum(&self, nodes: &[&[f32]], into: &mut [f32]) {
        let mut spare = vec![0.0; self.depth.saturating_sub(1) * STRETCH];
        let mut stretch = vec![[].as_slice(); nodes.len()];
        for (at, into) in into.chunks_mut(STRETCH).enumerate() {
            for (stretch, node) in stretch.iter_mut().zip(nodes) {
                *stretch = &node[at * STRETCH..][..into.len()];
            }
            self.root.evaluate(&stretch, into, &mut spare);
        }
    }

    /// Replaces every given node by the sum of all.
    pub(crate) fn sum_everywhere(&self, nodes: &mut [&mut [f32]]) {
        // Two need no spare memory: the same sums in one pass.
        if let [left, right] = nodes {
            for (left, right) in left.iter_mut().zip(&mut **right) {
                *left += *right;
                *right = *left;
            }
            return;
        }
        let mut spare = vec![0.0; self.depth.saturating_sub(1) * STRETCH];
        let mut sum = [0.0; STRETCH];
        let length = nodes.first().map_or(0, |node| node.len());
        for start in (0..length).step_by(STRETCH) {
            let range = start..(start + STRETCH).min(length);
            let sum = &mut sum[..range.len()];
            let stretch: Vec<&[f32]> = nodes.iter().map(|node| &node[range.clone()]).collect();
            self.root.evaluate(&stretch, sum, &mut spare);
            for node in &mut *nodes {
                node[range.clone()].copy_from_slice(sum);
            }
        }
    }

    /// Writes the sum where `into` holds the node of number `own`, and `others` all but that one.
    pub(crate) fn sum_in_place(&self, others: &[&[f32]], own: usize, into: &mut [f32]) {
        let mut spare = vec![0.0; self.depth.saturating_sub(1) * STRETCH];
        let mut here = [0.0; STRETCH];
        for (at, into) in into.chunks_mut(STRETCH).enumerate() {
            let here = &mut here[..into.len()];
            here.copy_from_slice(into);
            let mut stretch: Vec<&[f32]> = Vec::with_capacity(others.len() + 1);
            stretch.extend(others.iter().map(|node| &node[at * STRETCH..][..into.len()]));
            stretch.insert(own, here);
            self.root.evaluate(&stretch, into, &mut spare);
        }
    }
}

impl Sum {
    fn depth(&self) -> usize {
        match self {
            Self::Given(_) => 0,
            Self::Of(left, right) => 1 + left.depth().max(right.depth()),
        }
    }

    fn evaluate(&self, nodes: &[&[f32]], into: &mut [f32], spare: &mut [f32]) {
        match self {
            Self::Given(node) => into.copy_from_slice(nodes[*node]),
            Self::Of(left, right) => match (&**left, &**right) {
                (Self::Given(left), Self::Given(right)) => {
                    for ((into, left), right) in
                        into.iter_mut().zip(nodes[*left]).zip(nodes[*right])
                    {
                        *into = left + right;
                    }
                }
                // The sum of two numbers has the same bits in either order.
                (Self::Given(given), other) | (other, Self::Given(given)) => {
                    other.evaluate(nodes, into, spare);
                    add(into, nodes[*given]);
                }
                (left, right) => {
                    left.evaluate(nodes, into, spare);
                    let (sum, spare) = spare.split_at_mut(STRETCH);
                    let sum = &mut sum[..into.len()];
                    right.evaluate(nodes, sum, spare);
                    add(into, sum);
                }
            },
        }
    }
}

fn add(into: &mut [f32], values: &[f32]) {
    for (into, value) in into.iter_mut().zip(values) {
        *into += value;
    }
}

fn build(node: Range<usize>, nodes: &[Range<usize>]) -> Sum {
    match nodes.binary_search_by_key(&node.start, |given| given.start) {
        Ok(at) if nodes[at] == node => Sum::Given(at),
        _ => {
            let middle = split(&node);
            Sum::Of(
                Box::new(build(node.start..middle, nodes)),
                Box::new(build(middle..node.end, nodes)),
            )
        }
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
        let mut power = 1;
        while power * 2 < leaves.len() {
            power *= 2;
        }
        slow(&leaves[..power]) + slow(&leaves[power..])
    }

    proptest! {
        #[test]
        fn ranks_together_give_the_bits_of_the_definition(
            leaves in proptest::collection::vec(-1e6_f32..1e6, 1..50), ranks in 1_usize..9,
        ) {
            let tree = LeafTree::new(leaves.len());
            let nodes: Vec<Range<usize>> = (0..ranks).flat_map(|r| tree.nodes_of(r, ranks)).collect();
            let values: Vec<[f32; 1]> = nodes.iter().map(|n| [slow(&leaves[n.clone()])]).collect();
            let values: Vec<&[f32]> = values.iter().map(|value| value.as_slice()).collect();
            let mut sum = [f32::NAN];
            Completion::new(tree, &nodes).sum(&values, &mut sum);
            prop_assert_eq!(sum[0].to_bits(), slow(&leaves).to_bits());
        }
    }

    #[test]
    fn long_vectors_are_summed_to_their_end() {
        let tree = LeafTree::new(5);
        let leaves: Vec<Vec<f32>> = (0..5)
            .map(|leaf| (0..5000).map(|i| (i * 7 + leaf * 13) as f32 * 0.1).collect())
            .collect();
        let views: Vec<&[f32]> = leaves.iter().map(Vec::as_slice).collect();
        let mut sum = vec![f32::NAN; 5000];
        let nodes: Vec<Range<usize>> = (0..5).map(|leaf| leaf..leaf + 1).collect();
        Completion::new(tree, &nodes).sum(&views, &mut sum);
        for (i, found) in sum.iter().enumerate() {
            let column: Vec<f32> = leaves.iter().map(|leaf| leaf[i]).collect();
            assert_eq!(found.to_bits(), slow(&column).to_bits(), "number {i}");
        }
    }
}
