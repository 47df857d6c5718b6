//! Serving tasks in their order, from the beginning or from a checkpoint.

mod checkpoints;
mod followers;
mod parts;
mod release;

pub(super) use parts::Begun;

use checkpoints::Checkpoints;
use parts::Parts;
use release::Waiting;

use crate::simulator::arena::Arena;
use crate::simulator::bounds::Bounds;
use crate::simulator::queue::Queue;
use crate::simulator::shape::Shape;
use crate::simulator::task::{
    Kind, Task, entry, key, key_of, kind_of, owner_of, place_of, ready_of,
};

/// The order in which tasks were served, and what is needed to go on from its middle.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Tasks in the order of serving.
    pub(super) log: Vec<Logged>,
    pub(super) makespan: u64,
    /// Keys of the parts of operators, by their places in the arena.
    part_keys: Vec<u64>,
    parts: Parts,
    /// Tasks between checkpoints; none are kept where nothing is ever served again.
    every: Option<usize>,
    checkpoints: Checkpoints,
    /// What the running simulation serves: the part of the log from its beginning on.
    pub(super) fresh: Vec<Logged>,
    fresh_checkpoints: Checkpoints,
    fresh_makespan: u64,
    first: usize,
    queue: Queue,
    /// When each resource is free, and how much work it has left.
    resources: Vec<Resource>,
    /// What tasks have waited for, by their places in the arena.
    waiting: Vec<Waiting>,
    /// Places of tasks for which some but not all that they wait for has ended.
    open: Vec<u32>,
    stamp: u32,
    overlaps: bool,
}

/// A task that was served.
#[derive(Debug, Clone, Copy)]
pub(super) struct Logged {
    /// When it was ready, and when it ended.
    pub(super) ready: u64,
    pub(super) end: u64,
    pub(super) key: u64,
    pub(super) place: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Resource {
    free: u64,
    left: u64,
}

/// Whether a simulation ended or was above its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ran {
    Done(u64),
    AboveLimit,
}

/// What a simulation is to stay within.
#[derive(Clone, Copy)]
pub(super) struct Within<'a> {
    pub(super) limit: u64,
    pub(super) bounds: &'a Bounds,
    /// Nanoseconds of all updates of each device.
    pub(super) updates: &'a [u64],
}

impl Within<'_> {
    /// Nanoseconds that follow at least after a task, where its device or link has so much left.
    #[inline]
    fn follows(
        &self,
        shape: &Shape<'_>,
        arena: &Arena,
        (kind, key, task): (Kind, u64, &Task),
        left: u64,
    ) -> u64 {
        let (bounds, rests, owner) = (self.bounds, self.bounds.rests(), owner_of(key));
        // What is left of parts of operators, and what follows after the last of them.
        let parts = || left.saturating_sub(self.updates[task.resource as usize]) + rests.device;
        // A message is followed by the part that waits for it.
        let target = || arena.tasks[task.relation as usize].duration;
        let edge = || &shape.problem.edges[owner];
        match kind {
            Kind::Forward => left.max(parts()).max(bounds.after(owner, 0)),
            Kind::Backward => left.max(parts()).max(bounds.after(owner, 1)),
            Kind::MoveForward => {
                (left + rests.link).max(target() + bounds.after(edge().to as usize, 0))
            }
            Kind::MoveBackward => {
                (left + rests.link).max(target() + bounds.after(edge().from as usize, 1))
            }
            Kind::Sum | Kind::HandOut => left + rests.link,
            _ => left,
        }
    }
}

/// What the schedules of a problem have in common.
pub(super) struct Course {
    pub(super) resources: usize,
    pub(super) operators: usize,
    pub(super) devices: usize,
    pub(super) overlaps: bool,
    /// Whether simulations may begin in the middle.
    pub(super) rewinds: bool,
}

impl Course {
    fn part_keys(&self) -> Vec<u64> {
        let of = |operator: usize, kind: Kind| {
            (0..self.devices as u64).map(move |part| key(kind, operator as u32, part))
        };
        (0..self.operators)
            .flat_map(|operator| of(operator, Kind::Forward).chain(of(operator, Kind::Backward)))
            .collect()
    }
}

impl Schedule {
    pub(super) fn new(course: &Course) -> Self {
        Self {
            log: Vec::new(),
            makespan: 0,
            part_keys: course.part_keys(),
            parts: Parts::new(course.operators, course.devices),
            every: course.rewinds.then_some(64.max(course.resources)),
            checkpoints: Checkpoints::default(),
            fresh: Vec::new(),
            fresh_checkpoints: Checkpoints::default(),
            fresh_makespan: 0,
            first: 0,
            queue: Queue::default(),
            resources: vec![Resource::default(); course.resources],
            waiting: Vec::new(),
            open: Vec::new(),
            stamp: 0,
            overlaps: course.overlaps,
        }
    }

    /// The first place in the log of an operator's parts, forward (0) or backward (1).
    pub(super) fn first_served(&self, operator: usize, pass: usize) -> usize {
        self.parts.spans[operator][pass].first as usize
    }

