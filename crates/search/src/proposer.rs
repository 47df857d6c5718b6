//! What every proposer does.

use std::time::Duration;

use trainwright_study::{Observation, PlannedTrial, Series};

use crate::Course;

/// Says which trials run, and hears what came of them.
///
/// No number is proposed twice, but for a trial that was cut short and goes on. What is proposed depends on what was asked and told before and on
/// nothing else: the same questions get the same answers.
pub trait Proposer {
    /// What to run next, this long after the beginning.
    fn ask(&mut self, now: Duration) -> Proposal;

    /// What came of a trial that was proposed; told once, when it will not be tried again.
    fn tell(&mut self, told: &Observation);

    /// What a running trial reports at a step, and what becomes of it.
    fn hear(&mut self, _trial: u32, _step: f64, _values: &[(String, f64)]) -> Course {
        Course::GoOn
    }

    /// The learning curves of a trial that has ended; comes before it is told.
    fn learn(&mut self, _trial: u32, _curves: &[Series]) {}
}

impl<P: Proposer + ?Sized> Proposer for Box<P> {
    fn ask(&mut self, now: Duration) -> Proposal {
        self.as_mut().ask(now)
    }

    fn tell(&mut self, told: &Observation) {
        self.as_mut().tell(told);
    }

    fn hear(&mut self, trial: u32, step: f64, values: &[(String, f64)]) -> Course {
        self.as_mut().hear(trial, step, values)
    }

    fn learn(&mut self, trial: u32, curves: &[Series]) {
        self.as_mut().learn(trial, curves);
    }
}

/// What a proposer wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Proposal {
    /// Run this trial.
    Try(PlannedTrial),
    /// Go on with this trial, which was cut short.
    GoOn(PlannedTrial),
    /// Nothing yet: ask again at this time, or when a trial has ended.
    Later(Duration),
    /// There is no more to run.
    Done,
}
