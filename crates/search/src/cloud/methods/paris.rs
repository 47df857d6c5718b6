//! PARIS: two reference runs give a fingerprint, a random forest foretells all others (Yadwadkar,
//! Hariharan, Gonzalez, Smith and Katz, "Selecting the best VM across multiple public clouds",
//! SoCC 2017).

use super::{first_untried, next, once_accepted};
use crate::cloud::advisor::{Advice, Advisor, Outlook, Stop};
use crate::cloud::history::{History, on_log_scale};
use crate::cloud::problem::{Problem, Told};
use crate::forest::{Forest, ForestKind, ForestOptions, Rows};

const TREES: usize = 80;
/// Two references and the best that is foretold.
const RUNS: usize = 3;

/// PARIS, ready for a problem.
pub(crate) struct Paris {
    problem: Problem,
    references: [usize; 2],
    usual: [Vec<f64>; 2],
    /// Nothing where no workload has run on both references.
    forest: Option<Forest>,
}

/// A run on a reference: its metrics and its time.
type Fingerprint<'a> = [(&'a [Option<f64>], Option<f64>); 2];

impl Paris {
    pub(crate) fn new(problem: &Problem, history: &History) -> Self {
        let references = references(problem);
        let usual = references.map(|at| history.usual_metrics(at));
        let mut own = Self { problem: problem.clone(), references, usual, forest: None };
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for work in &history.workloads {
            let fingerprint = references.map(|at| {
                let metrics = work.runs[at].as_ref().map_or(&[][..], |run| &run.metrics[..]);
                (metrics, work.finished(at))
            });
            let Some(base) = own.base(&fingerprint) else { continue };
            for target in 0..problem.candidates().len() {
                if let Some(elapsed) = work.finished(target) {
                    inputs.push(own.input(&fingerprint, target));
                    outputs.push(vec![elapsed.ln() - base]);
                }
            }
        }
        if !inputs.is_empty() {
            let columns = inputs[0].len().div_ceil(3);
            let kind = ForestKind::RandomForest;
            let options = ForestOptions { kind, trees: TREES, columns, least_leaf: 2, seed: 11 };
            own.forest = Some(Forest::fit(&Rows::new(inputs), &Rows::new(outputs), options));
        }
        own
    }

    /// The log time of the first reference that ended well.
    fn base(&self, fingerprint: &Fingerprint<'_>) -> Option<f64> {
        fingerprint[0].1.or(fingerprint[1].1).map(f64::ln)
    }

    fn input(&self, fingerprint: &Fingerprint<'_>, target: usize) -> Vec<f64> {
        let mut all = Vec::new();
        for ((metrics, _), usual) in fingerprint.iter().zip(&self.usual) {
            let value = |(at, usual): (usize, &f64)| {
                on_log_scale(metrics.get(at).copied().flatten().unwrap_or(*usual))
            };
            all.extend(usual.iter().enumerate().map(value));
        }
        // A failure is as far from every ratio as one can get.
        let ratio = fingerprint[0].1.zip(fingerprint[1].1).map(|(a, b)| (a / b).ln());
        all.push(ratio.unwrap_or(-9.0));
        all.extend(self.problem.features().row(target));
        all
    }

    /// Log objectives that are foretold, with their deviations, the lowest first.
    fn foretold(&self, told: &[Told]) -> Option<Vec<(usize, f64, f64)>> {
        let run = |at: usize| told.iter().find(|own| own.candidate == at);
        let fingerprint = self.references.map(|at| {
            (run(at).map_or(&[][..], |own| &own.metrics[..]), run(at).and_then(Told::finished))
        });
        let (base, forest) = (self.base(&fingerprint)?, self.forest.as_ref()?);
        let own = |target: usize| {
            let (mean, variance) = forest.mean_and_variance(&self.input(&fingerprint, target));
            (target, base + mean + self.problem.log_rate(target), variance.sqrt())
        };
        let mut all: Vec<_> = self.problem.untried(told).into_iter().map(own).collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        Some(all)
    }
}

/// The cheapest type and the one with most processors, each with its middle number of nodes.
fn references(problem: &Problem) -> [usize; 2] {
    let candidates = problem.candidates();
    let by = |score: &dyn Fn(usize) -> f64| {
        let all = 0..candidates.len();
        let best = all.min_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap_or(0);
        let name = &candidates[best].machine.vm_type;
        let mut same: Vec<usize> =
            (0..candidates.len()).filter(|&at| candidates[at].machine.vm_type == *name).collect();
        same.sort_by_key(|&at| candidates[at].nodes);
        same[same.len() / 2]
    };
    let machine = |at: usize| &candidates[at].machine;
    let cheap = by(&|at| machine(at).price_usd_per_hour);
    // Of those with as many processors, the cheapest.
    let large = by(&|at| machine(at).price_usd_per_hour * 1e-6 - machine(at).vcpus);
    [cheap, large]
}

impl Advisor for Paris {
    fn advise(&self, told: &[Told], _seed: u64) -> Advice {
        if let Some(reference) = first_untried(&self.references, told)
            && told.len() < self.references.len()
        {
            return next(Some(reference));
        }
        let Some(foretold) = self.foretold(told) else {
            let all: Vec<usize> = (0..self.problem.candidates().len()).collect();
            return next(first_untried(&all, told));
        };
        let mut advice = next(foretold.first().map(|own| own.0));
        if told.len() >= RUNS {
            let spent = once_accepted(&self.problem, told, Stop::RunsSpent { runs: RUNS });
            advice.stop = advice.stop.or(spent);
        }
        advice.outlook = foretold
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
