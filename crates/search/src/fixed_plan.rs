//! The plan of a design: every trial is known before the first one starts.

use std::collections::VecDeque;
use std::time::Duration;

use trainwright_study::{Observation, PlannedTrial};

use crate::{Proposal, Proposer};

/// Proposes planned trials in their order, whatever comes of them.
///
/// ```
/// use std::time::Duration;
/// use trainwright_search::{FixedPlan, Proposal, Proposer};
///
/// let mut plan = FixedPlan::new(Vec::new());
/// assert_eq!(plan.ask(Duration::ZERO), Proposal::Done);
/// ```
#[derive(Debug)]
pub struct FixedPlan {
    left: VecDeque<PlannedTrial>,
}

impl FixedPlan {
    /// A plan of these trials.
    pub fn new(trials: Vec<PlannedTrial>) -> Self {
        Self { left: trials.into() }
    }
}

impl Proposer for FixedPlan {
    fn ask(&mut self, _: Duration) -> Proposal {
        self.left.pop_front().map_or(Proposal::Done, Proposal::Try)
    }

    fn tell(&mut self, _: &Observation) {}
}
