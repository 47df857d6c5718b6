//! Pipelines: contiguous stages of operators, batches cut into micro-batches.
//!
//! Cuts are found by dynamic programming over the longest stage (Narayanan et al. 2019,
//! "PipeDream", section 3.1; Zheng et al. 2022, "Alpa", equation 2, whose step time is
//! t_1 + ... + t_s + (m - 1) max t). The step is then simulated task by task.

use serde::{Deserialize, Serialize};

use crate::lists::{ListedTask, serve};
use crate::problem::{Problem, Sharding, Updating, micro_batches};

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
    /// Stage, or the number of stages and more for links.
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

/// What stages of a problem cost for one micro-batch.
struct Costs<'p> {
    problem: &'p Problem,
    /// Replicas of each stage.
    width: usize,
    micro_batches: u64,
    /// Nanoseconds forward and backward of each operator for a micro-batch: weights are read anew
    /// for each.
    times: Vec<(u64, u64)>,
    /// Bytes over each place between operators, on each replica.
    cut_bytes: Vec<u64>,
    /// Bytes kept by each operator for a micro-batch.
    kept: Vec<u64>,
}

impl<'p> Costs<'p> {
    fn new(problem: &'p Problem, width: usize, micro_batches: u64) -> Self {
        let operators = problem.graph().operators();
        let share = (width as u64 * micro_batches) as f64;
        let times = &problem.share_ns[&(width as u64 * micro_batches)];
        let mut cut_bytes = vec![0; operators.len() + 1];
        for (at, operator) in operators.iter().enumerate() {
            let readers = operators
                .iter()
                .enumerate()
                .filter(|(_, other)| other.inputs.iter().any(|input| input.from == at));
            let last = readers.map(|(reader, _)| reader).max().unwrap_or(at);
            let bytes = (4.0 * operator.outputs() as f64 / share).ceil() as u64;
            cut_bytes[at + 1..=last].iter_mut().for_each(|cut| *cut += bytes);
        }
        let kept = operators
            .iter()
            .map(|own| (own.outputs() as f64 * own.kept_per_output / share).ceil() as u64)
            .collect();
        Self { problem, width, micro_batches, times: times.clone(), cut_bytes, kept }
    }

    fn stage_ns(&self, range: std::ops::Range<usize>) -> u64 {
        self.times[range].iter().map(|(forward, backward)| forward + backward).sum()
    }

    /// Nanoseconds of the message into the stage that begins at a place.
    fn message_ns(&self, begin: usize, stage: usize) -> u64 {
        if begin == 0 {
            return 0;
        }
        let (from, to) = ((stage - 1) * self.width, stage * self.width);
        self.problem.wires.time(from as u16, to as u16, self.cut_bytes[begin])
    }

    /// The cuts into a number of stages whose longest, with its message, is shortest.
    fn cuts(&self, stages: usize) -> Stages {
        let count = self.times.len();
        let mut sums = vec![0; count + 1];
        for at in 0..count {
            sums[at + 1] = sums[at] + self.stage_ns(at..at + 1);
        }
        // best[s][end]: longest of s stages over the operators before `end`, and the last's begin.
        let mut best = vec![vec![(u64::MAX, 0); count + 1]; stages + 1];
        best[0][0] = (0, 0);
        for stage in 1..=stages {
            for end in stage..=count {
                for begin in stage - 1..end {
                    let before = best[stage - 1][begin].0;
                    if before == u64::MAX {
                        continue;
                    }
                    let own = sums[end] - sums[begin] + 2 * self.message_ns(begin, stage - 1);
                    let longest = before.max(own);
                    if longest < best[stage][end].0 {
                        best[stage][end] = (longest, begin);
                    }
                }
            }
        }
        let mut begins = Vec::new();
        let mut end = count;
        for stage in (1..=stages).rev() {
            end = best[stage][end].1;
            begins.push(end);
        }
        begins.reverse();
        Stages { begins }
    }
}

