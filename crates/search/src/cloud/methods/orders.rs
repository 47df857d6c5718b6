//! Candidates in a fixed order: all of them, or some at random.

use super::{first_untried, next, once_accepted, shuffled};
use crate::cloud::advisor::{Advice, Advisor, Stop};
use crate::cloud::problem::{Problem, Told};

/// Any candidate, as likely as any other; about a sixth of them, and 6 at least.
pub(crate) struct RandomOrder {
    problem: Problem,
    runs: usize,
}

impl RandomOrder {
    pub(crate) fn new(problem: &Problem) -> Self {
        let runs = problem.candidates().len().div_ceil(6).max(6);
        Self { problem: problem.clone(), runs }
    }
}

impl Advisor for RandomOrder {
    fn advise(&self, told: &[Told], seed: u64) -> Advice {
        let mut advice = next(first_untried(&shuffled(&self.problem, seed), told));
        if told.len() >= self.runs {
            let spent = once_accepted(&self.problem, told, Stop::RunsSpent { runs: self.runs });
            advice.stop = advice.stop.or(spent);
        }
        advice
    }
}

/// All candidates, in their order.
pub(crate) struct Exhaustive {
    count: usize,
}

impl Exhaustive {
    pub(crate) fn new(problem: &Problem) -> Self {
        Self { count: problem.candidates().len() }
    }
}

impl Advisor for Exhaustive {
    fn advise(&self, told: &[Told], _seed: u64) -> Advice {
        next(first_untried(&(0..self.count).collect::<Vec<_>>(), told))
    }
}
