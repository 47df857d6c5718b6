//! Serving tasks in their order, from the beginning or from a checkpoint.

use crate::simulator::arena::Arena;
use crate::simulator::bounds::Bounds;
use crate::simulator::queue::Queue;
use crate::simulator::shape::Shape;
use crate::simulator::sums::covered;
use crate::simulator::task::{Kind, entry, place_of, ready_of};

/// The order in which tasks were served, and what is needed to go on from its middle.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Places of tasks in the order of serving, with the moment they were ready.
    pub(super) log: Vec<Logged>,
    pub(super) makespan: u64,
    /// Tasks between checkpoints.
    every: usize,
    checkpoints: Checkpoints,
    /// What the running simulation serves: the part of the log from its beginning on.
    pub(super) fresh: Vec<Fresh>,
    fresh_checkpoints: Checkpoints,
    fresh_makespan: u64,
    first: usize,
    queue: Queue,
    free: Vec<u64>,
    left: Vec<u64>,
    stamp: u32,
    overlaps: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Logged {
    pub(super) task: u32,
    pub(super) ready: u64,
}

/// A task served in the running simulation, and what it was in the schedule before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fresh {
    task: u32,
    ready: u64,
    old_end: u64,
    old_pos: u32,
}

/// States before every so many tasks.
#[derive(Debug, Default)]
struct Checkpoints {
    /// Queue entries of all states, one after another, and where each begins.
    queues: Vec<u128>,
    begins: Vec<usize>,
    /// When each resource is free, and how much work it has done.
    resources: Vec<(u64, u64)>,
    makespans: Vec<u64>,
}

impl Checkpoints {
    fn truncate(&mut self, count: usize, resources: usize) {
        let end = self.begins.get(count).copied().unwrap_or(self.queues.len());
        self.queues.truncate(end);
        self.begins.truncate(count);
        self.resources.truncate(count * resources);
        self.makespans.truncate(count);
    }

    fn append(&mut self, other: &mut Self) {
        let shift = self.queues.len();
        self.begins.extend(other.begins.drain(..).map(|begin| begin + shift));
        self.queues.append(&mut other.queues);
        self.resources.append(&mut other.resources);
        self.makespans.append(&mut other.makespans);
    }
}

/// Whether a simulation ended or was above its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ran {
    Done(u64),
    AboveLimit,
}

impl Schedule {
    pub(super) fn new(resources: usize, overlaps: bool) -> Self {
        Self {
            log: Vec::new(),
            makespan: 0,
            every: 64.max(resources),
            checkpoints: Checkpoints::default(),
            fresh: Vec::new(),
            fresh_checkpoints: Checkpoints::default(),
            fresh_makespan: 0,
            first: 0,
            queue: Queue::default(),
            free: vec![0; resources],
            left: vec![0; resources],
            stamp: 0,
            overlaps,
        }
    }

    /// Serves all tasks from the last checkpoint that is not after `unchanged`, the first place in
    /// the log whose task could notice a change. `work` is that of each resource in all.
    pub(super) fn run(
        &mut self,
        shape: &Shape<'_>,
        arena: &mut Arena,
        work: &[u64],
        unchanged: usize,
        within: Option<(u64, &Bounds)>,
    ) -> Ran {
        self.stamp += 1;
        self.fresh.clear();
        self.fresh_checkpoints.truncate(0, 0);
        let number = (unchanged / self.every).min(self.checkpoints.begins.len());
        if number == 0 {
            self.begin(shape, arena, work);
        } else {
            self.rewind(number.min(self.checkpoints.begins.len() - 1), work);
        }
        let limit = within.map_or(u64::MAX, |(limit, _)| limit);
        // What a resource has left is above the limit whatever the order.
        let too_late = |(&free, &left): (&u64, &u64)| left > 0 && free + left > limit;
        if self.free.iter().zip(&self.left).any(too_late) {
            return Ran::AboveLimit;
        }
        self.serve(shape, arena, work, within)
    }

    fn begin(&mut self, shape: &Shape<'_>, arena: &mut Arena, work: &[u64]) {
        self.first = 0;
        self.fresh_makespan = 0;
        self.free.fill(0);
        self.left.copy_from_slice(work);
        self.queue.clear();
        let devices = shape.problem.devices();
        for (operator, edges) in shape.problem.edges_in.iter().enumerate() {
            for part in 0..shape.chosen(operator).parts() {
                let place = operator * 2 * devices + part;
                let waits = edges.iter().any(|&edge| {
                    let table = &shape.tables[shape.edges[edge as usize].table as usize];
                    !table.pairs_of_reader(part).is_empty()
                });
                if !waits {
                    self.queue.push(entry(0, arena.tasks[place].key, place as u32));
                }
            }
        }
    }

