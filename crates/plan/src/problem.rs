//! What is to be planned: a graph on a machine, with every split that each operator may have.

mod choices;
mod constraints;
mod wires;

pub use choices::{Choice, DEGREES, PartTimes};
pub(crate) use choices::{places_of_part, range_of_part, read_range};
pub use constraints::{Constraints, Pin};
pub(crate) use wires::{Updating, Wires};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::PlanError;
use crate::graph::OperatorGraph;
use crate::machine::Machine;

/// How gradients of copies are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sums {
    /// Around a ring of all copies.
    #[default]
    Ring,
    /// Up and down a tree.
    Tree,
    /// Each copy owns a piece: sums it, updates it, hands it out.
    Sharded,
    /// The first copy sums, updates and hands out everything.
    Server,
}

/// Whether sums run beside the backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overlap {
    /// A sum starts when its gradients are there.
    #[default]
    Beside,
    /// All sums wait for the end of the backward pass.
    After,
}

/// What copies need not all hold (Rajbhandari et al. 2020, "ZeRO", section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharding {
    /// Every copy holds everything.
    #[default]
    None,
    /// Each holds its piece of the optimiser's memory.
    Optimizer,
    /// And of the gradients.
    Gradients,
    /// And of the weights, which are fetched when they are needed: half as many bytes again.
    Weights,
}

/// How the network is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Training {
    /// Numbers that the optimiser keeps for a parameter: none for SGD, 1 for momentum, 2 for Adam.
    pub optimizer_slots: u8,
    /// How gradients are added up.
    pub sums: Sums,
    /// When.
    pub overlap: Overlap,
    /// What copies share.
    pub sharding: Sharding,
    /// Whether the forward pass is computed again in the backward pass instead of kept.
    pub recompute: bool,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            optimizer_slots: 1,
            sums: Sums::Ring,
            overlap: Overlap::Beside,
            sharding: Sharding::None,
            recompute: false,
        }
    }
}

/// A graph on a machine: everything that does not change while plans are compared.
#[derive(Debug, Clone)]
pub struct Problem {
    pub(crate) graph: OperatorGraph,
    pub(crate) machine: Machine,
    pub(crate) training: Training,
    pub(crate) constraints: Constraints,
    pub(crate) choices: Vec<Vec<Choice>>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) edge_classes: usize,
    pub(crate) edges_in: Vec<Vec<u32>>,
    pub(crate) edges_out: Vec<Vec<u32>>,
    pub(crate) wires: Wires,
    /// For each operator the row of what is kept that it counts to; see `memory.rs`.
    pub(crate) kept_row: Vec<usize>,
    pub(crate) kept_rows: usize,
    /// For shares of a batch that pipelines use: nanoseconds of each operator on one of them.
    pub(crate) share_ns: BTreeMap<u64, Vec<(u64, u64)>>,
}

/// An operator's reading of another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Which input of the reader.
    pub(crate) input: u32,
    /// Edges of one class cut in the same way have the same pairs of parts.
    pub(crate) class: u32,
}

impl Problem {
    /// The problem of a graph on a machine.
    ///
    /// # Errors
    /// When a constraint fits nothing, or leaves an operator without a split.
    pub fn new(
        graph: OperatorGraph,
        machine: Machine,
        training: Training,
        constraints: Constraints,
    ) -> Result<Self, PlanError> {
        Self::with_times(graph, machine, training, constraints, &|_, _| None)
    }

