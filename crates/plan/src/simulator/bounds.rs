//! What a plan takes at least, operator by operator, without simulating it.
//!
//! Heads are moments before which no part of an operator has ended, lasts such before which not all
//! parts have; tails say how long the step goes on at least after any part has ended. They follow
//! from the shortest part of each operator and from four figures of each edge ([`EdgeTimes`]), so
//! they cost a walk over operators and edges where a simulation serves all tasks. Devices and links
//! are taken as free, except that messages of one edge share their links.

use crate::problem::Problem;
use crate::simulator::shape::Shape;
use crate::simulator::task::Task;

/// How long the messages of an edge hold things up at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EdgeTimes {
    /// Of all readers, the shortest wait for its slowest message; none where some part of the
    /// reader waits for no message.
    pub(super) to_reader: Option<u64>,
    /// Of all sources, the shortest time of its slowest message; none where some part of the source
    /// has no reader.
    pub(super) to_source: Option<u64>,
    /// The most work that the messages are for one link, forward and backward.
    pub(super) forward_load: u64,
    pub(super) backward_load: u64,
}

impl EdgeTimes {
    pub(super) const NONE: Self =
        Self { to_reader: None, to_source: None, forward_load: 0, backward_load: 0 };
}

/// Finds the times of an edge, message by message.
#[derive(Debug)]
pub(super) struct EdgeScratch {
    /// One more than the time of the slowest message of each part; nothing before the first.
    sources: Vec<u64>,
    readers: Vec<u64>,
    /// Work of each resource.
    forward: Vec<u64>,
    backward: Vec<u64>,
    most_forward: u64,
    most_backward: u64,
}

impl EdgeScratch {
    pub(super) fn new(resources: usize) -> Self {
        Self {
            sources: Vec::new(),
            readers: Vec::new(),
            forward: vec![0; resources],
            backward: vec![0; resources],
            most_forward: 0,
            most_backward: 0,
        }
    }

    pub(super) fn begin(&mut self, sources: usize, readers: usize) {
        for (slowest, parts) in [(&mut self.sources, sources), (&mut self.readers, readers)] {
            slowest.clear();
            slowest.resize(parts, 0);
        }
        self.forward.fill(0);
        self.backward.fill(0);
        (self.most_forward, self.most_backward) = (0, 0);
    }

    /// Two parts on one device.
    pub(super) fn see_local(&mut self, source: usize, reader: usize) {
        self.sources[source] = self.sources[source].max(1);
        self.readers[reader] = self.readers[reader].max(1);
    }

    /// Two parts on different devices, with the messages to the reader and back.
    pub(super) fn see(&mut self, (source, reader): (usize, usize), to: &Task, back: &Task) {
        let slower = to.duration.min(back.duration);
        self.sources[source] = self.sources[source].max(slower + 1);
        self.readers[reader] = self.readers[reader].max(slower + 1);
        let forward = &mut self.forward[to.resource as usize];
        *forward += to.duration;
        self.most_forward = self.most_forward.max(*forward);
        let backward = &mut self.backward[back.resource as usize];
        *backward += back.duration;
        self.most_backward = self.most_backward.max(*backward);
    }

    pub(super) fn times(&self) -> EdgeTimes {
        let least = |slowest: &[u64]| slowest.iter().min().and_then(|own| own.checked_sub(1));
        EdgeTimes {
            to_reader: least(&self.readers),
            to_source: least(&self.sources),
            forward_load: self.most_forward,
            backward_load: self.most_backward,
        }
    }
}

/// Bounds of the plan that was last looked at.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    head_forward: Vec<u64>,
    head_backward: Vec<u64>,
    last_forward: Vec<u64>,
    last_backward: Vec<u64>,
    /// What follows at least after a part has ended, forward and backward of each operator.
    after: Vec<[u64; 2]>,
}

impl Bounds {
    pub(super) fn new(problem: &Problem) -> Self {
        let zeros = vec![0; problem.graph.operators().len()];
        Self {
            head_forward: zeros.clone(),
            head_backward: zeros.clone(),
            last_forward: zeros.clone(),
            last_backward: zeros.clone(),
            after: vec![[0; 2]; zeros.len()],
        }
    }

    /// Nanoseconds after a part of an operator has ended, forward (0) or backward (1), that the
    /// step goes on at least.
    pub(super) fn after(&self, operator: usize, pass: usize) -> u64 {
        self.after[operator][pass]
    }

    /// Nanoseconds that the step takes at least. `sums` is the work of each resource that waits for
    /// gradients.
    pub(super) fn least_cost(&mut self, shape: &Shape<'_>, sums: &[u64]) -> u64 {
        self.go_forward(shape);
        self.go_backward(shape);
        let mut least = self.last_backward.iter().copied().max().unwrap_or(0);
        let mut gathered = u64::MAX;
        for (own, group) in shape.groups.iter().zip(shape.problem.graph.groups()) {
            if own.shards.is_empty() {
                continue;
            }
            let of = |lasts: &[u64]| group.operators.iter().map(|&at| lasts[at]).max();
            least = least.max(of(&self.last_backward).unwrap_or(0) + own.after);
            gathered = gathered.min(of(&self.head_backward).unwrap_or(0));
        }
        let busiest = sums.iter().copied().max().unwrap_or(0);
        if busiest > 0 {
            least = least.max(gathered + busiest);
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
    }

    fn go_forward(&mut self, shape: &Shape<'_>) {
        let problem = shape.problem;
        for at in 0..problem.graph.operators().len() {
            let (mut head, mut last) = (0, 0);
            for &edge in &problem.edges_in[at] {
                let from = problem.edges[edge as usize].from as usize;
                let times = &shape.edges[edge as usize].times;
                if let Some(wait) = times.to_reader {
                    head = head.max(self.head_forward[from] + wait);
                }
                if let Some(wait) = times.to_source {
                    last = last.max(self.last_forward[from] + wait);
                }
                if times.forward_load > 0 {
                    last = last.max(self.head_forward[from] + times.forward_load);
                }
            }
            let own = shape.chosen(at).least_ns[0];
            self.head_forward[at] = head + own;
            self.last_forward[at] = last.max(head) + own;
        }
    }

    fn go_backward(&mut self, shape: &Shape<'_>) {
        let problem = shape.problem;
        for at in (0..problem.graph.operators().len()).rev() {
            let (mut head, mut last) = (self.head_forward[at], self.last_forward[at]);
            for &edge in &problem.edges_out[at] {
                let to = problem.edges[edge as usize].to as usize;
                let times = &shape.edges[edge as usize].times;
                if let Some(wait) = times.to_source {
                    head = head.max(self.head_backward[to] + wait);
                }
                if let Some(wait) = times.to_reader {
                    last = last.max(self.last_backward[to] + wait);
                }
                if times.backward_load > 0 {
                    last = last.max(self.head_backward[to] + times.backward_load);
                }
            }
            let own = shape.chosen(at).least_ns[1];
            self.head_backward[at] = head + own;
            self.last_backward[at] = last.max(head) + own;
        }
    }
}
