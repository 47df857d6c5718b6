//! What every proposer does.

use std::time::Duration;

use trainwright_study::{Observation, PlannedTrial};

/// Says which trials run, and hears what came of them.
///
/// No number is proposed twice. What is proposed depends on what was asked and told before and on
/// nothing else: the same questions get the same answers.
pub trait Proposer {
    /// What to run next, this long after the beginning.
    fn ask(&mut self, now: Duration) -> Proposal;

    /// What came of a trial that was proposed; told once, when it will not be tried again.
    fn tell(&mut self, told: &Observation);
}

/// What a proposer wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Proposal {
    /// Run this trial.
    Try(PlannedTrial),
    /// Nothing yet: ask again at this time, or when a trial has ended.
    Later(Duration),
    /// There is no more to run.
    Done,
}
