//! Trainings by themselves: jobs, networks, and what they predict.

pub(crate) mod bottleneck;
pub(crate) mod job;
pub(crate) mod launched_rank;
pub(crate) mod network;
pub(crate) mod predictions;
pub(crate) mod train;
pub(crate) mod training_page;
