//! Arrow: extremely randomised trees on low-level metrics instead of a Gaussian process (Hsu,
//! Nair, Freeh and Menzies, "Arrow: low-level augmented Bayesian optimization for finding the best
//! cloud VM", ICDCS 2018).

use super::{first_untried, next, once_accepted, shuffled};
use crate::cloud::advisor::{Advice, Advisor, Outlook, Stop};
use crate::cloud::history::{History, on_log_scale};
use crate::cloud::problem::{Problem, Told};
use crate::forest::{Forest, ForestKind, ForestOptions, Rows};

/// Runs to begin with, and the fewest before it may stop.
const START: usize = 3;
const LEAST_RUNS: usize = 4;
/// It stops where all others are expected to be worse than this many times the best.
const TAU: f64 = 1.1;
const TREES: usize = 20;
/// The paper's metrics, as `sar` names them; all that are known where none of these is.
const METRICS: [&str; 6] = [
    "cpu_user_pct",
    "cpu_iowait_pct",
    "load_runq",
    "mem_commit_pct",
    "disk_util_pct",
    "disk_await_ms",
];

/// Arrow, ready for a problem.
pub(crate) struct Arrow {
    problem: Problem,
    /// Places of the metrics that it looks at.
    metrics: Vec<usize>,
}

impl Arrow {
    pub(crate) fn new(problem: &Problem, history: &History) -> Self {
        let names = &history.metric_names;
        let known: Vec<usize> =
            METRICS.iter().filter_map(|own| names.iter().position(|name| name == own)).collect();
        let metrics = if known.is_empty() { (0..names.len()).collect() } else { known };
        Self { problem: problem.clone(), metrics }
    }

    /// Three that differ: the first at random, each other farthest from those before.
    fn start(&self, told: &[Told], seed: u64) -> Option<usize> {
        let order = shuffled(&self.problem, seed);
        if told.is_empty() {
            return order.first().copied();
        }
        let features = self.problem.features();
        let distance = |a: usize, b: usize| -> f64 {
            features.unit(a).iter().zip(features.unit(b)).map(|(x, y)| (x - y).powi(2)).sum()
        };
        let nearest = |at: usize| {
            told.iter().map(|own| distance(at, own.candidate)).fold(f64::INFINITY, f64::min)
        };
        let untried = order.into_iter().filter(|at| told.iter().all(|own| own.candidate != *at));
        untried.max_by(|a, b| nearest(*a).total_cmp(&nearest(*b)))
    }

    fn input(&self, source: &Told, value: f64, target: usize) -> Vec<f64> {
        let features = self.problem.features();
        let metric =
            |&at: &usize| source.metrics.get(at).copied().flatten().map_or(0.0, on_log_scale);
        let own = features.row(source.candidate).iter().copied();
        let metrics: Vec<f64> = self.metrics.iter().map(metric).collect();
        own.chain(metrics).chain([value]).chain(features.row(target).iter().copied()).collect()
    }

    /// Expected log objective of candidates, best first.
    fn expected(&self, told: &[Told], seed: u64) -> Option<Vec<(usize, f64, f64)>> {
        let known: Vec<(&Told, f64)> = told
            .iter()
            .filter_map(|own| Some((own, self.problem.value(own.candidate, own.finished()?).ln())))
            .collect();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (a, (source, value)) in known.iter().enumerate() {
            for (b, (target, result)) in known.iter().enumerate() {
                if a != b {
                    inputs.push(self.input(source, *value, target.candidate));
                    outputs.push(vec![*result]);
                }
            }
        }
        let width = inputs.first()?.len();
        let kind = ForestKind::ExtraTrees;
        let options = ForestOptions { kind, trees: TREES, columns: width, least_leaf: 1, seed };
        let forest = Forest::fit(&Rows::new(inputs), &Rows::new(outputs), options);
        let mean = |target: usize| {
            let all = known.iter().map(|(source, value)| {
                forest.mean_and_variance(&self.input(source, *value, target))
            });
            let (sum, variance) = all.fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            (target, sum / known.len() as f64, (variance / known.len() as f64).sqrt())
        };
        let mut all: Vec<_> = self.problem.untried(told).into_iter().map(mean).collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        Some(all)
    }
}

impl Advisor for Arrow {
    fn advise(&self, told: &[Told], seed: u64) -> Advice {
        if told.len() < START {
            return next(self.start(told, seed));
        }
        let Some(expected) = self.expected(told, seed) else {
            return next(first_untried(&shuffled(&self.problem, seed), told));
        };
        let mut advice = next(expected.first().map(|own| own.0));
        let best = self.problem.best(told).map_or(f64::INFINITY, |(_, value)| value.ln());
        if let Some((_, lowest, _)) = expected.first()
            && told.len() >= LEAST_RUNS
            && *lowest > best + TAU.ln()
        {
            let expected_ratio = (lowest - best).exp();
            let stop = Stop::NoneWithin { expected_ratio, limit: TAU };
            advice.stop = once_accepted(&self.problem, told, stop);
        }
        advice.outlook = expected
            .iter()
            .map(|(candidate, mean, deviation)| Outlook {
                candidate: *candidate,
                expected: mean.exp(),
                low: Some((mean - 1.645 * deviation).exp()),
                high: Some((mean + 1.645 * deviation).exp()),
                chance_accepted: None,
            })
            .collect();
        advice
    }
}