/// The fastest pipeline of a problem that fits in memory, else the one that needs least; none for
/// one device, or where the operators are fewer than two.
pub fn best_pipeline(problem: &Problem) -> Option<Pipeline> {
    let (devices, operators) = (problem.devices(), problem.graph().operators().len());
    let batch = problem.graph().batch();
    let capacity = problem.machine().device.memory_bytes;
    let mut found: Vec<Pipeline> = Vec::new();
    for stages in (2..=devices.min(operators)).filter(|stages| devices.is_multiple_of(*stages)) {
        let width = devices / stages;
        for micro_batches in micro_batches(width, batch) {
            let cuts = Costs::new(problem, width, micro_batches).cuts(stages);
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
    let tasks = tasks(&costs, stages, order);
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
        memory: memory(&costs, stages, order),
        busy: busy.collect(),
        served: served.collect(),
    }
}

/// The operators of a stage.
fn range(costs: &Costs<'_>, stages: &Stages, stage: usize) -> std::ops::Range<usize> {
    let end = stages.begins.get(stage + 1).copied().unwrap_or(costs.times.len());
    stages.begins[stage]..end
}

/// Tasks of all stages and micro-batches: forward, backward, messages, the sum of gradients and the
/// update of each stage.
fn tasks(costs: &Costs<'_>, stages: &Stages, order: PipelineOrder) -> Vec<ListedTask> {
    let (count, micro) = (stages.count(), costs.micro_batches as usize);
    let mut tasks: Vec<ListedTask> = Vec::new();
    // Places of the forward and backward task of a stage and micro-batch, and of their messages.
    let place = |stage: usize, batch: usize, what: usize| (stage * micro + batch) * 4 + what;
    for stage in 0..count {
        let own = range(costs, stages, stage);
        let sum = |of: fn(&(u64, u64)) -> u64| costs.times[own.clone()].iter().map(of).sum::<u64>();
        let (forward, backward) = (sum(|it| it.0), sum(|it| it.1));
        let message = costs.message_ns(own.start, stage);
        let (added, handed) = accumulation_ns(costs, stages, stage);
        for batch in 0..micro {
            // The gradients of a micro-batch are added to those before; the last hands on the sum.
            let first = if batch == 0 { 0 } else { added };
            let backward = backward + first + if batch + 1 == micro { handed } else { 0 };
            let mut waits = Vec::new();
            if stage > 0 {
                waits.push(place(stage, batch, 2));
            }
            let most = count - stage;
            if order == PipelineOrder::OneForwardOneBackward && batch >= most {
                waits.push(place(stage, batch - most, 1));
            }
            if order == PipelineOrder::Gpipe && batch > 0 {
                waits.push(place(stage, batch - 1, 0));
            }
            tasks.push(listed(format!("forward {stage}.{batch}"), stage, forward, waits));
            let mut waits = vec![place(stage, batch, 0)];
            if order == PipelineOrder::Gpipe {
                waits.push(place(stage, micro - 1, 0));
            }
            if stage + 1 < count {
                waits.push(place(stage + 1, batch, 3));
            }
            tasks.push(listed(format!("backward {stage}.{batch}"), stage, backward, waits));
            let (to, back) = (count + 2 * stage, count + 2 * stage + 1);
            let (waits, waits_back) = match stage {
                0 => (vec![], vec![place(0, batch, 1)]),
                _ => (vec![place(stage - 1, batch, 0)], vec![place(stage, batch, 1)]),
            };
            tasks.push(listed(format!("to {stage}.{batch}"), to, message, waits));
            tasks.push(listed(format!("back from {stage}.{batch}"), back, message, waits_back));
        }
    }
    for stage in 0..count {
        let waits = (0..micro).map(|batch| place(stage, batch, 1)).collect();
        sum_and_update(costs, stages, stage, waits, &mut tasks);
    }
    tasks
}

fn listed(name: String, resource: usize, duration: u64, waits: Vec<usize>) -> ListedTask {
    ListedTask { name, resource, duration, waits }
}

fn sum_and_update(
    costs: &Costs<'_>,
    stages: &Stages,
    stage: usize,
    waits: Vec<usize>,
    tasks: &mut Vec<ListedTask>,
) {
    let problem = costs.problem;
    let bytes = weight_bytes(costs, stages, stage);
    let held: Vec<u16> =
        (stage * costs.width..(stage + 1) * costs.width).map(|it| it as u16).collect();
    let count = held.len() as u64;
    let mut waits = waits;
    if count > 1 && bytes > 0 {
        let time = 2 * (count - 1) * problem.wires.ring_step(&held, bytes.div_ceil(count));
        let link = 3 * stages.count() + stage;
        tasks.push(listed(format!("sum {stage}"), link, time, waits));
        waits = vec![tasks.len() - 1];
    }
    if bytes > 0 {
        let slots = problem.training.optimizer_slots;
        let update = problem.wires.update_ns(bytes, slots, Updating::Shares);
        tasks.push(listed(format!("update {stage}"), stage, update, waits));
    }
}

/// Nanoseconds to add gradients to others, and to hand on their sum: two numbers are read for each
/// that is written, and one.
fn accumulation_ns(costs: &Costs<'_>, stages: &Stages, stage: usize) -> (u64, u64) {
    if costs.micro_batches == 1 {
        return (0, 0);
    }
    let bytes = weight_bytes(costs, stages, stage) as f64;
    let time = |numbers: f64| (bytes * numbers * costs.problem.wires.memory_ns_per_byte) as u64;
    (time(3.0), time(2.0))
}

/// Bytes of the weights of a stage; a group that several stages use counts to each.
fn weight_bytes(costs: &Costs<'_>, stages: &Stages, stage: usize) -> u64 {
    let own = range(costs, stages, stage);
    let groups = costs.problem.graph().groups().iter();
    let held = groups.filter(|group| group.operators.iter().any(|at| own.contains(at)));
    held.map(|group| 4 * group.elements).sum()
}

/// Bytes of weights, gradients, the optimiser's numbers and activations of the fullest stage.
fn memory(costs: &Costs<'_>, stages: &Stages, order: PipelineOrder) -> [u64; 4] {
    let training = &costs.problem.training;
    let count = stages.count();
    let of_stage = |stage: usize| {
        let weights = weight_bytes(costs, stages, stage);
        let own = range(costs, stages, stage);
        let in_flight = match order {
            PipelineOrder::Gpipe => costs.micro_batches,
            PipelineOrder::OneForwardOneBackward => costs.micro_batches.min((count - stage) as u64),
        };
        let whole: u64 = costs.kept[own.clone()].iter().sum();
        let input = costs.cut_bytes[own.start];
        // With recomputation only the stage's inputs wait; one micro-batch is whole.
        let kept = match training.recompute {
            true => in_flight * input + whole,
            false => in_flight * (input + whole),
        };
        let share = |from: Sharding| {
            if training.sharding >= from { weights.div_ceil(costs.width as u64) } else { weights }
        };
        let slots = u64::from(training.optimizer_slots);
        // Gradients of micro-batches are added up in a tree, with a buffer for each of its levels.
        let buffers = u64::from(costs.micro_batches.next_power_of_two().ilog2()) + 1;
        [
            share(Sharding::Weights),
            share(Sharding::Gradients) + buffers * weights,
            slots * share(Sharding::Optimizer),
            kept,
        ]
    };
    (0..count).map(of_stage).max_by_key(|own| own.iter().sum::<u64>()).unwrap_or([0; 4])
}
