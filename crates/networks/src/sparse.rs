//! Logistic regression on examples of which most features are 0: a table instead of layers.
//!
//! `logistic.rs` is the model; `batch_by_batch.rs` and `asynchronous.rs` are the two ways to train
//! it, over the cells of `weight_table.rs`, each changed by a rule of `update_rules.rs`; `pieces.rs`
//! is for cells that others own.

mod asynchronous;
mod batch_by_batch;
pub(crate) mod examples;
mod hot_copies;
pub(crate) mod logistic;
pub(crate) mod pieces;
mod update_rules;
pub(crate) mod weight_table;
