//! What another machine, link or batch would change, by simulating it.

use serde::Serialize;

use crate::error::PlanError;
use crate::graph::OperatorGraph;
use crate::machine::Machine;
use crate::pipeline::{Pipeline, best_pipeline, pipeline};
use crate::plan::Plan;
use crate::problem::{PartTimes, Problem};
use crate::search::{SearchOptions, data_parallel, expert, search, starts};
use crate::simulator::{Evaluator, Mode};

/// A change of what is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Devices compute twice as fast.
    DevicesTwiceAsFast,
    /// Links inside a node carry twice as much.
    InsideTwiceAsFast,
    /// Links between nodes carry twice as much.
    BetweenTwiceAsFast,
    /// Messages have no latency.
    NoLatency,
    /// Starting a piece of work takes no time.
    NoLaunch,
    /// Twice as many nodes, planned anew.
    TwiceTheNodes,
    /// Half as many nodes, planned anew.
    HalfTheNodes,
    /// A batch twice as large, same plan.
    TwiceTheBatch,
    /// A batch half as large, same plan.
    HalfTheBatch,
}

/// What a change comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIf {
    /// The change.
    pub change: Change,
    /// Seconds of a step after it.
    pub step_time_s: f64,
    /// Examples a second after it.
    pub examples_per_s: f64,
    /// Examples a second after it for each before it.
    pub speed_up: f64,
    /// Whether it fits in memory.
    pub fits: bool,
    /// Operators whose pins name devices that are not there after it; they are not pinned then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpinned: Vec<String>,
}

