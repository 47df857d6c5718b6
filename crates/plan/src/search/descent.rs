//! The way down from a plan that does not fit in memory to one that does.

use trainwright_random::Random;

use crate::plan::{Plan, Split};
use crate::problem::Problem;
use crate::search::moves::{MoveShares, Moves};
use crate::simulator::{Evaluation, Evaluator, Mode};

/// Proposals between two questions whether to stop.
const ASK_EVERY: u64 = 64;

/// Shares of the memory of a device by which the bytes that are too much may grow, at the beginning
/// and at the end: it falls evenly by its logarithm.
const COOLING: (f64, f64) = (0.01, 0.0001);

/// Takes random changes by the Metropolis rule, where the cost is the bytes that all devices together
/// have too much, until every device has enough; none where it has not after so many proposals.
pub(super) fn fitting(
    problem: &Problem,
    start: &Plan,
    (seed, proposals): (u64, u64),
    stop: &dyn Fn() -> bool,
) -> Option<Plan> {
    // What does not fit has no time: here everything fits, and what is too much is counted.
    let mut roomy = problem.clone();
    let capacity = std::mem::replace(&mut roomy.machine.device.memory_bytes, u64::MAX);
    let over = |own: &Evaluator<'_>| -> f64 {
        own.memory().iter().map(|&bytes| bytes.saturating_sub(capacity) as f64).sum()
    };
    let mut evaluator = Evaluator::new(&roomy, start, Mode::Rewind);
    let (moves, mut random) = (Moves::new(&roomy, MoveShares::MIXED), Random::new(seed));
    let mut now = over(&evaluator);
    let mut change: Vec<(usize, Split)> = Vec::new();
    let (warm, cold) = COOLING;
    for number in 0..proposals {
        if now == 0.0 || (number % ASK_EVERY == 0 && stop()) {
            break;
        }
        moves.draw(&mut random, &|at| evaluator.split(at), &mut change);
        let progress = number as f64 / proposals as f64;
        let most = now
            - random.positive_unit().ln() * capacity as f64 * warm * (cold / warm).powf(progress);
        match evaluator.propose(&change, u64::MAX) {
            Evaluation::Cost(_) if over(&evaluator) <= most => {
                now = over(&evaluator);
                evaluator.accept();
            }
            _ => evaluator.undo(),
        }
    }
    (now == 0.0).then(|| evaluator.plan())
}
