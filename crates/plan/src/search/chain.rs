//! A Metropolis walk over plans (Metropolis et al. 1953; as FlexFlow uses it: Jia, Zaharia and
//! Aiken 2019, section 6.2).
//!
//! A change is taken with probability min(1, exp(-beta (new - old))). The random number u is drawn
//! first, which turns the rule into a limit that is known before the change is evaluated: taken if
//! and only if new <= old - ln(u) / beta. Every mode of evaluation therefore takes the same steps.

use trainwright_random::{Random, mix};

use crate::plan::{Plan, Split};
use crate::problem::Problem;
use crate::search::moves::{MoveShares, Moves};
use crate::simulator::{Evaluation, Evaluator, Mode};

/// Beta times the cost of a search, at the beginning and at the end.
pub const COOLING: (f64, f64) = (50.0, 2000.0);

/// Proposals between two questions whether to stop.
const ASK_EVERY: u64 = 64;

/// What a chain is a function of, besides its start.
#[derive(Debug, Clone, Copy)]
pub struct ChainOptions {
    /// Decides every draw.
    pub seed: u64,
    /// How many proposals it makes.
    pub proposals: u64,
    /// Beta times the cost, at the beginning and at the end; it grows evenly by its logarithm.
    pub cooling: (f64, f64),
    /// Which changes it draws.
    pub moves: MoveShares,
    /// How they are evaluated; it changes the time, not the walk.
    pub mode: Mode,
}

/// A walk in progress.
#[derive(Debug)]
pub struct Chain<'p> {
    evaluator: Evaluator<'p>,
    moves: Moves<'p>,
    random: Random,
    options: ChainOptions,
}

/// Where a walk ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainEnd {
    /// The best plan on the way.
    pub best: Plan,
    /// Its nanoseconds.
    pub best_cost: u64,
    /// Proposals made.
    pub proposals: u64,
    /// Proposals taken.
    pub accepted: u64,
    /// A number that differs where any taken step or its cost does.
    pub history: u64,
}

impl<'p> Chain<'p> {
    /// A walk from a plan that fits in memory.
    pub fn new(problem: &'p Problem, start: &Plan, options: ChainOptions) -> Self {
        Self {
            evaluator: Evaluator::new(problem, start, options.mode),
            moves: Moves::new(problem, options.moves),
            random: Random::new(options.seed),
            options,
        }
    }

    /// Makes all proposals, or those until `stop` says so.
    pub fn run(mut self, stop: &dyn Fn() -> bool) -> ChainEnd {
        let ChainOptions { proposals, seed, cooling: (warm, cold), .. } = self.options;
        let mut end = ChainEnd {
            best: self.evaluator.plan(),
            best_cost: self.evaluator.cost(),
            proposals: 0,
            accepted: 0,
            history: mix(seed),
        };
        let mut change: Vec<(usize, Split)> = Vec::new();
        let mut current = end.best_cost;
        let first_cost = current as f64;
        for number in 0..proposals {
            if number % ASK_EVERY == 0 && stop() {
                break;
            }
            let Self { evaluator, moves, random, .. } = &mut self;
            moves.draw(random, &|at| evaluator.split(at), &mut change);
            let u = random.positive_unit();
            if change.is_empty() {
                break;
            }
            end.proposals += 1;
            let progress = number as f64 / proposals as f64;
            let beta = warm * (cold / warm).powf(progress) / first_cost.min(current as f64);
            let limit = current + (-u.ln() / beta) as u64;
            let Evaluation::Cost(cost) = evaluator.propose(&change, limit) else {
                evaluator.undo();
                continue;
            };
            evaluator.accept();
            current = cost;
            end.accepted += 1;
            end.history = mix(end.history ^ mix(number) ^ cost);
            if cost < end.best_cost {
                end.best_cost = cost;
                end.best = evaluator.plan();
            }
        }
        end
    }
}
