//! States of a simulation before every so many tasks.

use crate::simulator::arena::Arena;
use crate::simulator::schedule::{Resource, Schedule};
use crate::simulator::shape::Shape;

/// States one after another.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    /// Queue entries of all states, and where each begins.
    queues: Vec<u128>,
    /// Tasks for which some of what they wait for has ended.
    open: Vec<Opened>,
    begins: Vec<(usize, usize)>,
    /// When each resource is free, and how much work it has done.
    resources: Vec<(u64, u64)>,
    makespans: Vec<u64>,
}

/// How much of what a task waits for has ended, and when the last of it did.
#[derive(Debug, Clone, Copy)]
struct Opened {
    ready: u64,
    place: u32,
    arrived: u32,
}

impl Checkpoints {
    pub(super) fn count(&self) -> usize {
        self.begins.len()
    }

    pub(super) fn truncate(&mut self, count: usize, resources: usize) {
        let (queues, open) = self.begin(count);
        self.queues.truncate(queues);
        self.open.truncate(open);
        self.begins.truncate(count);
        self.resources.truncate(count * resources);
        self.makespans.truncate(count);
    }

    pub(super) fn append(&mut self, other: &mut Self) {
        let (queues, open) = (self.queues.len(), self.open.len());
        self.begins.extend(other.begins.drain(..).map(|begin| (begin.0 + queues, begin.1 + open)));
        self.queues.append(&mut other.queues);
        self.open.append(&mut other.open);
        self.resources.append(&mut other.resources);
        self.makespans.append(&mut other.makespans);
    }

    /// When each resource is free in a state, and how much work it has done.
    pub(super) fn resources_of(&self, number: usize, resources: usize) -> &[(u64, u64)] {
        &self.resources[number * resources..(number + 1) * resources]
    }

    /// Where the entries of a state begin; the end for the one after the last.
    fn begin(&self, number: usize) -> (usize, usize) {
        self.begins.get(number).copied().unwrap_or((self.queues.len(), self.open.len()))
    }
}

impl Schedule {
    /// Goes back to a state. Nothing that has changed since had waited for anything that had ended
    /// then, so what has ended counts as it did; how much it waits for in all may be new.
    pub(super) fn rewind(&mut self, number: usize, shape: &Shape<'_>, arena: &Arena, work: &[u64]) {
        self.first = number * self.every.unwrap_or(1);
        let kept = std::mem::take(&mut self.checkpoints);
        self.fresh_makespan = kept.makespans[number];
        let (from, to) = (kept.begin(number), kept.begin(number + 1));
        self.queue.restore(&kept.queues[from.0..to.0]);
        for own in &kept.open[from.1..to.1] {
            self.reopen(shape, arena, own.place, (own.arrived, own.ready));
        }
        let states = kept.resources_of(number, self.resources.len());
        for ((own, &(free, done)), &work) in self.resources.iter_mut().zip(states).zip(work) {
            *own = Resource { free, left: work - done };
        }
        self.checkpoints = kept;
    }

    pub(super) fn keep_state(&mut self, work: &[u64]) {
        let kept = &mut self.fresh_checkpoints;
        kept.begins.push((kept.queues.len(), kept.open.len()));
        kept.queues.extend_from_slice(self.queue.entries());
        kept.open.extend(self.open.iter().map(|&place| {
            let own = &self.waiting[place as usize];
            Opened { ready: own.ready, place, arrived: own.arrived }
        }));
        let states = self.resources.iter().zip(work);
        kept.resources.extend(states.map(|(own, &work)| (own.free, work - own.left)));
        kept.makespans.push(self.fresh_makespan);
    }
}