    /// The last checkpoint that is not after a place of the log; none where there are none.
    fn checkpoint_before(&self, place: usize) -> Option<usize> {
        let last = self.checkpoints.count().saturating_sub(1);
        self.every.map(|every| (place / every).min(last))
    }

    /// Serves all tasks from the last checkpoint that is not after `unchanged`, the first place in
    /// the log whose task could notice a change. `work` is that of each resource in all.
    pub(super) fn run(
        &mut self,
        shape: &Shape<'_>,
        arena: &Arena,
        work: &[u64],
        unchanged: usize,
        within: Option<Within<'_>>,
    ) -> Ran {
        self.stamp += 1;
        self.fresh.clear();
        self.open.clear();
        self.waiting.resize(arena.tasks.len(), Waiting::default());
        self.fresh_checkpoints.truncate(0, 0);
        match self.checkpoint_before(unchanged) {
            None | Some(0) => self.begin(shape, arena, work),
            Some(number) => self.rewind(number, shape, arena, work),
        }
        if within.is_some_and(|own| self.is_late(&own)) {
            return Ran::AboveLimit;
        }
        self.serve(shape, arena, work, within)
    }

    /// Whether what a resource has left is above the limit whatever the order.
    fn is_late(&self, within: &Within<'_>) -> bool {
        let (devices, links) = self.resources.split_at(within.updates.len());
        let rests = within.bounds.rests();
        let late = |free: u64, left: u64| left > 0 && free + left > within.limit;
        devices.iter().zip(within.updates).any(|(own, &updates)| {
            let parts = own.left.saturating_sub(updates);
            late(own.free, own.left) || (parts > 0 && late(own.free, parts + rests.device))
        }) || links.iter().any(|own| own.left > 0 && late(own.free, own.left + rests.link))
    }

    fn begin(&mut self, shape: &Shape<'_>, arena: &Arena, work: &[u64]) {
        self.first = 0;
        self.fresh_makespan = 0;
        for (own, &work) in self.resources.iter_mut().zip(work) {
            *own = Resource { free: 0, left: work };
        }
        self.queue.clear();
        let devices = shape.problem.devices();
        for operator in 0..shape.choice.len() {
            for part in 0..shape.chosen(operator).parts() {
                let place = operator * 2 * devices + part;
                if arena.tasks[place].relation == 0 {
                    let key = key(Kind::Forward, operator as u32, part as u64);
                    self.queue.push(entry(0, key, place as u32));
                }
            }
        }
    }

    fn serve(
        &mut self,
        shape: &Shape<'_>,
        arena: &Arena,
        work: &[u64],
        within: Option<Within<'_>>,
    ) -> Ran {
        // The first task of a simulation is one before which a checkpoint lies.
        let mut until_checkpoint = 0;
        let every = self.every.unwrap_or(usize::MAX);
        loop {
            if until_checkpoint == 0 {
                if self.every.is_some() {
                    self.keep_state(work);
                }
                until_checkpoint = every;
            }
            until_checkpoint -= 1;
            let Some(next) = self.queue.first() else { break };
            let (place, ready, key) = (place_of(next), ready_of(next), key_of(next));
            let task = &arena.tasks[place as usize];
            match followers::next(shape, (key, place)) {
                Some((key, place)) => self.queue.replace_first(entry(ready, key, place)),
                None => self.queue.pop().expect("it was there"),
            };
            let own = &mut self.resources[task.resource as usize];
            let end = ready.max(own.free) + task.duration;
            let left = own.left - task.duration;
            let kind = kind_of(key);
            if let Some(within) = within
                && end + within.follows(shape, arena, (kind, key, task), left) > within.limit
            {
                return Ran::AboveLimit;
            }
            *own = Resource { free: end, left };
            self.fresh.push(Logged { ready, end, key, place });
            self.fresh_makespan = self.fresh_makespan.max(end);
            self.release(shape, arena, (kind, key, task), end);
        }
        Ran::Done(self.fresh_makespan)
    }

    /// Makes the new schedule the one that is kept.
    pub(super) fn take(&mut self, shape: &Shape<'_>) {
        self.makespan = self.fresh_makespan;
        if self.every.is_none() {
            std::mem::swap(&mut self.log, &mut self.fresh);
            self.fresh.clear();
            return;
        }
        self.parts.note(shape, self.first, &self.fresh);
        self.log.truncate(self.first);
        self.log.append(&mut self.fresh);
        let count = self.first.div_ceil(self.every.unwrap_or(1));
        self.checkpoints.truncate(count, self.resources.len());
        self.checkpoints.append(&mut self.fresh_checkpoints);
    }

    /// Forgets the running simulation; the schedule that is kept was never touched.
    pub(super) fn drop_fresh(&mut self) {
        self.fresh.clear();
    }
}

/// The join that waits for the whole backward pass: after the tasks of all operators.
pub(super) fn all_backward(shape: &Shape<'_>) -> u32 {
    (shape.choice.len() * 2 * shape.problem.devices()) as u32
}
