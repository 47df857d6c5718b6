//! The table of strategies: each with its time, memory and whether it fits.

use serde::Serialize;

use crate::mesh::{MeshPlan, best_layout};
use crate::pipeline::{Pipeline, best_pipeline};
use crate::plan::Plan;
use crate::problem::{Problem, Sharding, Sums};
use crate::search::{data_parallel, expert, one_device};
use crate::simulator::{Evaluator, Mode};

/// A way to spread training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Everything on one device.
    OneDevice,
    /// Samples over all devices, weights copied.
    DataParallel,
    /// The same with weights, gradients and the optimiser's numbers cut (fully sharded).
    Sharded,
    /// Weights cut by outputs.
    Tensor,
    /// Stages of layers.
    Pipeline,
    /// One layout for all.
    Mesh,
    /// Each operator by itself.
    Hybrid,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrategyRow {
    /// The strategy.
    pub strategy: Strategy,
    /// What is special about it, such as the layout.
    pub detail: String,
    /// Seconds of a step.
    pub step_time_s: f64,
    /// Examples a second.
    pub examples_per_s: f64,
    /// Bytes of weights on the fullest device.
    pub weights_bytes: u64,
    /// Of gradients.
    pub gradients_bytes: u64,
    /// Of the optimiser's numbers.
    pub optimizer_bytes: u64,
    /// Of activations, and of what came from other devices.
    pub activations_bytes: u64,
    /// All of them.
    pub memory_bytes_per_device: u64,
    /// Whether that is there.
    pub fits: bool,
    /// Seconds of an epoch, where its examples are known.
    pub epoch_s: Option<f64>,
    /// What an epoch costs, where the machine's price is known too.
    pub epoch_cost: Option<f64>,
}

/// A row and the plan that it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The row.
    pub row: StrategyRow,
    /// Its plan of operators; none for a pipeline.
    pub plan: Option<Plan>,
}

/// All rows before a search, and what the search can begin with.
#[derive(Debug, Clone)]
pub struct Tables {
    /// The rows.
    pub rows: Vec<Ranked>,
    /// The best layout.
    pub mesh: Option<MeshPlan>,
    /// The best pipeline.
    pub pipeline: Option<Pipeline>,
}

/// Strategies that need no search; `examples` is those of an epoch.
pub fn strategies(
    problem: &Problem,
    sharded: &Problem,
    examples: Option<u64>,
    stop: &dyn Fn() -> bool,
) -> Tables {
    let mut rows = Vec::new();
    let mut add = |problem: &Problem, strategy, detail: &str, plan: Plan| {
        rows.push(problem.ranked((strategy, detail), plan, examples));
    };
    add(problem, Strategy::OneDevice, "everything on device 0", one_device(problem));
    let detail = sums_text(problem);
    add(problem, Strategy::DataParallel, &detail, data_parallel(problem));
    let detail = sharding_text(sharded.training.sharding);
    add(sharded, Strategy::Sharded, detail, data_parallel(problem));
    add(problem, Strategy::Tensor, "dense layers and memories cut by outputs", expert(problem));
    let mesh = best_layout(problem, stop);
    if let Some(own) = &mesh {
        let detail = format!("{} on {}", own.layout.text(&own.mesh), own.mesh.text());
        add(problem, Strategy::Mesh, &detail, own.plan.clone());
    }
    let pipeline = best_pipeline(problem);
    if let Some(own) = &pipeline {
        rows.push(Ranked { row: problem.pipeline_row(own, examples), plan: None });
    }
    Tables { rows, mesh, pipeline }
}

fn sums_text(problem: &Problem) -> String {
    let how = match problem.training.sums {
        Sums::Ring => "rings",
        Sums::Tree => "trees",
        Sums::Sharded => "pieces",
        Sums::Server => "a server",
    };
    format!("gradients added up by {how}")
}

fn sharding_text(sharding: Sharding) -> &'static str {
    match sharding {
        Sharding::None => "nothing cut",
        Sharding::Optimizer => "optimiser cut (ZeRO-1)",
        Sharding::Gradients => "optimiser and gradients cut (ZeRO-2)",
        Sharding::Weights => "optimiser, gradients and weights cut (ZeRO-3, FSDP)",
    }
}

impl Problem {
    /// The row of a plan.
    pub fn ranked(
        &self,
        (strategy, detail): (Strategy, &str),
        plan: Plan,
        examples: Option<u64>,
    ) -> Ranked {
        let own = Evaluator::new(self, &plan, Mode::Bounded);
        let parts = (0..self.devices()).map(|device| own.memory_parts(device));
        let memory = parts.max_by_key(|parts| parts.iter().sum::<u64>()).unwrap_or([0; 4]);
        let row = self.row((strategy, detail.to_owned()), own.cost(), memory, examples);
        Ranked { row, plan: Some(plan) }
    }

    fn pipeline_row(&self, own: &Pipeline, examples: Option<u64>) -> StrategyRow {
        let (stages, micro) = (own.stages.count(), own.micro_batches);
        let order = match own.order {
            crate::pipeline::PipelineOrder::Gpipe => "GPipe",
            crate::pipeline::PipelineOrder::OneForwardOneBackward => "1F1B",
        };
        let detail = format!("{stages} stages, {micro} micro-batches, {order}");
        self.row((Strategy::Pipeline, detail), own.cost, own.memory, examples)
    }

    fn row(
        &self,
        (strategy, detail): (Strategy, String),
        cost: u64,
        memory: [u64; 4],
        examples: Option<u64>,
    ) -> StrategyRow {
        let step_time_s = cost as f64 / 1e9;
        let examples_per_s = self.graph.batch() as f64 / step_time_s;
        let all = memory.iter().sum();
        let epoch_s =
            examples.map(|examples| step_time_s * examples.div_ceil(self.graph.batch()) as f64);
        let price = self.machine.price_per_hour();
        StrategyRow {
            strategy,
            detail,
            step_time_s,
            examples_per_s,
            weights_bytes: memory[0],
            gradients_bytes: memory[1],
            optimizer_bytes: memory[2],
            activations_bytes: memory[3],
            memory_bytes_per_device: all,
            fits: all <= self.machine.device.memory_bytes,
            epoch_s,
            epoch_cost: epoch_s.zip(price).map(|(seconds, price)| seconds / 3600.0 * price),
        }
    }
}
