//! What parameter servers need of a learner: one that leads, one that computes, one that owns.
//!
//! The leader keeps a whole learner ([`Served`]) to score, keep and export; workers have a
//! [`Pupil`] each, which turns pulled numbers into gradients; servers own pieces
//! (`trainwright_comm::Owner`). `dense/served.rs` and `sparse/served.rs` have the three of each kind.

use std::time::Duration;

use trainwright_networks::BatchScore;
use trainwright_study::Seed;

use crate::error::TrainError;
use crate::learners::learner::Learner;

/// A learner whose parameters are with servers while it trains.
pub(crate) trait Served: Learner {
    /// Micro-batches of a step of so many examples in so many parts.
    fn leaves(&self, examples: usize, parts: usize) -> usize;

    /// What each of so many servers takes over.
    fn hand_out(&mut self, servers: usize) -> Vec<Vec<f32>>;

    /// Takes back what servers have stored.
    ///
    /// # Errors
    /// When it has another length than that which was handed out.
    fn take_back(&mut self, stored: &[Vec<f32>]) -> Result<(), TrainError>;
}

/// Turns pulled numbers into gradients.
pub(crate) trait Pupil {
    /// How many examples there are to learn from.
    fn examples(&self) -> usize;

    /// The order in which the examples of `pool` come in an epoch.
    fn order(&self, epoch: u32, seed: Seed, pool: &[u32]) -> Vec<u32>;

    /// Finds out what a share needs of the servers, for [`Self::wanted`].
    fn look_at(&mut self, work: &Work<'_>);

    /// The rows that the share last looked at needs of each server; all where `None`.
    fn wanted(&self) -> Option<&[Vec<u32>]>;

    /// Takes the numbers that a server gave for the rows that are wanted.
    ///
    /// # Errors
    /// When they are not as many.
    fn take(&mut self, server: usize, values: &[f32]) -> Result<(), TrainError>;

    /// Computes the gradients of a share.
    ///
    /// # Errors
    /// When an example cannot be read.
    fn learn(&mut self, work: &Work<'_>) -> Result<BatchScore, TrainError>;

    /// The rows and gradients of the last share for a server.
    fn push(&self, server: usize) -> (&[u32], &[f32]);

    /// How long it has waited for examples so far.
    fn waited(&self) -> Duration;
}

/// A share of a step, with its examples.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) epoch: u32,
    /// Number of the step, from 1.
    pub(crate) step: u64,
    /// Examples of the whole step.
    pub(crate) now: &'a [u32],
    /// Those that probably come next.
    pub(crate) next: &'a [u32],
    pub(crate) part: usize,
    pub(crate) parts: usize,
    /// Shares of several steps may be mixed, so that each is summed up by itself.
    pub(crate) apart: bool,
}
