//! Event simulations that share no code with the closed forms they check.

pub(crate) mod pooled_quantile;
pub(crate) mod priority_simulation;
pub(crate) mod queue_simulation;
pub(crate) mod times;
