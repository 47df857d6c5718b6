//! What the verb `plan` answers.

use std::collections::BTreeMap;

use serde::Serialize;
use trainwright_plan::{
    CriticalPath, PlannedOperator, PlannedPipeline, Strategy, StrategyRow, WhatIf,
};

/// The answer: strategies side by side, the best of them, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanReply {
    /// The network.
    pub network: String,
    /// Examples of a step.
    pub batch: u64,
    /// Parameters of the network.
    pub parameters: u64,
    /// Operations of a step.
    pub flops: f64,
    /// What it is planned for.
    pub machine: PlanMachine,
    /// The plan that is recommended, or that was asked for.
    pub chosen: ChosenPlan,
    /// Strategies that need no search, by name.
    pub baselines: BTreeMap<String, StrategyRow>,
    /// All strategies, the fastest that fit first.
    pub strategies: Vec<StrategyRow>,
    /// How the search went; absent where it was not asked for or no plan fits.
    pub search: Option<PlanSearch>,
    /// The chain of tasks that makes the step as long as it is.
    pub critical_path: Option<CriticalPath>,
    /// Devices and links, the busiest first.
    pub busy: Vec<BusyResource>,
    /// What changes of machine and batch would do, the most helpful first.
    pub what_if: Vec<WhatIf>,
    /// The one change that would help most.
    pub most_helpful: Option<PlannedChange>,
    /// Strategies that were tried on this machine, where that was asked for.
    pub measured: Vec<MeasuredStrategy>,
}

/// A strategy as planned and as it ran here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredStrategy {
    /// The strategy.
    pub strategy: Strategy,
    /// Seconds of a step as planned.
    pub predicted_s: f64,
    /// Seconds of a step as it ran; absent where it cannot run.
    pub measured_s: Option<f64>,
    /// How much more was planned than measured, such as -0.1 for a tenth less.
    pub error: Option<f64>,
    /// Why it cannot run.
    pub refused: Option<String>,
}

/// A machine in a few figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanMachine {
    /// Its name.
    pub name: String,
    /// Where its figures come from.
    pub source: String,
    /// Nodes.
    pub nodes: u32,
    /// Devices of all nodes.
    pub devices: usize,
    /// Bytes of a device's memory.
    pub memory_bytes: u64,
    /// What an hour costs, where that is known.
    pub price_per_hour: Option<f64>,
}

/// The plan that was chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChosenPlan {
    /// Its strategy.
    pub strategy: Strategy,
    /// What is special about it.
    pub detail: String,
    /// Seconds of a step.
    pub step_time_s: f64,
    /// Examples a second.
    pub examples_per_s: f64,
    /// Bytes that the fullest device needs.
    pub memory_bytes_per_device: u64,
    /// Whether it fits in memory.
    pub fits: bool,
    /// How many times faster than data parallel.
    pub speed_up_over_data_parallel: f64,
    /// Each operator's degrees and devices; none for a pipeline.
    pub operators: Vec<PlannedOperator>,
    /// Stages, where it is a pipeline.
    pub pipeline: Option<PlannedPipeline>,
}

/// How a search went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanSearch {
    /// Proposals of the chains.
    pub proposals: u64,
    /// Those that were taken.
    pub accepted: u64,
    /// Proposals of the polish at the end.
    pub polish_proposals: u64,
    /// Seconds of all.
    pub seconds: f64,
    /// Seconds until the strategies that need no search were known.
    pub first_answer_seconds: f64,
    /// The start that led to the best plan.
    pub from: String,
    /// Whether no change of one operator helps.
    pub locally_optimal: bool,
    /// The seed.
    pub seed: u64,
    /// A number that differs where any chain took another step.
    pub history: String,
}

/// A device or link, and how much of the step it works.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BusyResource {
    /// What it is.
    pub name: String,
    /// Share of the step in which it works.
    pub share: f64,
}

/// A change in words with what it brings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedChange {
    /// The change.
    pub text: String,
    /// Examples a second after it for each before it.
    pub speed_up: f64,
}