/// What a change is tried on.
#[derive(Debug, Clone, Copy)]
pub enum Planned<'a> {
    /// A plan of operators.
    Operators(&'a Plan),
    /// Stages.
    Stages(&'a Pipeline),
}

const ALL: [Change; 9] = [
    Change::DevicesTwiceAsFast,
    Change::InsideTwiceAsFast,
    Change::BetweenTwiceAsFast,
    Change::NoLatency,
    Change::NoLaunch,
    Change::TwiceTheNodes,
    Change::HalfTheNodes,
    Change::TwiceTheBatch,
    Change::HalfTheBatch,
];

/// Simulates all changes that make sense for a plan, the most helpful first.
///
/// # Errors
/// When a changed problem is refused.
pub fn what_if(
    problem: &Problem,
    planned: Planned<'_>,
    (seed, proposals): (u64, u64),
    measured: PartTimes<'_>,
) -> Result<Vec<WhatIf>, PlanError> {
    let before = match planned {
        Planned::Operators(plan) => Evaluator::new(problem, plan, Mode::Bounded).cost(),
        Planned::Stages(own) => own.cost,
    };
    let rate = problem.graph().batch() as f64 / (before as f64 / 1e9);
    let mut found = Vec::new();
    for change in ALL {
        let Some((graph, machine)) = changed(problem, change)? else { continue };
        let batch = graph.batch() as f64;
        // Measured times of another batch are taken in proportion.
        let ratio = batch / problem.graph().batch() as f64;
        let ratio = if change == Change::DevicesTwiceAsFast { ratio / 2.0 } else { ratio };
        let scaled = |ns: u64| ((ns as f64 * ratio) as u64).max(1);
        let in_proportion = |at: usize, degrees: &[u16; crate::problem::DEGREES]| {
            measured(at, degrees).map(|own| (scaled(own.0), scaled(own.1)))
        };
        let training = problem.training;
        let same_devices = machine.devices() == problem.devices();
        let (constraints, unpinned) = problem.constraints.on(machine.devices());
        let own = Problem::with_times(graph, machine, training, constraints, &in_proportion);
        // Half a batch may be too small for a pin.
        let Ok(own) = own else { continue };
        let after = match (planned, same_devices) {
            (Planned::Operators(plan), true) => {
                same_plan(problem, &own, plan).map(|plan| simulated(&own, &plan))
            }
            (Planned::Operators(_), false) => Some(searched(&own, seed, proposals)),
            (Planned::Stages(stages), _) => staged(&own, stages, same_devices),
        };
        let Some((cost, fits)) = after else { continue };
        let step_time_s = cost as f64 / 1e9;
        let examples_per_s = batch / step_time_s;
        let speed_up = examples_per_s / rate;
        found.push(WhatIf { change, step_time_s, examples_per_s, speed_up, fits, unpinned });
    }
    found.sort_by(|a, b| b.speed_up.total_cmp(&a.speed_up));
    Ok(found)
}

/// The changed graph and machine; none where the change means nothing here.
fn changed(
    problem: &Problem,
    change: Change,
) -> Result<Option<(OperatorGraph, Machine)>, PlanError> {
    let (mut graph, mut machine) = (problem.graph().clone(), problem.machine().clone());
    match change {
        Change::DevicesTwiceAsFast => {
            machine.device.flops_per_s *= 2.0;
            machine.device.memory_bytes_per_s *= 2.0;
            if let Some(own) = &mut machine.device.updates {
                own.alone_bytes_per_s *= 2.0;
                own.copies_bytes_per_s *= 2.0;
                own.shares_bytes_per_s *= 2.0;
            }
            for row in &mut machine.device.measured {
                row.forward_s /= 2.0;
                row.backward_s /= 2.0;
            }
        }
        Change::InsideTwiceAsFast if machine.devices_per_node > 1 => {
            machine.inside.bytes_per_s *= 2.0;
        }
        Change::BetweenTwiceAsFast if machine.nodes > 1 => machine.between.bytes_per_s *= 2.0,
        Change::NoLatency => {
            machine.inside.latency_s = 0.0;
            machine.between.latency_s = 0.0;
        }
        Change::NoLaunch => machine.device.launch_s = 0.0,
        Change::TwiceTheNodes if machine.devices() <= 32 => machine.nodes *= 2,
        Change::HalfTheNodes if machine.nodes.is_multiple_of(2) => machine.nodes /= 2,
        Change::TwiceTheBatch => graph = graph.with_batch(2 * graph.batch())?,
        Change::HalfTheBatch if graph.batch().is_multiple_of(2) => {
            graph = graph.with_batch(graph.batch() / 2)?;
        }
        _ => return Ok(None),
    }
    Ok(Some((graph, machine)))
}

/// The plan with the same degrees and devices in another problem.
fn same_plan(problem: &Problem, other: &Problem, plan: &Plan) -> Option<Plan> {
    let split = |(at, own): (usize, &crate::plan::Split)| {
        let degrees = &problem.choices(at)[own.choice as usize].degrees;
        let choice = other.choice_with(at, degrees)?;
        Some(crate::plan::Split { choice, devices: own.devices.clone() })
    };
    let splits = plan.splits.iter().enumerate().map(split).collect::<Option<Vec<_>>>()?;
    Some(Plan { splits })
}

/// The same stages on as many devices, else the best ones.
fn staged(problem: &Problem, before: &Pipeline, same_devices: bool) -> Option<(u64, bool)> {
    let width = (problem.devices() / before.stages.count()) as u64;
    let own = match same_devices {
        true if before.micro_batches * width > problem.graph().batch() => None,
        true => Some(pipeline(problem, &before.stages, before.micro_batches, before.order)),
        false => best_pipeline(problem),
    }?;
    let fits = own.memory.iter().sum::<u64>() <= problem.machine().device.memory_bytes;
    Some((own.cost, fits))
}

fn simulated(problem: &Problem, plan: &Plan) -> (u64, bool) {
    let own = Evaluator::new(problem, plan, Mode::Bounded);
    (own.cost(), own.fits())
}

fn searched(problem: &Problem, seed: u64, proposals: u64) -> (u64, bool) {
    let options = SearchOptions {
        seed,
        proposals,
        polish_proposals: proposals,
        chains_per_start: 1,
        threads: 1,
        stop: &|| false,
    };
    match search(problem, &starts(problem, None, None), &options) {
        Some(found) => (found.cost, true),
        None => {
            let (first, second) =
                (simulated(problem, &data_parallel(problem)), simulated(problem, &expert(problem)));
            (first.0.min(second.0), false)
        }
    }
}
