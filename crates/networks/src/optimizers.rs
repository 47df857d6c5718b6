//! What turns gradients into updates.
//!
//! `optimizer.rs` is the trait with the contract that every optimiser is run through; each other
//! file is one optimiser, or what is done to gradients before a step.

pub(crate) mod adagrad;
pub(crate) mod adam;
pub(crate) mod clipping;
pub(crate) mod noise_scale;
pub(crate) mod optimizer;
pub(crate) mod sgd;
mod update_kernels;
