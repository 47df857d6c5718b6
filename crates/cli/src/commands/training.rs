//! Verbs about networks, trainings and what they print.

mod damaged_checkpoints;
mod metrics;
mod network;
mod predict;
mod train;

pub(super) use metrics::test as metrics_test;
pub(super) use network::{dimensions, network};
pub(super) use predict::predict;
pub(super) use train::{job, train, worker};
