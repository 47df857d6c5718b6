//! Forests of decision trees: extremely randomised trees and random forests.
//!
//! Every tree has several outputs. A class is an output that is 1 or 0, so that the mean of a leaf
//! is its histogram of classes and the fall of the variance is that of Gini's impurity. Read
//! `forest/tree.rs` for how a tree grows.

mod rows;
mod tree;

use trainwright_random::Random;

pub use rows::Rows;
use tree::Tree;

/// How trees are made different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForestKind {
    /// All rows, thresholds at random (Geurts, Ernst and Wehenkel, "Extremely randomized trees",
    /// 2006).
    ExtraTrees,
    /// Rows drawn with replacement, the best thresholds (Breiman, "Random forests", 2001).
    RandomForest,
}

/// How a forest grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForestOptions {
    /// How trees are made different.
    pub kind: ForestKind,
    /// Trees.
    pub trees: usize,
    /// Columns that are looked at for each split.
    pub columns: usize,
    /// The fewest rows that a leaf may hold.
    pub least_leaf: usize,
    /// Decides everything random.
    pub seed: u64,
}

/// Trees whose answers are averaged.
///
/// ```
/// use trainwright_search::forest::{Forest, ForestKind, ForestOptions, Rows};
///
/// let inputs = Rows::new((0..20).map(|x| vec![f64::from(x)]).collect());
/// let outputs = Rows::new((0..20).map(|x| vec![if x < 10 { 1.0 } else { 5.0 }]).collect());
/// let options = ForestOptions {
///     kind: ForestKind::ExtraTrees,
///     trees: 30,
///     columns: 1,
///     least_leaf: 1,
///     seed: 7,
/// };
/// let forest = Forest::fit(&inputs, &outputs, options);
/// assert!((forest.predict(&[3.0])[0] - 1.0).abs() < 1e-9);
/// assert!((forest.predict(&[16.0])[0] - 5.0).abs() < 1e-9);
/// ```
#[derive(Debug, Clone)]
pub struct Forest {
    trees: Vec<Tree>,
    rows: usize,
    outputs: usize,
    columns: usize,
}

impl Forest {
    /// Grows a forest on rows of inputs and what came out for each.
    ///
    /// # Panics
    /// Where there are no rows, or not as many outputs as inputs.
    pub fn fit(inputs: &Rows, outputs: &Rows, options: ForestOptions) -> Self {
        assert!(inputs.len() > 0, "a forest needs rows");
        assert_eq!(inputs.len(), outputs.len(), "every row has inputs and outputs");
        let grow = |number: usize| {
            let mut random = Random::for_purpose(options.seed, &[number as u64]);
            Tree::grow(inputs, outputs, options, &mut random)
        };
        Self {
            trees: (0..options.trees.max(1)).map(grow).collect(),
            rows: inputs.len(),
            outputs: outputs.width(),
            columns: inputs.width(),
        }
    }

    /// The mean of every output.
    pub fn predict(&self, input: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.outputs];
        for tree in &self.trees {
            for (sum, own) in sums.iter_mut().zip(tree.leaf(input).means()) {
                *sum += own;
            }
        }
        sums.iter_mut().for_each(|sum| *sum /= self.trees.len() as f64);
        sums
    }

    /// Mean and variance of the first output: what trees differ by, and what leaves hold.
    pub fn mean_and_variance(&self, input: &[f64]) -> (f64, f64) {
        let count = self.trees.len() as f64;
        let leaves = || self.trees.iter().map(|tree| tree.leaf(input));
        let mean = leaves().map(|leaf| leaf.means()[0]).sum::<f64>() / count;
        let second = leaves().map(|leaf| leaf.variance() + leaf.means()[0] * leaf.means()[0]);
        (mean, (second.sum::<f64>() / count - mean * mean).max(0.0))
    }

    /// How much each row it grew on has to say about an input: the share of its leaves, averaged
    /// over trees. Together they are 1 (Meinshausen, "Quantile regression forests", 2006).
    pub fn weights(&self, input: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.rows];
        for tree in &self.trees {
            let members = tree.leaf(input).members();
            let share = 1.0 / (members.len() * self.trees.len()) as f64;
            members.iter().for_each(|&row| weights[row as usize] += share);
        }
        weights
    }

    /// How much of the variance each column takes away; together 1, or all 0 where no tree splits.
    pub fn importances(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        for tree in &self.trees {
            tree.add_importances(&mut sums);
        }
        let all: f64 = sums.iter().sum();
        if all > 0.0 {
            sums.iter_mut().for_each(|sum| *sum /= all);
        }
        sums
    }
}

#[cfg(test)]
mod tests;
