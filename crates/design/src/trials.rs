//! Rows as numbered trials: how often, in which order, with which seeds.

pub(crate) mod plan;
pub(crate) mod run_order;
pub(crate) mod trial_seed;
