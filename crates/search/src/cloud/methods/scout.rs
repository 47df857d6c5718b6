//! Scout: learns from other workloads which candidate beats which, and climbs (Hsu, Nair, Menzies
//! and Freeh, "Scout: an experienced guide to find the best cloud configuration", arXiv
//! 1803.01296).

use trainwright_random::Random;

use super::{first_untried, next, shuffled};
use crate::cloud::advisor::{Advice, Advisor, Stop};
use crate::cloud::history::{History, on_log_scale};
use crate::cloud::problem::{Problem, Told};
use crate::forest::{Forest, ForestKind, ForestOptions, Rows};

/// Where the classes of a ratio of objectives end; the first two are better.
const CLASSES: [f64; 4] = [0.7, 0.95, 1.05, 1.5];
const BETTER: usize = 2;
const TREES: usize = 40;
/// It stops below this chance of a better one, or after so many runs in a row that were not.
const LEAST_CHANCE: f64 = 0.5;
const MOST_MISSES: usize = 3;
/// Pairs to learn from; more are drawn from at random.
const MOST_PAIRS: usize = 10_000;

/// Scout, ready for a problem.
pub(crate) struct Scout {
    problem: Problem,
    usual: Vec<Vec<f64>>,
    forest: Forest,
}

impl Scout {
    /// Learns from a history that is not empty.
    pub(crate) fn new(problem: &Problem, history: &History) -> Self {
        let count = problem.candidates().len();
        let usual: Vec<Vec<f64>> = (0..count).map(|at| history.usual_metrics(at)).collect();
        let mut pairs = Vec::new();
        for (work, own) in history.workloads.iter().enumerate() {
            let finished: Vec<usize> =
                (0..count).filter(|&at| own.finished(at).is_some()).collect();
            let others = |&from: &usize| {
                finished.iter().filter(move |to| **to != from).map(move |to| (work, from, *to))
            };
            pairs.extend(finished.iter().flat_map(others));
        }
        Random::new(5).shuffle(&mut pairs);
        pairs.truncate(MOST_PAIRS);
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (work, from, to) in pairs {
            let own = &history.workloads[work];
            let (Some(run), Some(before), Some(after)) =
                (&own.runs[from], own.finished(from), own.finished(to))
            else {
                continue;
            };
            let ratio = problem.value(to, after) / problem.value(from, before);
            inputs.push(input(problem, &usual, from, &run.metrics, to));
            outputs.push(one_hot(ratio));
        }
        if inputs.is_empty() {
            // Nothing to learn from: every class is as likely.
            inputs.push(input(problem, &usual, 0, &[], 0));
            outputs.push(vec![1.0 / 5.0; 5]);
        }
        let columns = (inputs[0].len() as f64).sqrt().ceil() as usize;
        let kind = ForestKind::ExtraTrees;
        let options = ForestOptions { kind, trees: TREES, columns, least_leaf: 3, seed: 7 };
        let forest = Forest::fit(&Rows::new(inputs), &Rows::new(outputs), options);
        Self { problem: problem.clone(), usual, forest }
    }

    /// The chance that each candidate left beats the best run, the most likely first.
    fn chances(&self, told: &[Told], best: &Told) -> Vec<(usize, f64)> {
        let chance = |to: usize| {
            let own = input(&self.problem, &self.usual, best.candidate, &best.metrics, to);
            (to, self.forest.predict(&own)[..BETTER].iter().sum())
        };
        let mut all: Vec<(usize, f64)> =
            self.problem.untried(told).into_iter().map(chance).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }
}

fn one_hot(ratio: f64) -> Vec<f64> {
    let class = CLASSES.iter().filter(|end| ratio >= **end).count();
    (0..=CLASSES.len()).map(|own| f64::from(u8::from(own == class))).collect()
}

fn input(
    problem: &Problem,
    usual: &[Vec<f64>],
    from: usize,
    metrics: &[Option<f64>],
    to: usize,
) -> Vec<f64> {
    let features = problem.features();
    let metric = |(at, usual): (usize, &f64)| {
        on_log_scale(metrics.get(at).copied().flatten().unwrap_or(*usual))
    };
    let metrics: Vec<f64> = usual[from].iter().enumerate().map(metric).collect();
    let own = features.row(from).iter().copied();
    own.chain(metrics).chain(features.row(to).iter().copied()).collect()
}

impl Advisor for Scout {
    fn advise(&self, told: &[Told], seed: u64) -> Advice {
        let Some((place, _)) = self.problem.best(told) else {
            return next(first_untried(&shuffled(&self.problem, seed), told));
        };
        let chances = self.chances(told, &told[place]);
        let mut advice = next(chances.first().map(|own| own.0));
        let misses = told.len() - 1 - place;
        if let Some(&(_, chance)) = chances.first() {
            if chance < LEAST_CHANCE {
                advice.stop = Some(Stop::NoneBetter { chance });
            } else if misses >= MOST_MISSES {
                advice.stop = Some(Stop::Misses { runs: misses });
            }
        }
        advice
    }
}