    fn rewind(&mut self, number: usize, work: &[u64]) {
        let kept = &self.checkpoints;
        self.first = number * self.every;
        self.fresh_makespan = kept.makespans[number];
        let end = kept.begins.get(number + 1).copied().unwrap_or(kept.queues.len());
        self.queue.restore(&kept.queues[kept.begins[number]..end]);
        let count = self.free.len();
        let states = &kept.resources[number * count..(number + 1) * count];
        for (at, &(free, done)) in states.iter().enumerate() {
            self.free[at] = free;
            self.left[at] = work[at] - done;
        }
    }

    fn serve(
        &mut self,
        shape: &Shape<'_>,
        arena: &mut Arena,
        work: &[u64],
        within: Option<(u64, &Bounds)>,
    ) -> Ran {
        let every = self.every;
        loop {
            let pos = self.first + self.fresh.len();
            if pos.is_multiple_of(every) {
                self.keep_state(work);
            }
            let Some(next) = self.queue.pop() else { break };
            let (place, ready) = (place_of(next), ready_of(next));
            let task = &mut arena.tasks[place];
            let resource = task.resource as usize;
            let end = ready.max(self.free[resource]) + task.duration;
            let left = self.left[resource] - task.duration;
            if let Some((limit, bounds)) = within {
                let after = match task.kind {
                    Kind::Forward => bounds.after(task.owner as usize, 0),
                    Kind::Backward => bounds.after(task.owner as usize, 1),
                    _ => 0,
                };
                if end + left.max(after) > limit {
                    return Ran::AboveLimit;
                }
            }
            self.free[resource] = end;
            self.left[resource] = left;
            let (old_end, old_pos) = (task.end, task.pos);
            self.fresh.push(Fresh { task: place as u32, ready, old_end, old_pos });
            task.end = end;
            task.pos = pos as u32;
            self.fresh_makespan = self.fresh_makespan.max(end);
            self.release(shape, arena, place, end);
        }
        Ran::Done(self.fresh_makespan)
    }

    fn keep_state(&mut self, work: &[u64]) {
        let kept = &mut self.fresh_checkpoints;
        kept.begins.push(kept.queues.len());
        kept.queues.extend_from_slice(self.queue.entries());
        let states = self.free.iter().zip(&self.left).zip(work);
        kept.resources.extend(states.map(|((&free, &left), &work)| (free, work - left)));
        kept.makespans.push(self.fresh_makespan);
    }

    /// Makes the new schedule the one that is kept.
    pub(super) fn take(&mut self) {
        let count = self.first / self.every;
        self.log.truncate(self.first);
        self.log.extend(self.fresh.iter().map(|own| Logged { task: own.task, ready: own.ready }));
        self.checkpoints.truncate(count, self.free.len());
        self.checkpoints.append(&mut self.fresh_checkpoints);
        self.makespan = self.fresh_makespan;
        self.fresh.clear();
    }

    /// Brings back the times of the schedule that is kept.
    pub(super) fn drop_fresh(&mut self, arena: &mut Arena) {
        // Backwards, so that nothing that was served twice could keep a new time.
        for own in self.fresh.drain(..).rev() {
            let task = &mut arena.tasks[own.task as usize];
            (task.end, task.pos) = (own.old_end, own.old_pos);
        }
    }

    /// Tells all that waited for a task that it has ended.
    fn release(&mut self, shape: &Shape<'_>, arena: &mut Arena, place: usize, end: u64) {
        let task = arena.tasks[place];
        match task.kind {
            Kind::Forward => self.release_forward(shape, arena, place, end),
            Kind::Backward => self.release_backward(shape, arena, place, end),
            Kind::MoveForward | Kind::MoveBackward => self.arrive(shape, arena, task.owner, end),
            Kind::Sum => {
                let shard = &shape.groups[task.owner as usize].shards[task.part as usize];
                self.arrive(shape, arena, shard.summed(), end);
            }
            Kind::Update => {
                let shard = &shape.groups[task.owner as usize].shards[task.part as usize];
                if shard.hand_outs > 0 {
                    self.arrive(shape, arena, shard.updated(), end);
                }
            }
            _ => {}
        }
    }

