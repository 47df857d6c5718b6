//! A schedule in words: every task with its times, for traces, charts and tests.

use serde::Serialize;

use crate::simulator::evaluator::Evaluator;
use crate::simulator::task::Kind;

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// A part of an operator forward.
    Forward,
    /// A part of an operator backward.
    Backward,
    /// A message to a reader.
    MoveForward,
    /// Gradients back to it.
    MoveBackward,
    /// Gradients of copies added up.
    Sum,
    /// Weights updated.
    Update,
    /// New weights handed out.
    HandOut,
}

/// A task with its times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Served {
    /// What it does.
    pub work: Work,
    /// Operator or parameter group; for a message the reader.
    pub of: String,
    /// Part, or shard.
    pub part: u32,
    /// Device or link.
    pub resource: u32,
    /// The key that orders it among those ready at the same moment.
    pub key: u64,
    /// When all that it waited for had ended, in nanoseconds.
    pub ready_ns: u64,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

impl Evaluator<'_> {
    /// Every task of the schedule that is kept, in the order of serving.
    pub fn served(&self) -> Vec<Served> {
        self.schedule.log.iter().map(|logged| self.served_task(logged.task, logged.ready)).collect()
    }

    fn served_task(&self, place: u32, ready_ns: u64) -> Served {
        let task = &self.arena.tasks[place as usize];
        let problem = self.shape.problem;
        let (graph, width) = (&problem.graph, 2 * problem.devices());
        let (work, of) = match task.kind {
            Kind::Forward => (Work::Forward, &graph.operators[task.owner as usize].name),
            Kind::Backward => (Work::Backward, &graph.operators[task.owner as usize].name),
            Kind::MoveForward => {
                (Work::MoveForward, &graph.operators[task.owner as usize / width].name)
            }
            Kind::MoveBackward => {
                (Work::MoveBackward, &graph.operators[task.owner as usize / width].name)
            }
            Kind::Sum => (Work::Sum, &graph.groups[task.owner as usize].name),
            Kind::HandOut => (Work::HandOut, &graph.groups[task.owner as usize].name),
            _ => (Work::Update, &graph.groups[task.owner as usize].name),
        };
        Served {
            work,
            of: of.clone(),
            part: task.part,
            resource: task.resource,
            key: task.key,
            ready_ns,
            start_ns: task.end - task.duration,
            end_ns: task.end,
        }
    }

    /// A number that differs where any task's times do.
    pub fn fingerprint(&self) -> u64 {
        self.schedule.log.iter().fold(self.schedule.makespan, |hash, logged| {
            let task = &self.arena.tasks[logged.task as usize];
            [task.key, logged.ready, task.end]
                .into_iter()
                .fold(hash, |hash, part| trainwright_random::mix(hash ^ part))
        })
    }

    /// How many tasks the schedule has.
    pub fn tasks(&self) -> usize {
        self.schedule.log.len()
    }

    /// Nanoseconds of work of each device and link.
    pub fn work(&self) -> &[u64] {
        self.work_of_resources()
    }
}
