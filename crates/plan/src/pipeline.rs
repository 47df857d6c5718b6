//! Pipelines: contiguous stages of operators, batches cut into micro-batches.
//!
//! Cuts are found by dynamic programming over the longest stage (Narayanan et al. 2019,
//! "PipeDream", section 3.1; Zheng et al. 2022, "Alpa", equation 2, whose step time is
//! t_1 + ... + t_s + (m - 1) max t). The step is then simulated task by task.

mod costs;
mod memory;
mod tasks;

use serde::{Deserialize, Serialize};

use crate::lists::serve;
use crate::pipeline::costs::Costs;
use crate::problem::{Problem, micro_batches};

/// Stages of a pipeline: each holds operators from one place up to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stages {
    /// The first operator of each stage; the first is 0.
    pub begins: Vec<usize>,
}

/// In which order a stage works on micro-batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PipelineOrder {
    /// All forward, then all backward (Huang et al. 2019, "GPipe").
    Gpipe,
    /// One forward, one backward: stage i of s keeps at most s - i micro-batches.
    OneForwardOneBackward,
}

/// A pipeline as it would run.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// The stages.
    pub stages: Stages,
    /// Parts of a batch.
    pub micro_batches: u64,
    /// The order of work.
    pub order: PipelineOrder,
    /// Nanoseconds of a step.
    pub cost: u64,
    /// Bytes of weights, gradients, the optimiser's numbers and activations of the fullest device.
    pub memory: [u64; 4],
    /// Share of the step in which each stage computes.
    pub busy: Vec<f64>,
    /// Every task, for traces: stage, micro-batch and whether backward, or a message.
    pub served: Vec<PipelineTask>,
}

/// A task of a pipeline with its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineTask {
    /// What it does.
    pub name: String,
    /// Stage, or the number of stages and more for links; see [`Pipeline::resource_name`].
    pub resource: usize,
    /// When all that it waited for had ended, in nanoseconds.
    pub ready_ns: u64,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

impl Stages {
    /// How many.
    pub fn count(&self) -> usize {
        self.begins.len()
    }

    /// The stage of an operator.
    pub fn of(&self, operator: usize) -> usize {
        self.begins.iter().rposition(|&begin| begin <= operator).unwrap_or(0)
    }
}

impl Pipeline {
    /// What a resource of its tasks is called.
    pub fn resource_name(&self, problem: &Problem, resource: usize) -> String {
        match resource.checked_sub(self.stages.count()) {
            None => format!("stage {resource}"),
            Some(link) => problem.resource_name(problem.devices() + link),
        }
    }
}

/// The fastest pipeline of a problem that fits in memory, else the one that needs least; none for
/// one device, where the operators are fewer than two, or where what the user rules out leaves none.
pub fn best_pipeline(problem: &Problem) -> Option<Pipeline> {
    let (devices, operators) = (problem.devices(), problem.graph().operators().len());
    let batch = problem.graph().batch();
    let capacity = problem.machine().device.memory_bytes;
    let mut found: Vec<Pipeline> = Vec::new();
    for stages in (2..=devices.min(operators)).filter(|stages| devices.is_multiple_of(*stages)) {
        let width = devices / stages;
        for micro_batches in micro_batches(width, batch) {
            let Some(cuts) = Costs::new(problem, width, micro_batches).cuts(stages) else {
                continue;
            };
            for order in [PipelineOrder::OneForwardOneBackward, PipelineOrder::Gpipe] {
                found.push(pipeline(problem, &cuts, micro_batches, order));
            }
        }
    }
    found.into_iter().min_by_key(|own| {
        let memory = own.memory.iter().sum::<u64>();
        let misfit = memory > capacity;
        (misfit, if misfit { memory } else { own.cost }, own.cost)
    })
}

/// A pipeline simulated: every stage on as many devices as there are for it.
///
/// # Panics
/// When the micro-batches are not a power of two up to 64, or more than the examples of a replica.
pub fn pipeline(
    problem: &Problem,
    stages: &Stages,
    micro_batches: u64,
    order: PipelineOrder,
) -> Pipeline {
    let count = stages.count();
    let costs = Costs::new(problem, (problem.devices() / count).max(1), micro_batches);
    let tasks = tasks::of_step(&costs, stages, order);
    let times = serve(&tasks);
    let cost = times.iter().map(|own| own.end).max().unwrap_or(0);
    let busy = (0..count).map(|stage| {
        let own = tasks.iter().filter(|task| task.resource == stage);
        own.map(|task| task.duration).sum::<u64>() as f64 / cost.max(1) as f64
    });
    let served = tasks.iter().zip(&times).map(|(task, times)| PipelineTask {
        name: task.name.clone(),
        resource: task.resource,
        ready_ns: times.ready,
        start_ns: times.end - task.duration,
        end_ns: times.end,
    });
    Pipeline {
        stages: stages.clone(),
        micro_batches,
        order,
        cost,
        memory: memory::of_fullest(&costs, stages, order),
        busy: busy.collect(),
        served: served.collect(),
    }
}