    fn release_forward(&mut self, shape: &Shape<'_>, arena: &mut Arena, place: usize, end: u64) {
        let devices = shape.problem.devices();
        let task = arena.tasks[place];
        let (operator, part) = (task.owner as usize, task.part as usize);
        for &edge in &shape.problem.edges_out[operator] {
            let own = shape.edges[edge as usize];
            let table = &shape.tables[own.table as usize];
            let to = shape.problem.edges[edge as usize].to as usize;
            let range = table.pairs_of_source(part);
            let first = range.start;
            for (at, pair) in table.pairs[range].iter().enumerate() {
                let reader = pair.reader as usize;
                if u32::from(shape.device[to * devices + reader]) == task.resource {
                    self.arrive(shape, arena, (to * 2 * devices + reader) as u32, end);
                } else {
                    let message = own.block.base + 2 * (first + at) as u32;
                    self.queue.push(entry(end, arena.tasks[message as usize].key, message));
                }
            }
        }
        self.arrive(shape, arena, (place + devices) as u32, end);
    }

    fn release_backward(&mut self, shape: &Shape<'_>, arena: &mut Arena, place: usize, end: u64) {
        let devices = shape.problem.devices();
        let task = arena.tasks[place];
        let (operator, part) = (task.owner as usize, task.part as usize);
        for &edge in &shape.problem.edges_in[operator] {
            let own = shape.edges[edge as usize];
            let table = &shape.tables[own.table as usize];
            let from = shape.problem.edges[edge as usize].from as usize;
            for &at in table.pairs_of_reader(part) {
                let source = table.pairs[at as usize].source as usize;
                if u32::from(shape.device[from * devices + source]) == task.resource {
                    let target = from * 2 * devices + devices + source;
                    self.arrive(shape, arena, target as u32, end);
                } else {
                    let message = own.block.base + 2 * at + 1;
                    self.queue.push(entry(end, arena.tasks[message as usize].key, message));
                }
            }
        }
        if let Some(weights) = &shape.problem.graph.operators()[operator].weights {
            let (group, choice) = (&shape.groups[weights.group], shape.chosen(operator));
            let place = choice.cut[part];
            for first in covered(group.cuts.0, choice.cuts.0, place.0) {
                for second in covered(group.cuts.1, choice.cuts.1, place.1) {
                    let number = first as usize * group.cuts.1 as usize + second as usize;
                    self.arrive(shape, arena, group.shards[number].gathered(), end);
                }
            }
        }
        if !self.overlaps {
            self.arrive(shape, arena, all_backward(shape), end);
        }
    }

    /// One of those that a task waits for has ended; the last one makes it ready.
    fn arrive(&mut self, shape: &Shape<'_>, arena: &mut Arena, place: u32, end: u64) {
        let task = &mut arena.tasks[place as usize];
        if task.stamp != self.stamp {
            let (waits, ready) = self.waits_for(shape, arena, place);
            let task = &mut arena.tasks[place as usize];
            (task.stamp, task.waits, task.ready) = (self.stamp, waits, ready);
        }
        let task = &mut arena.tasks[place as usize];
        task.ready = task.ready.max(end);
        task.waits -= 1;
        if task.waits > 0 {
            return;
        }
        let (ready, kind) = (task.ready, task.kind);
        if matches!(kind, Kind::Forward | Kind::Backward) {
            self.queue.push(entry(ready, task.key, place));
        } else {
            self.join(shape, arena, place, ready);
        }
    }

    /// A join is over: what it held back is ready.
    fn join(&mut self, shape: &Shape<'_>, arena: &mut Arena, place: u32, ready: u64) {
        let task = arena.tasks[place as usize];
        if task.kind == Kind::AllBackward {
            for group in &shape.groups {
                for shard in &group.shards {
                    self.arrive(shape, arena, shard.gathered(), ready);
                }
            }
            return;
        }
        let shard = shape.groups[task.owner as usize].shards[task.part as usize];
        let next = match task.kind {
            Kind::Gathered if shard.sums > 0 => shard.sum_tasks(),
            Kind::Gathered | Kind::Summed => shard.update_tasks(),
            _ => shard.hand_out_tasks(),
        };
        for next in next {
            self.queue.push(entry(ready, arena.tasks[next as usize].key, next));
        }
    }

