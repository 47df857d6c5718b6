//! The end of a search: single changes that help, until there are none.

use crate::plan::Plan;
use crate::problem::Problem;
use crate::search::placements::placements;
use crate::simulator::{Evaluation, Evaluator, Mode};

/// A plan that was polished.
#[derive(Debug, Clone, PartialEq)]
pub struct Polished {
    /// The plan.
    pub plan: Plan,
    /// Its nanoseconds.
    pub cost: u64,
    /// Changes that were tried.
    pub proposals: u64,
    /// Whether no change of one operator helps any more; false where it was stopped before.
    pub finished: bool,
}

/// Takes every change of one operator's split and devices that helps, until a whole round over all
/// operators finds none, or so many were tried. The changes are all choices on blocks of neighbours
/// and spread evenly.
pub fn polish(
    problem: &Problem,
    plan: &Plan,
    most_proposals: u64,
    stop: &dyn Fn() -> bool,
) -> Polished {
    let mut evaluator = Evaluator::new(problem, plan, Mode::Bounded);
    let mut cost = evaluator.cost();
    let operators = problem.graph().operators().len();
    let (mut proposals, mut since_helped, mut operator) = (0, 0, 0);
    while since_helped < operators {
        if proposals >= most_proposals || stop() {
            return Polished { plan: evaluator.plan(), cost, proposals, finished: false };
        }
        since_helped += 1;
        let mut change = [(operator, evaluator.split(operator))];
        for split in placements(problem, operator) {
            change[0].1 = split;
            proposals += 1;
            match evaluator.propose(&change, cost - 1) {
                Evaluation::Cost(found) => {
                    evaluator.accept();
                    (cost, since_helped) = (found, 0);
                }
                _ => evaluator.undo(),
            }
        }
        operator = (operator + 1) % operators;
    }
    Polished { plan: evaluator.plan(), cost, proposals, finished: true }
}
