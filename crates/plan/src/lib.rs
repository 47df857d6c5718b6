//! How to split a network over machines: operator graphs, a simulator of one step, searches.
//!
//! Everything is computed from descriptions; nothing here measures, reads or writes.
//!
//! | room | holds |
//! |---|---|
//! | `graph` | operators with named dimensions, ready graphs, their JSON |
//! | `machine` | nodes, devices, links, their TOML, ready machines |
//! | `problem` | a graph on a machine: splits of operators, times of parts, constraints |
//! | `plan` | a split and devices for every operator |
//! | `simulator` | the schedule of a plan, exactly, also after a change; read its docs first |

mod error;
mod graph;
mod lists;
mod machine;
mod mesh;
mod outcome;
mod pipeline;
mod plan;
mod plan_file;
mod problem;
mod search;
mod simulator;

pub use error::PlanError;
pub use graph::{
    ConvolutionShape, Dimension, GraphBuilder, Input, MOST_DIMENSIONS, NAMED_GRAPHS, Operator,
    OperatorGraph, ParameterGroup, PictureFrom, Read, Role, Weights, named_graph,
};
pub use machine::{
    Device, Link, MACHINE_NAMES, Machine, Measured, SharedBy, UpdateRates, named_machine,
};
pub use mesh::{Layout, Mesh, MeshCounters, MeshPlan, best_layout, counters, layouts};
pub use outcome::{
    Change, CriticalPart, CriticalPath, Planned, Ranked, Strategy, StrategyRow, Tables, WhatIf,
    chrome_trace, pipeline_trace, strategies, what_if,
};
pub use pipeline::{Pipeline, PipelineOrder, PipelineTask, Stages, best_pipeline, pipeline};
pub use plan::{Plan, Split};
pub use plan_file::{PLAN_SCHEMA, PlanFile, PlannedOperator, PlannedPipeline, planned_operators};
pub use problem::{
    Choice, Constraints, DEGREES, Overlap, PartTimes, Pin, Problem, Sharding, Sums, Training,
    pipeline_shares,
};
pub use search::{
    COOLING, Chain, ChainEnd, ChainOptions, Found, MoveShares, Moves, Optimum, Polished,
    SearchOptions, Start, data_parallel, expert, one_device, optimum, pipelined, polish, search,
    starts,
};
pub use simulator::{Evaluation, Evaluator, Mode, Served, Work};