    /// How many of those that a task waits for have not been served before this simulation began,
    /// and the latest end of the others.
    fn waits_for(&self, shape: &Shape<'_>, arena: &Arena, place: u32) -> (u32, u64) {
        let mut found = Waits { arena, first: self.first as u32, waits: 0, ready: 0 };
        let devices = shape.problem.devices();
        let task = &arena.tasks[place as usize];
        let part = task.part as usize;
        match task.kind {
            Kind::Forward => found.forward(shape, task.owner as usize, part),
            Kind::Backward => {
                found.see(place - devices as u32);
                found.backward(shape, task.owner as usize, part);
            }
            Kind::Gathered => {
                let shard = &shape.groups[task.owner as usize].shards[part];
                if self.first == 0 {
                    found.waits = shard.waits;
                } else {
                    found.gathered(shape, task.owner as usize, part);
                }
                // The whole backward pass is never over before a gradient is there.
                found.waits += u32::from(!self.overlaps);
            }
            Kind::Summed => {
                let shard = &shape.groups[task.owner as usize].shards[part];
                shard.sum_tasks().for_each(|own| found.see(own));
            }
            Kind::Updated => {
                let shard = &shape.groups[task.owner as usize].shards[part];
                shard.update_tasks().for_each(|own| found.see(own));
            }
            _ => {
                for operator in 0..shape.choice.len() {
                    let first = operator * 2 * devices + devices;
                    let parts = shape.chosen(operator).parts();
                    (first..first + parts).for_each(|own| found.see(own as u32));
                }
            }
        }
        (found.waits, found.ready)
    }
}

/// The join that waits for the whole backward pass: after the tasks of all operators.
pub(super) fn all_backward(shape: &Shape<'_>) -> u32 {
    (shape.choice.len() * 2 * shape.problem.devices()) as u32
}

/// Counts what a task waits for.
struct Waits<'a> {
    arena: &'a Arena,
    first: u32,
    waits: u32,
    ready: u64,
}

impl Waits<'_> {
    fn see(&mut self, place: u32) {
        let task = &self.arena.tasks[place as usize];
        if task.pos < self.first {
            self.ready = self.ready.max(task.end);
        } else {
            self.waits += 1;
        }
    }

    fn forward(&mut self, shape: &Shape<'_>, operator: usize, part: usize) {
        let devices = shape.problem.devices();
        let device = shape.device[operator * devices + part];
        for &edge in &shape.problem.edges_in[operator] {
            let own = shape.edges[edge as usize];
            let table = &shape.tables[own.table as usize];
            let pairs = table.pairs_of_reader(part);
            if self.first == 0 {
                self.waits += pairs.len() as u32;
                continue;
            }
            let from = shape.problem.edges[edge as usize].from as usize;
            for &at in pairs {
                let source = table.pairs[at as usize].source as usize;
                let is_here = shape.device[from * devices + source] == device;
                let local = (from * 2 * devices + source) as u32;
                self.see(if is_here { local } else { own.block.base + 2 * at });
            }
        }
    }

    fn backward(&mut self, shape: &Shape<'_>, operator: usize, part: usize) {
        let devices = shape.problem.devices();
        let device = shape.device[operator * devices + part];
        for &edge in &shape.problem.edges_out[operator] {
            let own = shape.edges[edge as usize];
            let table = &shape.tables[own.table as usize];
            let range = table.pairs_of_source(part);
            if self.first == 0 {
                self.waits += range.len() as u32;
                continue;
            }
            let to = shape.problem.edges[edge as usize].to as usize;
            for at in range {
                let reader = table.pairs[at].reader as usize;
                let is_here = shape.device[to * devices + reader] == device;
                let local = (to * 2 * devices + devices + reader) as u32;
                self.see(if is_here { local } else { own.block.base + 2 * at as u32 + 1 });
            }
        }
    }

    fn gathered(&mut self, shape: &Shape<'_>, group: usize, shard: usize) {
        let devices = shape.problem.devices();
        let cuts = shape.groups[group].cuts;
        let (first, second) = ((shard / cuts.1 as usize) as u16, (shard % cuts.1 as usize) as u16);
        for &operator in &shape.problem.graph.groups()[group].operators {
            let choice = shape.chosen(operator);
            for (part, &place) in choice.cut.iter().enumerate() {
                let is_covered = covered(cuts.0, choice.cuts.0, place.0).contains(&first)
                    && covered(cuts.1, choice.cuts.1, place.1).contains(&second);
                if is_covered {
                    self.see((operator * 2 * devices + devices + part) as u32);
                }
            }
        }
    }
}
