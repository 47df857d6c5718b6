//! What the end of a task lets begin.

use crate::simulator::arena::Arena;
use crate::simulator::schedule::followers::{backward_message, forward_message};
use crate::simulator::schedule::{Schedule, all_backward};
use crate::simulator::shape::Shape;
use crate::simulator::sums::covered;
use crate::simulator::task::{Kind, Task, entry, key, low_of, owner_of};

/// What a task has waited for so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Waiting {
    /// Latest end of it.
    pub(super) ready: u64,
    /// How much of it has ended, and how much there is.
    pub(super) arrived: u32,
    needed: u32,
    /// The simulation that this belongs to.
    stamp: u32,
    /// Place in the list of open tasks.
    open_at: u32,
}

impl Schedule {
    /// Tells all that waited for a task that it has ended.
    #[inline]
    pub(super) fn release(
        &mut self,
        shape: &Shape<'_>,
        arena: &Arena,
        (kind, key, task): (Kind, u64, &Task),
        end: u64,
    ) {
        match kind {
            Kind::Forward => self.release_forward(shape, arena, (key, task), end),
            Kind::Backward => self.release_backward(shape, arena, (key, task), end),
            Kind::MoveForward | Kind::MoveBackward => {
                self.arrive(shape, arena, task.relation, end);
            }
            Kind::Sum => {
                let shard = &shape.groups[owner_of(key)].shards[task.relation as usize];
                self.arrive(shape, arena, shard.summed(), end);
            }
            Kind::Update => {
                let shard = &shape.groups[owner_of(key)].shards[task.relation as usize];
                if shard.hand_outs > 0 {
                    self.arrive(shape, arena, shard.updated(), end);
                }
            }
            _ => {}
        }
    }

    fn release_forward(
        &mut self,
        shape: &Shape<'_>,
        arena: &Arena,
        (own_key, task): (u64, &Task),
        end: u64,
    ) {
        let devices = shape.problem.devices();
        let (operator, part) = (owner_of(own_key), low_of(own_key));
        for &edge in &shape.problem.edges_out[operator] {
            let own = &shape.edges[edge as usize];
            let table = &shape.tables[own.table as usize];
            let to = shape.problem.edges[edge as usize].to as usize;
            let there = &shape.device[to * devices..(to + 1) * devices];
            let range = table.pairs_of_source(part);
            let mut first_message = None;
            for (at, pair) in table.pairs[range.clone()].iter().enumerate() {
                if u32::from(there[pair.reader as usize]) == task.resource {
                    let reader = to * 2 * devices + pair.reader as usize;
                    self.arrive(shape, arena, reader as u32, end);
                } else if first_message.is_none() {
                    first_message = Some(range.start + at);
                }
            }
            if let Some(at) = first_message {
                let (key, place) = forward_message(own, edge, (at, &table.pairs[at]));
                self.queue.push(entry(end, key, place));
            }
        }
        // Gradients of a part come back from what read it, so they come after it by themselves. A
        // part that nothing reads goes back at once.
        let backward = operator * 2 * devices + devices + part;
        if arena.tasks[backward].relation == 0 {
            let key = key(Kind::Backward, operator as u32, part as u64);
            self.queue.push(entry(end, key, backward as u32));
        }
    }

    fn release_backward(
        &mut self,
        shape: &Shape<'_>,
        arena: &Arena,
        (own_key, task): (u64, &Task),
        end: u64,
    ) {
        let devices = shape.problem.devices();
        let (operator, part) = (owner_of(own_key), low_of(own_key));
        for &edge in &shape.problem.edges_in[operator] {
            let own = &shape.edges[edge as usize];
            let table = &shape.tables[own.table as usize];
            let from = shape.problem.edges[edge as usize].from as usize;
            let there = &shape.device[from * devices..(from + 1) * devices];
            let mut first_message = None;
            for read in table.pairs_of_reader(part) {
                if u32::from(there[read.source as usize]) == task.resource {
                    let target = from * 2 * devices + devices + read.source as usize;
                    self.arrive(shape, arena, target as u32, end);
                } else if first_message.is_none() {
                    first_message = Some(read);
                }
            }
            if let Some(read) = first_message {
                let (key, place) = backward_message(own, edge, (read, part as u16));
                self.queue.push(entry(end, key, place));
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
    #[inline]
    fn arrive(&mut self, shape: &Shape<'_>, arena: &Arena, place: u32, end: u64) {
        let stamp = self.stamp;
        let mut own = self.waiting[place as usize];
        if own.stamp != stamp {
            let needed = self.needed(shape, arena, place);
            own = Waiting { ready: 0, arrived: 0, needed, stamp, open_at: 0 };
        }
        own.ready = own.ready.max(end);
        own.arrived += 1;
        if own.arrived < own.needed {
            if own.arrived == 1 {
                own.open_at = self.open.len() as u32;
                self.open.push(place);
            }
            self.waiting[place as usize] = own;
            return;
        }
        if own.arrived > 1 {
            self.close(own.open_at as usize);
        }
        if place >= all_backward(shape) {
            return self.join(shape, arena, place, own.ready);
        }
        self.queue.push(entry(own.ready, self.part_keys[place as usize], place));
    }

    fn close(&mut self, at: usize) {
        self.open.swap_remove(at);
        if let Some(&moved) = self.open.get(at) {
            self.waiting[moved as usize].open_at = at as u32;
        }
    }

    /// Brings back a task of which some is there.
    pub(super) fn reopen(
        &mut self,
        shape: &Shape<'_>,
        arena: &Arena,
        place: u32,
        (arrived, ready): (u32, u64),
    ) {
        let needed = self.needed(shape, arena, place);
        let open_at = self.open.len() as u32;
        self.open.push(place);
        self.waiting[place as usize] =
            Waiting { ready, arrived, needed, stamp: self.stamp, open_at };
    }

    /// How many a task waits for.
    #[inline]
    fn needed(&self, shape: &Shape<'_>, arena: &Arena, place: u32) -> u32 {
        let task = &arena.tasks[place as usize];
        if place < all_backward(shape) {
            return task.relation;
        }
        let kind = task.join_kind();
        if kind == Kind::AllBackward {
            return (0..shape.choice.len()).map(|own| shape.chosen(own).parts() as u32).sum();
        }
        let shard = &shape.groups[task.resource as usize].shards[task.relation as usize];
        match kind {
            // The whole backward pass is never over before a gradient is there.
            Kind::Gathered => shard.waits + u32::from(!self.overlaps),
            Kind::Summed => shard.sums.into(),
            _ => shard.updates.into(),
        }
    }

    /// A join is over: what it held back is ready.
    fn join(&mut self, shape: &Shape<'_>, arena: &Arena, place: u32, ready: u64) {
        let task = &arena.tasks[place as usize];
        let kind = task.join_kind();
        if kind == Kind::AllBackward {
            for group in &shape.groups {
                for shard in &group.shards {
                    self.arrive(shape, arena, shard.gathered(), ready);
                }
            }
            return;
        }
        let shard = shape.groups[task.resource as usize].shards[task.relation as usize];
        let (kind, next) = match kind {
            Kind::Gathered if shard.sums > 0 => (Kind::Sum, shard.sum_tasks()),
            Kind::Gathered | Kind::Summed => (Kind::Update, shard.update_tasks()),
            _ => (Kind::HandOut, shard.hand_out_tasks()),
        };
        if !next.is_empty() {
            let first = u64::from(task.relation) * shape.problem.devices() as u64;
            self.queue.push(entry(ready, key(kind, task.resource, first), next.start));
        }
    }
}