    /// The same, where some parts have measured times.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_times(
        graph: OperatorGraph,
        machine: Machine,
        training: Training,
        constraints: Constraints,
        measured: PartTimes<'_>,
    ) -> Result<Self, PlanError> {
        let machine = machine.checked()?;
        constraints.check(&graph, machine.devices())?;
        let choices = (0..graph.operators.len())
            .map(|at| choices::of_operator(&graph, at, &machine, &training, &constraints, measured))
            .collect::<Result<Vec<_>, _>>()?;
        let (edges, edge_classes) = edges_of(&graph);
        let mut edges_in = vec![Vec::new(); graph.operators.len()];
        let mut edges_out = edges_in.clone();
        for (number, edge) in edges.iter().enumerate() {
            edges_out[edge.from as usize].push(number as u32);
            edges_in[edge.to as usize].push(number as u32);
        }
        let (kept_row, kept_rows) = kept_rows(graph.operators.len(), training.recompute);
        let wires = Wires::new(&machine);
        let of_share = |share: u64| {
            let on = (&machine, &training);
            let times = (0..graph.operators.len())
                .map(|at| choices::share_ns(&graph, at, share as u16, on, measured));
            (share, times.collect())
        };
        let share_ns =
            pipeline_shares(machine.devices(), graph.batch()).into_iter().map(of_share).collect();
        Ok(Self {
            graph,
            machine,
            training,
            constraints,
            choices,
            edges,
            edge_classes,
            edges_in,
            edges_out,
            wires,
            kept_row,
            kept_rows,
            share_ns,
        })
    }

    /// The graph.
    pub fn graph(&self) -> &OperatorGraph {
        &self.graph
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// How it is trained.
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// The splits that an operator may have.
    pub fn choices(&self, operator: usize) -> &[Choice] {
        &self.choices[operator]
    }

    /// All devices.
    pub fn devices(&self) -> usize {
        self.machine.devices()
    }

    /// Devices and links that tasks wait for: devices first.
    pub fn resources(&self) -> usize {
        self.wires.resources
    }

    /// What a resource is called.
    pub fn resource_name(&self, resource: usize) -> String {
        self.wires.name(resource)
    }
}

/// The most micro-batches of a pipeline.
const MOST_MICRO_BATCHES: u64 = 64;

/// Micro-batches that a pipeline may have whose stages are so many replicas wide.
pub(crate) fn micro_batches(width: usize, batch: u64) -> impl Iterator<Item = u64> {
    (0..)
        .map(|power| 1 << power)
        .take_while(move |&count| count <= MOST_MICRO_BATCHES && count * width as u64 <= batch)
}

/// The shares of a batch that a device may work on at a time in a pipeline.
pub fn pipeline_shares(devices: usize, batch: u64) -> BTreeSet<u64> {
    (1..=devices)
        .filter(|width| devices.is_multiple_of(*width))
        .flat_map(|width| micro_batches(width, batch).map(move |count| count * width as u64))
        .collect()
}

/// Reading operators one by one, and how many differ in shape.
fn edges_of(graph: &OperatorGraph) -> (Vec<Edge>, usize) {
    let mut edges: Vec<Edge> = Vec::new();
    let mut classes: Vec<usize> = Vec::new();
    for (to, operator) in graph.operators.iter().enumerate() {
        for (input, read) in operator.inputs.iter().enumerate() {
            let alike = |&other: &usize| {
                let (first, other) = (&edges[other], &graph.operators);
                let reader = &other[first.to as usize];
                let sizes = |op: &crate::graph::Operator| -> Vec<(u64, crate::graph::Role)> {
                    op.split_dims().map(|dim| (dim.size, dim.role)).collect()
                };
                reader.inputs[first.input as usize].reads == read.reads
                    && sizes(reader) == sizes(operator)
                    && sizes(&other[first.from as usize]) == sizes(&other[read.from])
                    && reader.contracted.is_some() == operator.contracted.is_some()
                    && other[first.from as usize].dims.len() == other[read.from].dims.len()
            };
            let class = classes.iter().position(alike).unwrap_or_else(|| {
                classes.push(edges.len());
                classes.len() - 1
            });
            let (from, to, input) = (read.from as u32, to as u32, input as u32);
            edges.push(Edge { from, to, input, class: class as u32 });
        }
    }
    (edges, classes.len())
}

/// With recomputation the operators form stretches of about the square root of their number (Chen
/// et al. 2016, "Training deep nets with sublinear memory cost"): row 0 counts what is kept between
/// stretches, each further row what one stretch needs while it is computed again.
fn kept_rows(operators: usize, recompute: bool) -> (Vec<usize>, usize) {
    if !recompute {
        return (vec![0; operators], 1);
    }
    let length = (operators as f64).sqrt().ceil() as usize;
    let row = |at: usize| if at % length == length - 1 { 0 } else { 1 + at / length };
    ((0..operators).map(row).collect(), 1 + operators.div_ceil(length))
}
