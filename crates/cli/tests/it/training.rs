//! The built-in trainer.

mod boards;
mod checkpoints;
mod jobs;
mod learning;
mod networks;
mod predictions;
mod servers;
mod workers;
