//! What the training loop drives.
//!
//! `learner.rs` is the trait that the loop knows; `dense.rs` and `sparse.rs` are the learners.
//! `described.rs` builds the network that a job names, `optimizers.rs` its
//! optimiser, and `memory_limit.rs` refuses what the machine cannot hold. `served.rs` is for learners
//! whose parameters are with servers, `split.rs` one whose layers are.

pub(crate) mod dense;
pub(crate) mod described;
#[cfg(test)]
pub(crate) mod fake;
pub(crate) mod learner;
pub(crate) mod memory_limit;
mod optimizers;
pub(crate) mod served;
pub(crate) mod sparse;
pub(crate) mod split;
