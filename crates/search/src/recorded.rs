//! Trials that ran elsewhere, in the order in which they ran.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use trainwright_study::{Observation, PlannedTrial};

use crate::{Proposal, Proposer};

/// What becomes of a recorded trial that the plan does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unplanned {
    /// It is left out: the design has no row for it.
    LeaveOut,
    /// It is added: the study has no design.
    Add,
}

/// Proposes what was recorded: trials that the plan has wait no longer, others join or are left
/// out; what was not recorded stays planned.
#[derive(Debug)]
pub struct RecordedPlan {
    left: VecDeque<PlannedTrial>,
    left_out: usize,
}

impl RecordedPlan {
    /// The recorded trials by their order, with the numbers that they have in the plan.
    ///
    /// `known` are all trials of the study; those in `waiting` may still run.
    pub fn new(
        recorded: &[PlannedTrial],
        known: &[PlannedTrial],
        waiting: &[u32],
        unplanned: Unplanned,
    ) -> Self {
        let waiting: BTreeSet<u32> = waiting.iter().copied().collect();
        let identity = |trial: &PlannedTrial| (trial.configuration.identity(), trial.replicate);
        let mut places: BTreeMap<(String, u32), &PlannedTrial> =
            known.iter().map(|trial| (identity(trial), trial)).collect();
        let mut next = known.iter().map(|trial| trial.number).max().unwrap_or(0) + 1;
        let (mut left, mut left_out) = (VecDeque::new(), 0);
        for own in recorded {
            match places.remove(&identity(own)) {
                Some(trial) if waiting.contains(&trial.number) => left.push_back(trial.clone()),
                // It has run already.
                Some(_) => {}
                None if unplanned == Unplanned::Add => {
                    left.push_back(PlannedTrial {
                        number: next,
                        row: None,
                        block: None,
                        whole_plot: None,
                        ..own.clone()
                    });
                    next += 1;
                }
                None => left_out += 1,
            }
        }
        Self { left, left_out }
    }

    /// Recorded trials that the plan has no place for.
    pub fn left_out(&self) -> usize {
        self.left_out
    }
}

impl Proposer for RecordedPlan {
    fn ask(&mut self, _: Duration) -> Proposal {
        self.left.pop_front().map_or(Proposal::Done, Proposal::Try)
    }

    fn tell(&mut self, _: &Observation) {}
}
