//! Evaluates plans one after another: each a small change of the one before.

mod change;
mod making;

use change::Change;

use crate::plan::{Plan, Split};
use crate::problem::{Overlap, Problem, Sharding};
use crate::simulator::arena::Arena;
use crate::simulator::bounds::{Bounds, EdgeScratch};
use crate::simulator::schedule::{Course, Ran, Schedule, Within, all_backward};
use crate::simulator::shape::Shape;
use crate::simulator::sums::{GroupSums, SumsScratch};
use crate::simulator::task::{Kind, Task};

/// How much is computed anew for a change. The costs are the same in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The whole task graph, and its whole schedule.
    Rebuild,
    /// The changed tasks, and the whole schedule.
    InPlace,
    /// The changed tasks, and the schedule from where it could change.
    Rewind,
    /// The same, but nothing that cannot stay below the limit.
    Bounded,
}

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evaluation {
    /// The step takes so many nanoseconds.
    Cost(u64),
    /// It takes more than the limit; how much is not known.
    AboveLimit,
    /// A device would need more memory than it has.
    DoesNotFit,
}

/// A plan, its task graph and its schedule, changed in place.
#[derive(Debug)]
pub struct Evaluator<'p> {
    pub(super) shape: Shape<'p>,
    pub(super) arena: Arena,
    pub(super) schedule: Schedule,
    mode: Mode,
    /// Work of each resource, and what updates are of that of each device.
    work: Vec<u64>,
    updates: Vec<u64>,
    bounds: Bounds,
    edge_scratch: EdgeScratch,
    memory: Memory,
    change: Change,
    scratch: SumsScratch,
    spare: Vec<GroupSums>,
    /// Whether the task graph is that of another plan (in [`Mode::Rebuild`] after an undo).
    stale: bool,
}

/// Bytes on each device.
#[derive(Debug, Clone, Default, PartialEq)]
struct Memory {
    /// Weights, gradients, the optimiser's numbers, and what came from other devices.
    held: Vec<u64>,
    /// Rows of what is kept for the backward pass; see `Problem::kept_row`.
    kept: Vec<u64>,
}

impl<'p> Evaluator<'p> {
    /// The evaluator of a problem, beginning with a plan.
    ///
    /// # Panics
    /// When the plan is not one of the problem.
    pub fn new(problem: &'p Problem, plan: &Plan, mode: Mode) -> Self {
        let operators = problem.graph.operators().len();
        let overlaps = problem.training.overlap == Overlap::Beside;
        let mut own = Self {
            shape: Shape::new(problem),
            arena: Arena::new(operators * 2 * problem.devices() + 1),
            schedule: Schedule::new(&Course {
                resources: problem.resources(),
                operators,
                devices: problem.devices(),
                overlaps,
                rewinds: matches!(mode, Mode::Rewind | Mode::Bounded),
            }),
            mode,
            work: Vec::new(),
            updates: Vec::new(),
            bounds: Bounds::new(problem),
            edge_scratch: EdgeScratch::new(problem.resources()),
            memory: Memory::default(),
            change: Change::default(),
            scratch: SumsScratch::default(),
            spare: Vec::new(),
            stale: false,
        };
        own.put(plan);
        own.build();
        own.simulate_all();
        own
    }

    /// Makes another plan the one that is kept.
    ///
    /// # Panics
    /// When the plan is not one of the problem.
    pub fn set(&mut self, plan: &Plan) {
        self.put(plan);
        self.build();
        self.simulate_all();
    }

    fn put(&mut self, plan: &Plan) {
        let operators = self.shape.choice.len();
        assert_eq!(plan.splits.len(), operators, "one split an operator");
        for (operator, split) in plan.splits.iter().enumerate() {
            self.put_split(operator, split);
        }
    }

    fn put_split(&mut self, operator: usize, split: &Split) {
        let choice = &self.shape.problem.choices[operator][split.choice as usize];
        assert_eq!(choice.parts(), split.devices.len(), "one device a part");
        let first = operator * self.shape.problem.devices();
        self.shape.choice[operator] = split.choice;
        self.shape.device[first..first + split.devices.len()].copy_from_slice(&split.devices);
    }

    /// Nanoseconds of a step of the plan that is kept.
    pub fn cost(&self) -> u64 {
        self.schedule.makespan
    }

    /// The split of an operator now.
    pub fn split(&self, operator: usize) -> Split {
        let devices = self.shape.devices_of(operator).to_vec();
        Split { choice: self.shape.choice[operator], devices }
    }

    /// The plan now.
    pub fn plan(&self) -> Plan {
        Plan { splits: (0..self.shape.choice.len()).map(|at| self.split(at)).collect() }
    }

