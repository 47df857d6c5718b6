//! What stages cost for one micro-batch, and the cuts that make the longest of them shortest.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::graph::Role;
use crate::pipeline::Stages;
use crate::problem::Problem;

/// What stages of a problem cost for one micro-batch.
pub(super) struct Costs<'p> {
    pub(super) problem: &'p Problem,
    /// Replicas of each stage.
    pub(super) width: usize,
    pub(super) micro_batches: u64,
    /// Nanoseconds forward and backward of each operator for a micro-batch: weights are read anew
    /// for each.
    pub(super) times: Vec<(u64, u64)>,
    /// Bytes over each place between operators, on each replica.
    pub(super) cut_bytes: Vec<u64>,
    /// Bytes kept by each operator for a micro-batch.
    pub(super) kept: Vec<u64>,
}

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Outputs to the next stage.
    On,
    /// Their gradients.
    Back,
}

impl<'p> Costs<'p> {
    pub(super) fn new(problem: &'p Problem, width: usize, micro_batches: u64) -> Self {
        let operators = problem.graph().operators();
        let share = (width as u64 * micro_batches) as f64;
        let times = &problem.share_ns[&(width as u64 * micro_batches)];
        let mut cut_bytes = vec![0; operators.len() + 1];
        for (at, operator) in operators.iter().enumerate() {
            let readers = operators
                .iter()
                .enumerate()
                .filter(|(_, other)| other.inputs.iter().any(|input| input.from == at));
            let last = readers.map(|(reader, _)| reader).max().unwrap_or(at);
            let bytes = (4.0 * operator.outputs() as f64 / share).ceil() as u64;
            cut_bytes[at + 1..=last].iter_mut().for_each(|cut| *cut += bytes);
        }
        let kept = operators
            .iter()
            .map(|own| (own.outputs() as f64 * own.kept_per_output / share).ceil() as u64)
            .collect();
        Self { problem, width, micro_batches, times: times.clone(), cut_bytes, kept }
    }

    /// The operators of a stage.
    pub(super) fn range(&self, stages: &Stages, stage: usize) -> Range<usize> {
        let end = stages.begins.get(stage + 1).copied().unwrap_or(self.times.len());
        stages.begins[stage]..end
    }

    /// The devices of a stage.
    pub(super) fn devices(&self, stage: usize) -> impl Iterator<Item = u16> + use<> {
        (stage * self.width..(stage + 1) * self.width).map(|device| device as u16)
    }

    /// Pairs of devices between which messages go at the beginning of a stage.
    fn pairs(&self, stage: usize, way: Way) -> impl Iterator<Item = (u16, u16)> + use<> {
        let on = self.devices(stage - 1).zip(self.devices(stage));
        on.map(move |(from, to)| if way == Way::On { (from, to) } else { (to, from) })
    }

    /// Nanoseconds of the messages of all replicas of a stage that begins at a place, link by link:
    /// those that share one go over it one after another.
    pub(super) fn messages(&self, begin: usize, stage: usize, way: Way) -> BTreeMap<u32, u64> {
        let mut found = BTreeMap::new();
        if stage > 0 {
            let wires = &self.problem.wires;
            for (from, to) in self.pairs(stage, way) {
                *found.entry(wires.link(from, to)).or_insert(0) +=
                    wires.time(from, to, self.cut_bytes[begin]);
            }
        }
        found
    }

    /// Nanoseconds of the slowest messages into and back from a stage, wherever it begins.
    fn slowest_messages(&self, stage: usize) -> Vec<u64> {
        let mut found = vec![0; self.times.len()];
        if stage == 0 {
            return found;
        }
        let wires = &self.problem.wires;
        for way in [Way::On, Way::Back] {
            let mut links: BTreeMap<u32, ((u16, u16), u64)> = BTreeMap::new();
            for (from, to) in self.pairs(stage, way) {
                links.entry(wires.link(from, to)).or_insert(((from, to), 0)).1 += 1;
            }
            for (time, &bytes) in found.iter_mut().zip(&self.cut_bytes) {
                let each = links.values();
                let slowest = each.map(|((from, to), count)| count * wires.time(*from, *to, bytes));
                *time += slowest.max().unwrap_or(0);
            }
        }
        found
    }

    /// Whether an operator may not be in a stage, by what the user rules out.
    fn is_ruled_out(&self, operator: usize, stage: usize) -> bool {
        let constraints = &self.problem.constraints;
        let operator = &self.problem.graph().operators()[operator];
        let pinned = constraints.pinned(&operator.name);
        let is_elsewhere = pinned.is_some_and(|own| !own.iter().copied().eq(self.devices(stage)));
        let samples = operator.dims.first().filter(|dim| dim.role == Role::Sample);
        let stays_whole = samples.is_some_and(|dim| constraints.forbids(&operator.name, &dim.name));
        is_elsewhere || (self.width > 1 && stays_whole)
    }

    /// The cuts into a number of stages whose longest, with its message, is shortest; none where
    /// what the user rules out leaves none.
    pub(super) fn cuts(&self, stages: usize) -> Option<Stages> {
        let count = self.times.len();
        if self.problem.constraints.max_degree.is_some_and(|most| self.width as u64 > most) {
            return None;
        }
        let mut sums = vec![0; count + 1];
        for at in 0..count {
            sums[at + 1] = sums[at] + self.times[at].0 + self.times[at].1;
        }
        // best[s][end]: longest of s stages over the operators before `end`, and the last's begin.
        let mut best = vec![vec![(u64::MAX, 0); count + 1]; stages + 1];
        best[0][0] = (0, 0);
        for stage in 1..=stages {
            let messages = self.slowest_messages(stage - 1);
            let mut first = stage - 1;
            for end in 1..=count {
                // What is ruled out is in none of the stages that end after it.
                if self.is_ruled_out(end - 1, stage - 1) {
                    first = first.max(end);
                }
                for begin in first..end {
                    let before = best[stage - 1][begin].0;
                    if before == u64::MAX {
                        continue;
                    }
                    let longest = before.max(sums[end] - sums[begin] + messages[begin]);
                    if longest < best[stage][end].0 {
                        best[stage][end] = (longest, begin);
                    }
                }
            }
        }
        if best[stages][count].0 == u64::MAX {
            return None;
        }
        let mut begins = Vec::new();
        let mut end = count;
        for stage in (1..=stages).rev() {
            end = best[stage][end].1;
            begins.push(end);
        }
        begins.reverse();
        Some(Stages { begins })
    }
}
