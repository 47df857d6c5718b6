//! What a plan takes at least, without simulating it, or from the middle of its schedule on.
//!
//! Heads are moments before which no part of an operator has ended, lasts such before which not all
//! parts have; tails say how long the step goes on at least after any part has ended. They follow
//! from the shortest part of each operator and from four figures of each edge ([`EdgeTimes`]), so
//! they cost a walk over operators and edges where a simulation serves all tasks. What was served
//! before the change has its true times. Devices and links are taken as free here, except that
//! messages of one edge share their links; what tasks are for all of them together is in `loads.rs`.

mod edge_times;
mod loads;

pub(super) use edge_times::{EdgeScratch, EdgeTimes};

use crate::problem::Problem;
use crate::simulator::schedule::Begun;
use crate::simulator::shape::Shape;
use loads::Loads;

/// Bounds of the plan that was last looked at.
#[derive(Debug)]
pub(super) struct Bounds {
    /// Forward and backward of each operator.
    head: Vec<[u64; 2]>,
    last: Vec<[u64; 2]>,
    /// What follows at least after a part has ended.
    after: Vec<[u64; 2]>,
    rests: Rests,
    loads: Loads,
}

/// What follows at least after the last task of a resource.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rests {
    /// After the last part of an operator on a device.
    pub(super) device: u64,
    /// After the last task on a link.
    pub(super) link: u64,
}

/// How far the parts of an operator were served, forward or backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    None,
    /// The first of those served ended then, at the earliest.
    Some(u64),
    /// The first ended then, and the last then.
    All(u64, u64),
}

impl Begun<'_> {
    fn reached(&self, operator: usize, pass: usize) -> Reached {
        let span = &self.spans[operator][pass];
        if span.first as usize >= self.served {
            Reached::None
        } else if (span.last as usize) < self.served {
            Reached::All(span.first_end, span.last_end)
        } else {
            Reached::Some(span.first_end)
        }
    }
}

impl Bounds {
    pub(super) fn new(problem: &Problem) -> Self {
        let zeros = vec![[0; 2]; problem.graph.operators().len()];
        Self {
            head: zeros.clone(),
            last: zeros.clone(),
            after: zeros,
            rests: Rests::default(),
            loads: Loads::new(problem),
        }
    }

    /// Nanoseconds after a part of an operator has ended, forward (0) or backward (1), that the
    /// step goes on at least.
    pub(super) fn after(&self, operator: usize, pass: usize) -> u64 {
        self.after[operator][pass]
    }

    pub(super) fn rests(&self) -> Rests {
        self.rests
    }

    /// Nanoseconds that the step takes at least, by the paths through operators alone.
    pub(super) fn longest_path(&mut self, shape: &Shape<'_>, begun: &Begun<'_>) -> u64 {
        self.go_forward(shape, begun);
        self.go_backward(shape, begun);
        let mut least = self.last.iter().map(|own| own[1]).max().unwrap_or(0);
        for (own, group) in shape.groups.iter().zip(shape.problem.graph.groups()) {
            if !own.shards.is_empty() {
                let gathered = group.operators.iter().map(|&at| self.last[at][1]).max();
                least = least.max(gathered.unwrap_or(0) + own.after);
            }
        }
        least
    }

    /// Finds what follows after each operator's parts.
    pub(super) fn find_tails(&mut self, shape: &Shape<'_>) {
        let problem = shape.problem;
        for (at, operator) in problem.graph.operators().iter().enumerate() {
            let mut after = operator.weights.as_ref().map_or(0, |it| shape.groups[it.group].after);
            for &edge in &problem.edges_in[at] {
                let from = problem.edges[edge as usize].from as usize;
                if let Some(wait) = shape.edges[edge as usize].times.to_reader {
                    after = after.max(wait + shape.chosen(from).least_ns[1] + self.after[from][1]);
                }
            }
            self.after[at][1] = after;
        }
        for at in (0..problem.graph.operators().len()).rev() {
            let mut after = shape.chosen(at).least_ns[1] + self.after[at][1];
            for &edge in &problem.edges_out[at] {
                let to = problem.edges[edge as usize].to as usize;
                if let Some(wait) = shape.edges[edge as usize].times.to_source {
                    after = after.max(wait + shape.chosen(to).least_ns[0] + self.after[to][0]);
                }
            }
            self.after[at][0] = after;
        }
        self.rests = Rests {
            device: self.after.iter().map(|own| own[1]).min().unwrap_or(0),
            link: self.after_links(shape),
        };
    }

    /// What follows at least after any task on a link.
    fn after_links(&self, shape: &Shape<'_>) -> u64 {
        let mut least = shape.groups.iter().filter_map(|own| own.after_link).min();
        let mut see = |own: u64| least = Some(least.map_or(own, |least| least.min(own)));
        for (ends, own) in shape.problem.edges.iter().zip(&shape.edges) {
            let (from, to) = (ends.from as usize, ends.to as usize);
            if own.times.forward_load > 0 {
                see(shape.chosen(to).least_ns[0] + self.after[to][0]);
                see(shape.chosen(from).least_ns[1] + self.after[from][1]);
            }
        }
        least.unwrap_or(0)
    }

    fn go_forward(&mut self, shape: &Shape<'_>, begun: &Begun<'_>) {
        let problem = shape.problem;
        for at in 0..problem.graph.operators().len() {
            let reached = begun.reached(at, 0);
            let (mut head, mut last) = (begun.at, 0);
            if !matches!(reached, Reached::All(..)) {
                for &edge in &problem.edges_in[at] {
                    let from = problem.edges[edge as usize].from as usize;
                    let times = &shape.edges[edge as usize].times;
                    if let Some(wait) = times.to_reader {
                        head = head.max(self.head[from][0] + wait);
                    }
                    if let Some(wait) = times.to_source {
                        last = last.max(self.last[from][0] + wait);
                    }
                    if times.forward_load > 0 {
                        last = last.max(self.head[from][0] + times.forward_load);
                    }
                }
            }
            self.end(at, 0, (head, last), (shape, reached));
        }
    }

    fn go_backward(&mut self, shape: &Shape<'_>, begun: &Begun<'_>) {
        let problem = shape.problem;
        for at in (0..problem.graph.operators().len()).rev() {
            let reached = begun.reached(at, 1);
            let (mut head, mut last) = (begun.at.max(self.head[at][0]), self.last[at][0]);
            if !matches!(reached, Reached::All(..)) {
                for &edge in &problem.edges_out[at] {
                    let to = problem.edges[edge as usize].to as usize;
                    let times = &shape.edges[edge as usize].times;
                    if let Some(wait) = times.to_source {
                        head = head.max(self.head[to][1] + wait);
                    }
                    if let Some(wait) = times.to_reader {
                        last = last.max(self.last[to][1] + wait);
                    }
                    if times.backward_load > 0 {
                        last = last.max(self.head[to][1] + times.backward_load);
                    }
                }
            }
            self.end(at, 1, (head, last), (shape, reached));
        }
    }

    /// Notes when an operator ends, whose first part is ready after `head` and whose last part after
    /// `last` at the earliest.
    fn end(
        &mut self,
        operator: usize,
        pass: usize,
        (head, last): (u64, u64),
        (shape, reached): (&Shape<'_>, Reached),
    ) {
        let own = shape.chosen(operator).least_ns[pass];
        let (head, last) = (head + own, last.max(head) + own);
        (self.head[operator][pass], self.last[operator][pass]) = match reached {
            Reached::None => (head, last),
            Reached::Some(first_end) => (head.min(first_end), last),
            Reached::All(first_end, last_end) => (first_end, last_end),
        };
    }
}
