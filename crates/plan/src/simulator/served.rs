//! A schedule in words: every task with its times, for traces, charts and tests.

use serde::Serialize;

use crate::simulator::evaluator::Evaluator;
use crate::simulator::schedule::Logged;
use crate::simulator::task::{Kind, kind_of, low_of, owner_of};

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
        self.schedule.log.iter().map(|logged| self.served_task(logged)).collect()
    }

    fn served_task(&self, logged: &Logged) -> Served {
        let task = &self.arena.tasks[logged.place as usize];
        let problem = self.shape.problem;
        let (graph, owner) = (&problem.graph, owner_of(logged.key));
        let operator = |at: usize| &graph.operators[at].name;
        let group = || &graph.groups[owner].name;
        let edge = || &problem.edges[owner];
        let (work, of, part) = match kind_of(logged.key) {
            Kind::Forward => (Work::Forward, operator(owner), low_of(logged.key) as u32),
            Kind::Backward => (Work::Backward, operator(owner), low_of(logged.key) as u32),
            Kind::MoveForward => (Work::MoveForward, operator(edge().to as usize), 0),
            Kind::MoveBackward => (Work::MoveBackward, operator(edge().from as usize), 0),
            Kind::Sum => (Work::Sum, group(), task.relation),
            Kind::HandOut => (Work::HandOut, group(), task.relation),
            _ => (Work::Update, group(), task.relation),
        };
        Served {
            work,
            of: of.clone(),
            part,
            resource: task.resource,
            key: logged.key,
            ready_ns: logged.ready,
            start_ns: logged.end - task.duration,
            end_ns: logged.end,
        }
    }

    /// A number that differs where any task's times do.
    pub fn fingerprint(&self) -> u64 {
        self.schedule.log.iter().fold(self.schedule.makespan, |hash, logged| {
            [logged.key, logged.ready, logged.end]
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
