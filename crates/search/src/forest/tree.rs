//! One tree: how it grows and what its leaves hold.

use trainwright_random::Random;

use super::rows::Rows;
use super::{ForestKind, ForestOptions};

/// A gain below this share of a node's variance is rounding.
const FLAT: f64 = 1e-12;

/// A decision tree.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
enum Node {
    Split { column: usize, threshold: f64, left: usize, right: usize, gain: f64 },
    Leaf(Leaf),
}

/// Rows that a tree does not tell apart.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    means: Vec<f64>,
    variance: f64,
    members: Vec<u32>,
}

impl Leaf {
    /// The mean of each output.
    pub(super) fn means(&self) -> &[f64] {
        &self.means
    }

    /// The variance of the first output.
    pub(super) fn variance(&self) -> f64 {
        self.variance
    }

    /// The rows, as often as they were drawn.
    pub(super) fn members(&self) -> &[u32] {
        &self.members
    }
}

struct Split {
    column: usize,
    threshold: f64,
    gain: f64,
}

impl Tree {
    pub(super) fn grow(
        inputs: &Rows,
        outputs: &Rows,
        options: ForestOptions,
        random: &mut Random,
    ) -> Self {
        let all = inputs.len();
        let mut rows: Vec<u32> = match options.kind {
            ForestKind::ExtraTrees => (0..all as u32).collect(),
            ForestKind::RandomForest => (0..all).map(|_| random.index(all) as u32).collect(),
        };
        let mut growth = Growth { inputs, outputs, options, random, nodes: Vec::new() };
        growth.node(&mut rows);
        Self { nodes: growth.nodes }
    }

    pub(super) fn leaf(&self, input: &[f64]) -> &Leaf {
        let mut at = 0;
        loop {
            match &self.nodes[at] {
                Node::Leaf(leaf) => return leaf,
                Node::Split { column, threshold, left, right, .. } => {
                    at = if input[*column] <= *threshold { *left } else { *right };
                }
            }
        }
    }

    pub(super) fn add_importances(&self, sums: &mut [f64]) {
        for node in &self.nodes {
            if let Node::Split { column, gain, .. } = node {
                sums[*column] += gain;
            }
        }
    }
}

struct Growth<'a> {
    inputs: &'a Rows,
    outputs: &'a Rows,
    options: ForestOptions,
    random: &'a mut Random,
    nodes: Vec<Node>,
}

