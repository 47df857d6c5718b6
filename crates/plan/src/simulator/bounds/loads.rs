//! What all tasks are together for each device and link, from the moment on that they can be ready.

use crate::problem::Problem;
use crate::simulator::arena::Arena;
use crate::simulator::bounds::{Bounds, Reached};
use crate::simulator::schedule::Begun;
use crate::simulator::shape::Shape;
use crate::simulator::task::Task;

/// Work of tasks that are ready late, and the order in which they are looked at.
#[derive(Debug)]
pub(super) struct Loads {
    /// Operators, forward and backward, those with the latest heads first.
    order: Vec<(u64, u32)>,
    /// Work of each resource so far, and that of parts of operators alone.
    work: Vec<u64>,
    parts: Vec<u64>,
    /// Groups whose sums were looked at, by the number of the walk.
    seen: Vec<u64>,
    walk: u64,
}

impl Loads {
    pub(super) fn new(problem: &Problem) -> Self {
        Self {
            order: (0..2 * problem.graph.operators().len() as u32).map(|it| (0, it)).collect(),
            work: vec![0; problem.resources()],
            parts: vec![0; problem.devices()],
            seen: vec![0; problem.graph.groups().len()],
            walk: 0,
        }
    }

    /// Sorts by heads; they are nearly sorted already, as heads change little from plan to plan.
    fn sort(&mut self, heads: &[[u64; 2]]) {
        for own in &mut self.order {
            own.0 = heads[own.1 as usize / 2][own.1 as usize % 2];
        }
        for at in 1..self.order.len() {
            let own = self.order[at];
            let mut to = at;
            while to > 0 && self.order[to - 1].0 < own.0 {
                self.order[to] = self.order[to - 1];
                to -= 1;
            }
            self.order[to] = own;
        }
    }

    /// Adds tasks that are not ready before `from`, as all before are not; gives the earliest end of
    /// the resource that ends last.
    fn add<'t>(
        &mut self,
        tasks: impl Iterator<Item = &'t Task>,
        from: u64,
        free: &[(u64, u64)],
    ) -> u64 {
        let mut latest = 0;
        for task in tasks {
            let resource = task.resource as usize;
            self.work[resource] += task.duration;
            latest = latest.max(from.max(free[resource].0) + self.work[resource]);
        }
        latest
    }

    /// Adds parts of operators; gives the earliest end of the step, where so much follows after the
    /// last part of each device.
    fn add_parts(&mut self, parts: &[Task], from: u64, free: &[(u64, u64)], rest: u64) -> u64 {
        let mut latest = 0;
        for task in parts {
            let device = task.resource as usize;
            self.work[device] += task.duration;
            self.parts[device] += task.duration;
            let left = self.work[device].max(self.parts[device] + rest);
            latest = latest.max(from.max(free[device].0) + left);
        }
        latest
    }
}

impl Bounds {
    /// Nanoseconds that the step takes at least, by the heads that were found last: for each device
    /// and link and each moment, that moment, all work that is not ready before it, and what follows
    /// after the last of it. Of operators that were served in part nothing is counted.
    pub(in crate::simulator) fn busiest(
        &mut self,
        (shape, arena): (&Shape<'_>, &Arena),
        begun: &Begun<'_>,
        limit: u64,
    ) -> u64 {
        let problem = shape.problem;
        let devices = problem.devices();
        let Self { head, loads, rests, .. } = self;
        loads.sort(head);
        loads.work.fill(0);
        loads.parts.fill(0);
        loads.walk += 1;
        let (mut least, mut starts) = (0, u64::MAX);
        for at in 0..loads.order.len() {
            let (end, number) = loads.order[at];
            let (operator, pass) = (number as usize / 2, number as usize % 2);
            if begun.reached(operator, pass) != Reached::None {
                continue;
            }
            let choice = shape.chosen(operator);
            if pass == 1
                && let Some(weights) = &problem.graph.operators()[operator].weights
                && loads.seen[weights.group] < loads.walk
            {
                loads.seen[weights.group] = loads.walk;
                for shard in &shape.groups[weights.group].shards {
                    let sums = arena.range(shard.sum_tasks());
                    least = least.max(loads.add(sums, end, begun.free) + rests.link);
                    let starts = starts.min(end);
                    let updates = arena.range(shard.update_tasks());
                    least = least.max(loads.add(updates, starts, begun.free));
                    let hand_outs = arena.range(shard.hand_out_tasks());
                    least = least.max(loads.add(hand_outs, end, begun.free) + rests.link);
                }
            }
            let edges = if pass == 0 { &problem.edges_out } else { &problem.edges_in };
            for &edge in &edges[operator] {
                let messages = shape.messages(arena, edge as usize, pass);
                least = least.max(loads.add(messages, end, begun.free) + rests.link);
            }
            starts = starts.min(end - choice.least_ns[pass]);
            let first = operator * 2 * devices + pass * devices;
            let parts = &arena.tasks[first..first + choice.parts()];
            least = least.max(loads.add_parts(parts, starts, begun.free, rests.device));
            if least > limit {
                break;
            }
        }
        least
    }
}
