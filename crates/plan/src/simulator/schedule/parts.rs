//! When the parts of operators were served.

use crate::simulator::schedule::{Logged, Schedule};
use crate::simulator::shape::Shape;

/// Parts of operators in the schedule that is kept.
#[derive(Debug)]
pub(super) struct Parts {
    /// Place in the log and end of each, by its place in the arena.
    served: Vec<(u32, u64)>,
    /// For each operator those of its parts together, forward and backward.
    pub(super) spans: Vec<[Span; 2]>,
}

/// Parts of an operator in one pass.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::simulator) struct Span {
    /// Places in the log of the first and the last that were served.
    pub(in crate::simulator) first: u32,
    pub(in crate::simulator) last: u32,
    /// When the first and the last of them ended.
    pub(in crate::simulator) first_end: u64,
    pub(in crate::simulator) last_end: u64,
}

/// What was served before a simulation that begins in the middle.
#[derive(Debug)]
pub(in crate::simulator) struct Begun<'a> {
    /// No task that is still to be served is ready before.
    pub(in crate::simulator) at: u64,
    /// How many tasks were served.
    pub(in crate::simulator) served: usize,
    pub(in crate::simulator) spans: &'a [[Span; 2]],
    /// When each resource is free, and how much work it has done.
    pub(in crate::simulator) free: &'a [(u64, u64)],
}

impl Parts {
    pub(super) fn new(operators: usize, devices: usize) -> Self {
        Self {
            served: vec![(0, 0); operators * 2 * devices],
            spans: vec![[Span::default(); 2]; operators],
        }
    }

    /// Notes tasks that were served, the first of them at a place of the log.
    pub(super) fn note(&mut self, shape: &Shape<'_>, first: usize, fresh: &[Logged]) {
        for (at, own) in fresh.iter().enumerate() {
            if let Some(part) = self.served.get_mut(own.place as usize) {
                *part = ((first + at) as u32, own.end);
            }
        }
        let devices = shape.problem.devices();
        for (operator, spans) in self.spans.iter_mut().enumerate() {
            let parts = shape.chosen(operator).parts();
            for (pass, span) in spans.iter_mut().enumerate() {
                let begin = (2 * operator + pass) * devices;
                *span = Span::of(&self.served[begin..begin + parts]);
            }
        }
    }
}

impl Span {
    fn of(parts: &[(u32, u64)]) -> Self {
        let mut own = Self { first: u32::MAX, last: 0, first_end: u64::MAX, last_end: 0 };
        for &(place, end) in parts {
            own.first = own.first.min(place);
            own.last = own.last.max(place);
            own.first_end = own.first_end.min(end);
            own.last_end = own.last_end.max(end);
        }
        own
    }
}

impl Schedule {
    /// What stays as it is where the task at a place of the log is the first that could notice a
    /// change; none where simulations begin at the beginning.
    pub(in crate::simulator) fn begun(&self, unchanged: usize) -> Option<Begun<'_>> {
        let number = self.checkpoint_before(unchanged)?;
        let served = number * self.every?;
        let free = self.checkpoints.resources_of(number, self.resources.len());
        Some(Begun { at: self.log.get(served)?.ready, served, spans: &self.parts.spans, free })
    }
}
