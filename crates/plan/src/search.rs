//! Searches for good plans.
//!
//! [`search`] runs chains of a Metropolis walk from several starts (`starts.rs`), each a pure
//! function of its seed and number of proposals, and polishes the best plan until no change of a
//! single operator helps (`polish.rs`). Small problems are solved by trying everything
//! (`exhaustive.rs`).

mod chain;
mod descent;
mod exhaustive;
mod moves;
mod placements;
mod polish;
mod starts;

pub use chain::{COOLING, Chain, ChainEnd, ChainOptions};
pub use exhaustive::{Optimum, optimum};
pub use moves::{MoveShares, Moves};
pub use polish::{Polished, polish};
pub use starts::{Start, data_parallel, expert, one_device, pipelined, starts};

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::plan::Plan;
use crate::problem::Problem;
use crate::simulator::{Evaluator, Mode};

/// How long and on how many threads to search.
#[derive(Clone, Copy)]
pub struct SearchOptions<'a> {
    /// Decides every draw.
    pub seed: u64,
    /// Proposals of all chains together.
    pub proposals: u64,
    /// The most proposals of the polish at the end.
    pub polish_proposals: u64,
    /// Chains for each start.
    pub chains_per_start: u64,
    /// Threads that run chains; they change the time, not the result.
    pub threads: usize,
    /// Asked often; the search ends with what it has when this is true.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The best plan.
    pub plan: Plan,
    /// Nanoseconds of its step.
    pub cost: u64,
    /// The start from which it came.
    pub from: String,
    /// Proposals made, those of the polish apart.
    pub proposals: u64,
    /// Proposals that were taken.
    pub accepted: u64,
    /// Proposals of the polish.
    pub polish_proposals: u64,
    /// Whether no change of one operator helps; false where the search was stopped before.
    pub locally_optimal: bool,
    /// A number that differs where any chain took another step.
    pub history: u64,
}

/// Searches from the starts that fit in memory, or else from plans that do which are found on the
/// way down from them; none where there is none of these either.
pub fn search(problem: &Problem, from: &[Start], options: &SearchOptions<'_>) -> Option<Found> {
    let fits = |start: &&Start| Evaluator::new(problem, &start.plan, Mode::Bounded).fits();
    let fitting: Vec<Start> = from.iter().filter(fits).cloned().collect();
    let fitting = if fitting.is_empty() { walked_down(problem, from, options) } else { fitting };
    let chains = fitting.len() as u64 * options.chains_per_start;
    if chains == 0 {
        return None;
    }
    let ends = run_chains(problem, &fitting, options);
    let history =
        ends.iter().fold(options.seed, |all, (_, end)| trainwright_random::mix(all ^ end.history));
    let (number, best) = ends.iter().min_by_key(|(number, end)| (end.best_cost, *number))?;
    let from = fitting[(*number as u64 / options.chains_per_start) as usize].name.clone();
    let polished = polish(problem, &best.best, options.polish_proposals, options.stop);
    Some(Found {
        plan: polished.plan,
        cost: polished.cost,
        from,
        proposals: ends.iter().map(|(_, end)| end.proposals).sum(),
        accepted: ends.iter().map(|(_, end)| end.accepted).sum(),
        polish_proposals: polished.proposals,
        locally_optimal: polished.finished,
        history,
    })
}

/// Plans that fit, on the way down from starts that do not.
fn walked_down(problem: &Problem, from: &[Start], options: &SearchOptions<'_>) -> Vec<Start> {
    let proposals = options.proposals / from.len().max(1) as u64;
    let plans = from.iter().zip(0..).filter_map(|(start, number)| {
        let seed = trainwright_random::mix(options.seed ^ trainwright_random::mix(!number));
        let plan = descent::fitting(problem, &start.plan, (seed, proposals), options.stop)?;
        Some(Start { name: start.name.clone(), plan })
    });
    plans.collect()
}

/// Runs all chains, as many at a time as there are threads, and gives their ends in order.
fn run_chains(
    problem: &Problem,
    fitting: &[Start],
    options: &SearchOptions<'_>,
) -> Vec<(usize, ChainEnd)> {
    let chains = fitting.len() * options.chains_per_start as usize;
    let next = AtomicUsize::new(0);
    let ends: Mutex<Vec<(usize, ChainEnd)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= chains {
                return;
            }
            let start = &fitting[number / options.chains_per_start as usize].plan;
            // The last chains get what does not divide evenly.
            let share = |at: u64| options.proposals * at / chains as u64;
            let proposals = share(number as u64 + 1) - share(number as u64);
            let seed =
                trainwright_random::mix(options.seed ^ trainwright_random::mix(number as u64));
            let chain = ChainOptions {
                seed,
                proposals,
                cooling: COOLING,
                moves: MoveShares::MIXED,
                mode: Mode::Bounded,
            };
            let end = Chain::new(problem, start, chain).run(options.stop);
            ends.lock().expect("a chain does not panic").push((number, end));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.threads.clamp(1, chains) {
            scope.spawn(work);
        }
        work();
    });
    let mut ends = ends.into_inner().expect("a chain does not panic");
    ends.sort_by_key(|(number, _)| *number);
    ends
}
