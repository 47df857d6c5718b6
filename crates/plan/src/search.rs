//! Searches for good plans.

mod moves;

pub use moves::Moves;
