//! Published methods, and plain ones to compare with. One file a method.

mod arrow;
mod bayesian;
mod cherrypick;
mod coordinate_descent;
mod ernest;
mod micky;
mod orders;
mod paris;
mod scout;
mod tuneful;

#[cfg(test)]
mod tests;

pub(super) use arrow::Arrow;
pub(super) use cherrypick::CherryPick;
pub(super) use coordinate_descent::CoordinateDescent;
pub(super) use ernest::Ernest;
pub(super) use micky::Micky;
pub(super) use orders::{Exhaustive, RandomOrder};
pub(super) use paris::Paris;
pub(super) use scout::Scout;
pub(super) use tuneful::Tuneful;
pub use tuneful::significant_columns;

use trainwright_random::Random;

use super::advisor::{Advice, Stop};
use super::problem::{Problem, Told};

/// All candidates in an order that the seed decides.
fn shuffled(problem: &Problem, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..problem.candidates().len()).collect();
    Random::for_purpose(seed, &[1]).shuffle(&mut order);
    order
}

/// The first candidate of an order that has not run.
fn first_untried(order: &[usize], told: &[Told]) -> Option<usize> {
    order.iter().copied().find(|at| told.iter().all(|own| own.candidate != *at))
}

/// Advice to run this next, or that there is nothing left.
fn next(candidate: Option<usize>) -> Advice {
    let stop = candidate.is_none().then_some(Stop::AllTried);
    Advice { next: candidate, stop, ..Advice::default() }
}

/// A stop for a good reason, once there is a run to be content with.
fn once_accepted(problem: &Problem, told: &[Told], stop: Stop) -> Option<Stop> {
    problem.best(told).map(|_| stop)
}
