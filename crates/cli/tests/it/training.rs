//! The built-in trainer.

mod boards;
mod bottlenecks;
mod checkpoints;
mod jobs;
mod learning;
mod networks;
mod predictions;
mod servers;
mod workers;
