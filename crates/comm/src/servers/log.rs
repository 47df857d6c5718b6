//! What a server has applied, in its order: enough to compute the same bits again.

use super::dealer::Share;

/// One update of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The gradients that it was made of, in their order.
    pub pushes: Vec<AppliedPush>,
}

/// Gradients that were part of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppliedPush {
    /// What they were computed of.
    pub share: Share,
    /// The version of this server's numbers that they were computed from.
    pub pulled: u64,
    /// Who computed them, counted from 0.
    pub worker: u32,
}