    /// Bytes that each device needs.
    pub fn memory(&self) -> Vec<u64> {
        (0..self.shape.problem.devices()).map(|device| self.memory_of(device)).collect()
    }

    /// Whether every device has the memory that it needs.
    pub fn fits(&self) -> bool {
        let capacity = self.shape.problem.machine.device.memory_bytes;
        (0..self.shape.problem.devices()).all(|device| self.memory_of(device) <= capacity)
    }

    /// Bytes of weights, gradients, the optimiser's numbers and activations on a device.
    pub fn memory_parts(&self, device: usize) -> [u64; 4] {
        let sum = |of: fn(&GroupSums) -> &Vec<u64>| {
            self.shape.groups.iter().map(|group| of(group)[device]).sum::<u64>()
        };
        let [weights, gradients, optimizer] =
            [sum(|it| &it.weights), sum(|it| &it.gradients), sum(|it| &it.optimizer)];
        let rest = self.memory_of(device) - weights - gradients - optimizer;
        let gathered = self.gathered_on(device);
        let (weights, rest) = (weights + gathered, rest - gathered);
        [weights, gradients, optimizer, rest]
    }

    fn memory_of(&self, device: usize) -> u64 {
        let devices = self.shape.problem.devices();
        let mut rows = self.memory.kept.chunks_exact(devices).map(|row| row[device]);
        let always = rows.next().unwrap_or(0);
        let kept = always + rows.max().unwrap_or(0);
        self.memory.held[device] + self.gathered_on(device) + kept
    }

    /// Bytes that the weights being used take besides what the device holds: of one group at a time.
    fn gathered_on(&self, device: usize) -> u64 {
        if self.shape.problem.training.sharding < Sharding::Weights {
            return 0;
        }
        self.shape.groups.iter().map(|group| group.gathered[device]).max().unwrap_or(0)
    }

    /// Makes all tasks of the plan anew.
    fn build(&mut self) {
        let problem = self.shape.problem;
        self.work.clear();
        self.work.resize(problem.resources(), 0);
        self.updates.clear();
        self.updates.resize(problem.devices(), 0);
        self.memory.held.clear();
        self.memory.held.resize(problem.devices(), 0);
        self.memory.kept.clear();
        self.memory.kept.resize(problem.devices() * problem.kept_rows, 0);
        let joined = all_backward(&self.shape) as usize;
        self.arena.tasks[joined] = Task::join(Kind::AllBackward, 0, 0);
        for operator in 0..problem.graph.operators().len() {
            self.make_operator(operator);
        }
        for edge in 0..problem.edges.len() {
            let old = self.shape.edges[edge];
            self.arena.give_back(old.block);
            self.shape.edges[edge] = self.make_edge(edge);
        }
        for group in 0..problem.graph.groups().len() {
            let old = std::mem::take(&mut self.shape.groups[group]);
            old.shards.iter().for_each(|shard| self.arena.give_back(shard.block));
            let mut new = old;
            new.shards.clear();
            let empty = GroupSums::default();
            self.make_group(group, &empty, &mut new);
            self.shape.groups[group] = new;
        }
        self.change.made.clear();
        self.change.unused.clear();
        self.stale = false;
    }

    fn simulate_all(&mut self) {
        let Self { schedule, shape, arena, work, .. } = self;
        let ran = schedule.run(shape, arena, work, 0, None);
        debug_assert!(matches!(ran, Ran::Done(_)));
        schedule.take(shape);
    }

    /// Evaluates a change of some operators' splits; [`Self::accept`] or [`Self::undo`] must follow.
    ///
    /// # Panics
    /// When a change is open already, or a split is not one of the problem.
    pub fn propose(&mut self, splits: &[(usize, Split)], limit: u64) -> Evaluation {
        assert!(!self.change.is_open, "a change is taken or undone before the next");
        if self.mode == Mode::Rebuild {
            return self.propose_rebuilt(splits, limit);
        }
        let is_new = |(operator, split): &&(usize, Split)| {
            let same = self.shape.choice[*operator] == split.choice;
            !(same && self.shape.devices_of(*operator) == split.devices)
        };
        let splits: &[&(usize, Split)] = &splits.iter().filter(is_new).collect::<Vec<_>>();
        self.change.is_empty = splits.is_empty();
        if splits.is_empty() {
            self.change.is_open = true;
            let cost = self.cost();
            return if cost <= limit { Evaluation::Cost(cost) } else { Evaluation::AboveLimit };
        }
        let bounded = self.mode == Mode::Bounded;
        if bounded && self.devices_exceed(splits, limit) {
            return Evaluation::AboveLimit;
        }
        let unchanged = if self.mode == Mode::InPlace { 0 } else { self.first_noticed(splits) };
        self.apply(splits);
        if !self.fits() {
            return Evaluation::DoesNotFit;
        }
        if bounded && self.work.iter().any(|&work| work > limit) {
            return Evaluation::AboveLimit;
        }
        if bounded && self.least_cost(unchanged, limit) > limit {
            return Evaluation::AboveLimit;
        }
        let Self { schedule, shape, arena, work, bounds, updates, .. } = self;
        let within = bounded.then_some(Within { limit, bounds, updates });
        match schedule.run(shape, arena, work, unchanged, within) {
            Ran::Done(cost) if cost <= limit => Evaluation::Cost(cost),
            _ => Evaluation::AboveLimit,
        }
    }