impl Growth<'_> {
    /// Grows the part of the tree for these rows and gives its place.
    fn node(&mut self, rows: &mut [u32]) -> usize {
        let place = self.nodes.len();
        let (means, spread) = self.means_and_spread(rows);
        let split = if rows.len() < 2 * self.options.least_leaf.max(1) || spread <= 0.0 {
            None
        } else {
            self.split(rows, FLAT * spread)
        };
        let Some(Split { column, threshold, gain }) = split else {
            let variance = self.variance_of_first(rows, means[0]);
            self.nodes.push(Node::Leaf(Leaf { means, variance, members: rows.to_vec() }));
            return place;
        };
        let middle = partition(rows, |row| self.inputs.at(row, column) <= threshold);
        self.nodes.push(Node::Split { column, threshold, left: 0, right: 0, gain });
        let (low, high) = rows.split_at_mut(middle);
        let left_place = self.node(low);
        let right_place = self.node(high);
        if let Node::Split { left, right, .. } = &mut self.nodes[place] {
            (*left, *right) = (left_place, right_place);
        }
        place
    }

    /// The mean of each output, and the sum over outputs of squared distances from it.
    fn means_and_spread(&self, rows: &[u32]) -> (Vec<f64>, f64) {
        let count = rows.len() as f64;
        let mut spread = 0.0;
        let means = (0..self.outputs.width())
            .map(|output| {
                let column = self.outputs.column(output);
                let mean = rows.iter().map(|&row| column[row as usize]).sum::<f64>() / count;
                let squared = |&row: &u32| (column[row as usize] - mean).powi(2);
                spread += rows.iter().map(squared).sum::<f64>();
                mean
            })
            .collect();
        (means, spread)
    }

    fn variance_of_first(&self, rows: &[u32], mean: f64) -> f64 {
        let column = self.outputs.column(0);
        let squared = |&row: &u32| (column[row as usize] - mean).powi(2);
        rows.iter().map(squared).sum::<f64>() / rows.len() as f64
    }

    /// The best split among some columns at random; those without a difference do not count.
    fn split(&mut self, rows: &[u32], least_gain: f64) -> Option<Split> {
        let width = self.inputs.width();
        let mut columns: Vec<usize> = (0..width).collect();
        let (mut best, mut looked_at): (Option<Split>, usize) = (None, 0);
        for at in 0..width {
            columns.swap(at, at + self.random.index(width - at));
            let column = columns[at];
            let Some((low, high)) = self.range(rows, column) else { continue };
            let found = match self.options.kind {
                ForestKind::ExtraTrees => {
                    let threshold = low + (high - low) * self.random.unit();
                    let gain = self.gain(rows, column, threshold);
                    gain.map(|gain| Split { column, threshold, gain })
                }
                ForestKind::RandomForest => self.best_threshold(rows, column),
            };
            if let Some(found) = found.filter(|own| own.gain > least_gain)
                && best.as_ref().is_none_or(|best| found.gain > best.gain)
            {
                best = Some(found);
            }
            looked_at += 1;
            if looked_at >= self.options.columns.max(1) {
                break;
            }
        }
        best
    }

    /// Smallest and largest value of a column; nothing where all are the same.
    fn range(&self, rows: &[u32], column: usize) -> Option<(f64, f64)> {
        let values = self.inputs.column(column);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &row in rows {
            let value = values[row as usize];
            low = low.min(value);
            high = high.max(value);
        }
        (low < high).then_some((low, high))
    }

    /// How much a split takes from the squared distances; nothing where a side is too small.
    fn gain(&self, rows: &[u32], column: usize, threshold: f64) -> Option<f64> {
        let values = self.inputs.column(column);
        let sides: Vec<bool> = rows.iter().map(|&row| values[row as usize] <= threshold).collect();
        let left = sides.iter().filter(|side| **side).count();
        let right = rows.len() - left;
        if left.min(right) < self.options.least_leaf.max(1) {
            return None;
        }
        let weight = (left * right) as f64 / rows.len() as f64;
        let between = |output: usize| {
            let column = self.outputs.column(output);
            let (mut all, mut low) = (0.0, 0.0);
            for (&row, &side) in rows.iter().zip(&sides) {
                let value = column[row as usize];
                all += value;
                low += if side { value } else { 0.0 };
            }
            (low / left as f64 - (all - low) / right as f64).powi(2)
        };
        Some(weight * (0..self.outputs.width()).map(between).sum::<f64>())
    }

    /// The threshold with the largest gain, half way between two neighbours.
    fn best_threshold(&self, rows: &[u32], column: usize) -> Option<Split> {
        let values = self.inputs.column(column);
        let mut order = rows.to_vec();
        order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
        let (count, width) = (order.len(), self.outputs.width());
        let total = |output: usize| {
            let own = self.outputs.column(output);
            order.iter().map(|&row| own[row as usize]).sum::<f64>()
        };
        let all: Vec<f64> = (0..width).map(total).collect();
        let mut low = vec![0.0; width];
        let mut best: Option<Split> = None;
        let least = self.options.least_leaf.max(1);
        for left in 1..count {
            for (output, sum) in low.iter_mut().enumerate() {
                *sum += self.outputs.at(order[left - 1], output);
            }
            let (below, above) = (values[order[left - 1] as usize], values[order[left] as usize]);
            let right = count - left;
            if below >= above || left.min(right) < least {
                continue;
            }
            let apart =
                |(all, low): (&f64, &f64)| (low / left as f64 - (all - low) / right as f64).powi(2);
            let between = all.iter().zip(&low).map(apart).sum::<f64>();
            let gain = (left * right) as f64 / count as f64 * between;
            if best.as_ref().is_none_or(|best| gain > best.gain) {
                let middle = below + (above - below) / 2.0;
                // Between neighbouring numbers the middle may be the upper one.
                let threshold = if middle < above { middle } else { below };
                best = Some(Split { column, threshold, gain });
            }
        }
        best
    }
}

/// Puts rows for which `first` holds in front and counts them; others keep no order.
fn partition(rows: &mut [u32], first: impl Fn(u32) -> bool) -> usize {
    let mut middle = 0;
    for at in 0..rows.len() {
        if first(rows[at]) {
            rows.swap(at, middle);
            middle += 1;
        }
    }
    middle
}
