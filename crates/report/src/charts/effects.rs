//! What factors do, and what a design can tell of it.

mod alias_graph;
mod half_normal;
mod interactions;
mod level_differences;
mod main_effects;
mod pareto;

pub(crate) use alias_graph::alias_graph;
pub(crate) use half_normal::half_normal;
pub(crate) use interactions::interaction;
pub(crate) use level_differences::{MOST_PAIRS, level_differences};
pub(crate) use main_effects::main_effect;
pub(crate) use pareto::{MOST_BARS, pareto};