    fn propose_rebuilt(&mut self, splits: &[(usize, Split)], limit: u64) -> Evaluation {
        self.save_splits(splits);
        self.change.is_empty = false;
        for (operator, split) in splits {
            self.put_split(*operator, split);
        }
        self.build();
        self.stale = true;
        if !self.fits() {
            return Evaluation::DoesNotFit;
        }
        let Self { schedule, shape, arena, work, .. } = self;
        match schedule.run(shape, arena, work, 0, None) {
            Ran::Done(cost) if cost <= limit => Evaluation::Cost(cost),
            _ => Evaluation::AboveLimit,
        }
    }

    /// Nanoseconds that the changed plan takes at least; some number above the limit where that is
    /// clear. Else the tails of the bounds are those of the changed plan afterwards.
    fn least_cost(&mut self, unchanged: usize, limit: u64) -> u64 {
        let Self { schedule, shape, arena, bounds, .. } = self;
        let begun = schedule.begun(unchanged);
        let path = begun.as_ref().map_or(0, |begun| bounds.longest_path(shape, begun));
        if path > limit {
            return path;
        }
        bounds.find_tails(shape);
        let Some(begun) = begun else { return path };
        bounds.busiest((shape, arena), &begun, limit)
    }

    /// Whether a device has more to compute than the limit.
    fn devices_exceed(&mut self, splits: &[&(usize, Split)], limit: u64) -> bool {
        let devices = self.shape.problem.devices();
        let work = &mut self.change.work;
        work.clear();
        work.extend_from_slice(&self.work[..devices]);
        for (operator, _) in splits {
            let old = self.shape.chosen(*operator);
            for (part, &device) in self.shape.devices_of(*operator).iter().enumerate() {
                work[device as usize] -= old.forward_ns[part] + old.backward_ns[part];
            }
        }
        // Updates may move to other devices too; without them this is a lower bound.
        for (operator, _) in splits {
            if let Some(weights) = &self.shape.problem.graph.operators()[*operator].weights {
                self.without_updates(weights.group);
            }
        }
        let work = &mut self.change.work;
        for (operator, split) in splits {
            let new = &self.shape.problem.choices[*operator][split.choice as usize];
            for (part, &device) in split.devices.iter().enumerate() {
                work[device as usize] += new.forward_ns[part] + new.backward_ns[part];
            }
        }
        work.iter().any(|&work| work > limit)
    }

    fn without_updates(&mut self, group: usize) {
        for shard in &self.shape.groups[group].shards {
            for place in shard.update_tasks() {
                let task = &self.arena.tasks[place as usize];
                let work = &mut self.change.work[task.resource as usize];
                *work = work.saturating_sub(task.duration);
            }
        }
    }

    /// The first place in the log whose task could notice a change of these operators: that of the
    /// first part of an operator that one of them reads, or of the first gradient for weights that
    /// one of them has.
    fn first_noticed(&self, splits: &[&(usize, Split)]) -> usize {
        let problem = self.shape.problem;
        let mut first = self.schedule.log.len();
        for (operator, _) in splits {
            let edges = &problem.edges_in[*operator];
            if edges.is_empty() {
                return 0;
            }
            for &edge in edges {
                let from = problem.edges[edge as usize].from as usize;
                first = first.min(self.schedule.first_served(from, 0));
            }
            if let Some(weights) = &problem.graph.operators()[*operator].weights {
                for &alike in &problem.graph.groups()[weights.group].operators {
                    first = first.min(self.schedule.first_served(alike, 1));
                }
            }
        }
        first
    }

    pub(super) fn work_of_resources(&self) -> &[u64] {
        &self.work
    }

    /// Brings the task graph up to date with the plan that is kept.
    pub fn refresh(&mut self) {
        if self.stale {
            self.build();
            self.simulate_all();
        }
    }
}
