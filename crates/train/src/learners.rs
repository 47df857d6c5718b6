//! What the training loop drives.
//!
//! `learner.rs` is the trait that the loop knows; `dense.rs` and `sparse.rs` are the learners.
//! `described.rs` builds the network that a job names, `optimizers.rs` its optimiser.

pub(crate) mod dense;
pub(crate) mod described;
pub(crate) mod learner;
mod optimizers;
pub(crate) mod sparse;
