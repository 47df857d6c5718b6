//! Making the tasks of operators, edges and groups, and taking their work and memory away.

use crate::simulator::evaluator::Evaluator;
use crate::simulator::shape::EdgeTasks;
use crate::simulator::sums::{self, GroupSums};
use crate::simulator::task::Task;

impl Evaluator<'_> {
    pub(super) fn make_operator(&mut self, operator: usize) {
        let shape = &self.shape;
        let (devices, choice) = (shape.problem.devices(), shape.chosen(operator));
        let row = shape.problem.kept_row[operator] * devices;
        for part in 0..choice.parts() {
            let device = shape.device[operator * devices + part];
            let (forward, backward) = choice.part_ns(part);
            let place = operator * 2 * devices + part;
            let task = |duration| Task { duration, resource: u32::from(device), relation: 0 };
            self.arena.tasks[place] = task(forward);
            self.arena.tasks[place + devices] = task(backward);
            self.work[device as usize] += forward + backward;
            self.memory.kept[row + device as usize] += choice.kept[part];
        }
    }

    /// Takes the work and memory of an operator's parts away.
    pub(super) fn forget_operator(&mut self, operator: usize) {
        let shape = &self.shape;
        let (devices, choice) = (shape.problem.devices(), shape.chosen(operator));
        let row = shape.problem.kept_row[operator] * devices;
        for (part, &device) in shape.devices_of(operator).iter().enumerate() {
            let (forward, backward) = choice.part_ns(part);
            self.work[device as usize] -= forward + backward;
            self.memory.kept[row + device as usize] -= choice.kept[part];
        }
    }

    pub(super) fn make_edge(&mut self, edge: usize) -> EdgeTasks {
        let table = self.shape.table_of(edge);
        self.need_messages(edge, table);
        let shape = &self.shape;
        let problem = shape.problem;
        let (devices, wires) = (problem.devices(), &problem.wires);
        let own = &problem.edges[edge];
        let (from, to) = (own.from as usize, own.to as usize);
        let pairs = &shape.tables[table as usize].pairs;
        let block = self.arena.take(2 * pairs.len());
        let slow = &mut self.edge_scratch;
        slow.begin(shape.chosen(from).parts(), shape.chosen(to).parts());
        for (at, pair) in pairs.iter().enumerate() {
            let (source, reader) = (pair.source as usize, pair.reader as usize);
            let here = shape.device[from * devices + source];
            let there = shape.device[to * devices + reader];
            let place = block.base as usize + 2 * at;
            if here == there {
                slow.see_local(source, reader);
                self.arena.tasks[place..place + 2].fill(Task::EMPTY);
                continue;
            }
            // A message takes as long to a device as from it.
            let duration = wires.time(here, there, pair.bytes);
            let message = |(here, there), target: usize| Task {
                duration,
                resource: wires.link(here, there),
                relation: target as u32,
            };
            let forward = message((here, there), to * 2 * devices + reader);
            let backward = message((there, here), from * 2 * devices + devices + source);
            slow.see((source, reader), &forward, &backward);
            self.work[forward.resource as usize] += forward.duration;
            self.work[backward.resource as usize] += backward.duration;
            self.memory.held[there as usize] += pair.bytes;
            self.arena.tasks[place] = forward;
            self.arena.tasks[place + 1] = backward;
        }
        EdgeTasks { table, block, times: slow.times() }
    }

    /// Lets the parts at both ends of an edge wait for its messages.
    fn need_messages(&mut self, edge: usize, table: u32) {
        let shape = &self.shape;
        let devices = shape.problem.devices();
        let own = &shape.problem.edges[edge];
        let (from, to) = (own.from as usize, own.to as usize);
        let table = &shape.tables[table as usize];
        let mut add = |first: usize, begins: &[u32]| {
            for (task, ends) in self.arena.tasks[first..].iter_mut().zip(begins.windows(2)) {
                task.relation += ends[1] - ends[0];
            }
        };
        add(to * 2 * devices, &table.of_reader);
        add(from * 2 * devices + devices, &table.of_source);
    }

    /// Takes the work and memory of an edge's messages away.
    pub(super) fn forget_edge(&mut self, edge: usize) {
        let shape = &self.shape;
        let devices = shape.problem.devices();
        let own = &shape.problem.edges[edge];
        let (from, to) = (own.from as usize, own.to as usize);
        let EdgeTasks { table, block, .. } = shape.edges[edge];
        let known = &shape.tables[table as usize];
        let mut take = |first: usize, begins: &[u32]| {
            for (task, ends) in self.arena.tasks[first..].iter_mut().zip(begins.windows(2)) {
                task.relation -= ends[1] - ends[0];
            }
        };
        take(to * 2 * devices, &known.of_reader);
        take(from * 2 * devices + devices, &known.of_source);
        for (at, pair) in shape.tables[table as usize].pairs.iter().enumerate() {
            let here = shape.device[from * devices + pair.source as usize];
            let there = shape.device[to * devices + pair.reader as usize];
            if here != there {
                let place = block.base as usize + 2 * at;
                for task in &self.arena.tasks[place..place + 2] {
                    self.work[task.resource as usize] -= task.duration;
                }
                self.memory.held[there as usize] -= pair.bytes;
            }
        }
    }

    pub(super) fn make_group(&mut self, group: usize, old: &GroupSums, new: &mut GroupSums) {
        let Self { shape, arena, scratch, change, .. } = self;
        let blocks = (&mut change.made, &mut change.unused);
        sums::rebuild(shape, group, (old, new), arena, scratch, blocks);
        for (sign, own) in [(false, old), (true, &*new)] {
            for shard in &own.shards {
                for place in shard.timed_tasks() {
                    let task = &self.arena.tasks[place as usize];
                    let work = &mut self.work[task.resource as usize];
                    *work = if sign { *work + task.duration } else { *work - task.duration };
                }
                for place in shard.update_tasks() {
                    let task = &self.arena.tasks[place as usize];
                    let own = &mut self.updates[task.resource as usize];
                    *own = if sign { *own + task.duration } else { *own - task.duration };
                }
            }
            for bytes in [&own.weights, &own.gradients, &own.optimizer] {
                for (held, &bytes) in self.memory.held.iter_mut().zip(bytes) {
                    *held = if sign { *held + bytes } else { *held - bytes };
                }
            }
        }
    }
}
