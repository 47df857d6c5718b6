//! Methods against recorded runs: what would they have tried, and how good would it have been?
//!
//! A replay goes on after the method has stopped, until a configuration within 5 % of the optimum
//! is found, so that how fast it searches and when it stops are seen apart.

mod summary;

use serde::Serialize;
use trainwright_random::Random;

use super::advisor::{Advisor, Outlook, Stop};
use super::history::PastWorkload;
use super::problem::{Problem, Told};
pub use summary::{Quantiles, Summary, summary};

/// How near to the optimum a search must come before its replay ends.
pub(super) const NEAR: f64 = 0.05;

/// What a method did with one recorded workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replayed {
    /// The workload.
    pub workload: String,
    /// Its group, which was left out of the history.
    pub group: String,
    /// The seed.
    pub seed: u64,
    /// Runs in their order, also those after the stop.
    pub tried: Vec<Tried>,
    /// How many of them the method wanted.
    pub stopped_after: usize,
    /// Why it wanted no more.
    pub stop: Option<Stop>,
    /// The best objective before the stop.
    pub best: Option<f64>,
    /// The best objective of all candidates.
    pub optimum: f64,
    /// The best before the stop over the optimum.
    pub ratio: Option<f64>,
    /// Runs until one within 5 % of the optimum.
    pub n_to_5pct: Option<usize>,
    /// Runs until one within 10 % of the optimum.
    pub n_to_10pct: Option<usize>,
    /// What all runs before the stop took together, over the optimum.
    pub search_cost: f64,
    /// Failed runs before the stop of which nobody knows how long they took; they are not in the
    /// search cost.
    pub unknown_spends: usize,
    /// How far what was foretold at the stop lay from what was recorded: the mean over all
    /// candidates that had not run, as a share of what was recorded. Absent where nothing was
    /// foretold, or all had run.
    pub prediction_error: Option<f64>,
}

/// One run of a replay.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// The machine type.
    pub vm_type: String,
    /// How many machines.
    pub nodes: u32,
    /// Objective of the run; of a failed one what it took until then, where that is known.
    pub objective: Option<f64>,
    /// Whether it ended well.
    pub completed: bool,
}

/// Plays a method against a workload whose runs on every candidate are known; nothing where none
/// of them was good enough to be an optimum.
///
/// # Panics
/// Where the workload was not recorded on every candidate of the problem.
pub fn replay(
    problem: &Problem,
    workload: &PastWorkload,
    advisor: &dyn Advisor,
    seed: u64,
) -> Option<Replayed> {
    let record = Record { problem, workload };
    let optimum = record.optimum()?;
    let own_seed = seed_of(workload, seed);
    let mut told: Vec<Told> = Vec::new();
    let (mut stopped, mut error) = (None, None);
    loop {
        let advice = advisor.advise(&told, own_seed);
        let best = problem.best(&told).map(|(_, value)| value);
        if stopped.is_none() && (advice.stop.is_some() || advice.next.is_none()) {
            stopped = Some((told.len(), advice.stop));
            error = record.prediction_error(&advice.outlook);
        }
        let near = best.is_some_and(|best| best <= optimum * (1.0 + NEAR));
        match advice.next {
            Some(next) if stopped.is_none() || !near => told.push(record.run(next)),
            _ => break,
        }
    }
    let (stopped_after, stop) = stopped?;
    let before = &told[..stopped_after];
    let best = problem.best(before).map(|(_, value)| value);
    let spends = before.iter().filter_map(|own| record.spend(own));
    let reached = |share: f64| {
        let near = |own: &Told| problem.accepted(own).is_some_and(|v| v <= optimum * (1.0 + share));
        told.iter().position(near).map(|place| place + 1)
    };
    Some(Replayed {
        workload: workload.name.clone(),
        group: workload.group.clone(),
        seed,
        tried: told.iter().map(|own| record.tried(own)).collect(),
        stopped_after,
        stop,
        best,
        optimum,
        ratio: best.map(|best| best / optimum),
        n_to_5pct: reached(NEAR),
        n_to_10pct: reached(0.10),
        search_cost: spends.sum::<f64>() / optimum,
        unknown_spends: before.iter().filter(|own| own.elapsed_s.is_none()).count(),
        prediction_error: error,
    })
}

/// A seed of the workload's own, so that no start point is lucky for all of them.
fn seed_of(workload: &PastWorkload, seed: u64) -> u64 {
    let name: Vec<u64> = workload.name.bytes().map(u64::from).collect();
    Random::for_purpose(seed, &name).bits()
}

struct Record<'a> {
    problem: &'a Problem,
    workload: &'a PastWorkload,
}

impl Record<'_> {
    fn run(&self, candidate: usize) -> Told {
        let run = self.workload.runs[candidate].as_ref().expect("every candidate was recorded");
        Told {
            candidate,
            elapsed_s: run.elapsed_s,
            completed: run.completed,
            metrics: run.metrics.clone(),
        }
    }

    fn optimum(&self) -> Option<f64> {
        let all = 0..self.problem.candidates().len();
        let accepted = all.filter_map(|at| self.problem.accepted(&self.run(at)));
        accepted.min_by(f64::total_cmp)
    }

    fn prediction_error(&self, outlook: &[Outlook]) -> Option<f64> {
        let error = |own: &Outlook| {
            let told = Some(self.run(own.candidate)).filter(|told| told.completed)?;
            Some((own.expected / self.spend(&told)? - 1.0).abs())
        };
        let all: Vec<f64> = outlook.iter().filter_map(error).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }

    fn spend(&self, told: &Told) -> Option<f64> {
        Some(self.problem.value(told.candidate, told.elapsed_s?))
    }

    fn tried(&self, told: &Told) -> Tried {
        let own = &self.problem.candidates()[told.candidate];
        Tried {
            vm_type: own.machine.vm_type.clone(),
            nodes: own.nodes,
            objective: self.spend(told),
            completed: told.completed,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
