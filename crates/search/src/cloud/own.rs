//! Our own method: beliefs that stand beside each other, weighed by how well they foretold what
//! was measured, so that none has to be right.
//!
//! `domain.rs` believes what is true of computers, `past.rs` that this job goes like one of the
//! history; `belief.rs` is the arithmetic of both, `failures.rs` the chance that a run ends well.
//! A history that misleads foretells badly and loses its weight within a few runs. The next run is
//! the one with the largest expected improvement of the logarithm of the objective.

mod belief;
mod domain;
mod failures;
mod past;

use super::advisor::{Advice, Advisor, Outlook, Stop};
use super::history::History;
use super::problem::{Problem, Told};
use crate::gaussian_process::{Posterior, expected_improvement, improvement_chance};
use belief::{Beliefs, Left, log_sum};
use failures::Failures;
use past::Past;

/// The advantage of a history, in log odds a measurement, at which it is hardly believed.
const DOUBTFUL: f64 = 0.5;
/// A run must promise this share of its own price in gain: the job will run about 100 times.
const LEAST_GAIN: f64 = 0.01;
/// A gain of this share of the objective is one that the user would notice ...
const NOTICED: f64 = 0.05;
/// ... and this is how likely one may still be when the search stops.
const MISSED: f64 = 0.2;
/// Where nothing kept within the limits in so many runs, a chance below this ends the search.
const HOPELESS: (usize, f64) = (3, 0.01);
/// Half of the 90 % interval of a normal number.
const NINETY: f64 = 1.645;

/// Our own method, ready for a problem and its history.
pub(super) struct Own {
    problem: Problem,
    domain: Vec<Beliefs>,
    past: Option<Past>,
    /// The logarithm of the odds of the history before any run.
    odds: f64,
    failures: Failures,
}

/// How much a history is believed before any run. One that foretells its own workloads much worse
/// than what is true of computers is noise; one that does so much better contradicts it, and its
/// labels are doubtful. One that agrees is believed as much.
fn log_odds(advantage: f64) -> f64 {
    -2.0 * (advantage / DOUBTFUL).powi(2)
}

/// What is expected of a candidate.
struct Promise {
    candidate: usize,
    /// Mean and standard deviation of the log objective.
    mean: f64,
    deviation: f64,
    /// Expected improvement of the log objective.
    gain: f64,
    /// The chance of an improvement that would be noticed.
    noticed: f64,
    /// The chance that a run ends well and keeps within the limits.
    accepted: f64,
}

impl Own {
    pub(super) fn new(problem: &Problem, history: &History) -> Self {
        let domain = domain::beliefs(problem);
        let past = Past::of(problem, history);
        let odds = past.as_ref().map_or(0.0, |own| log_odds(own.advantage(&domain)));
        let failures = Failures::of(problem);
        Self { problem: problem.clone(), domain, past, odds, failures }
    }

    /// What is left of all beliefs, with weights that add up to 1.
    fn left(&self, told: &[Told]) -> Vec<(f64, Left)> {
        let finished = || told.iter().filter_map(|own| Some((own.candidate, own.finished()?.ln())));
        // Beliefs are about differences; large common numbers would cost digits.
        let base = finished().next().map_or(0.0, |(_, log_time)| log_time);
        let measured: Vec<(usize, f64)> =
            finished().map(|(candidate, log_time)| (candidate, log_time - base)).collect();
        let mut all: Vec<Left> = self.domain.iter().flat_map(|own| own.after(&measured)).collect();
        for beliefs in self.past.iter().flat_map(|own| own.beliefs(told)) {
            for mut own in beliefs.after(&measured) {
                own.log_weight += self.odds;
                all.push(own);
            }
        }
        let sum = log_sum(&all.iter().map(|own| own.log_weight).collect::<Vec<_>>());
        let weighted = |mut own: Left| {
            own.mean.iter_mut().for_each(|mean| *mean += base);
            ((own.log_weight - sum).exp(), own)
        };
        // What is next to impossible costs time and changes nothing.
        all.into_iter().map(weighted).filter(|(weight, _)| *weight > 1e-6).collect()
    }

    /// What is expected of all candidates that have not run.
    fn promises(&self, told: &[Told]) -> Vec<Promise> {
        let left = self.left(told);
        let untried = self.problem.untried(told);
        untried.iter().map(|&own| self.promise(own, told, &left)).collect()
    }

    fn promise(&self, candidate: usize, told: &[Told], left: &[(f64, Left)]) -> Promise {
        let best = self.problem.best(told).map(|(_, value)| value.ln());
        let rate = self.problem.log_rate(candidate);
        let limit = self.problem.longest_s(candidate).map(|own| own.ln() + rate);
        let (mut mean, mut second, mut gain, mut noticed, mut accepted) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (weight, own) in left {
            let deviation = own.deviation[candidate];
            let normal = Posterior { mean: own.mean[candidate] + rate, deviation };
            let kept = weight * limit.map_or(1.0, |limit| improvement_chance(normal, limit));
            mean += weight * normal.mean;
            second += weight * (normal.mean * normal.mean + deviation * deviation);
            accepted += kept;
            if let Some(best) = best {
                gain += kept * expected_improvement(normal, best);
                noticed += kept * improvement_chance(normal, best - NOTICED.ln_1p());
            }
        }
        let completed = self.failures.chance_completed(candidate, told);
        Promise {
            candidate,
            mean,
            deviation: (second - mean * mean).max(0.0).sqrt(),
            gain: gain * completed,
            noticed: noticed * completed,
            accepted: accepted * completed,
        }
    }

    /// Why another run is not worth it.
    fn stop(&self, told: &[Told], promises: &[Promise], next: &Promise) -> Option<Stop> {
        let Some((_, best)) = self.problem.best(told) else { return hopeless(told, promises) };
        let best = best.ln();
        let threshold = LEAST_GAIN * (next.mean - best).exp();
        // The sum is at least the chance that any of them is better.
        let noticed: f64 = promises.iter().map(|own| own.noticed).sum();
        (next.gain < threshold && noticed < MISSED)
            .then_some(Stop::LittleToGain { expected_gain: next.gain, threshold })
    }
}

/// Why no further run is worth it where none has kept within the limits: the chances of all that
/// are left add up to next to nothing.
fn hopeless(told: &[Told], promises: &[Promise]) -> Option<Stop> {
    let (least, unlikely) = HOPELESS;
    let any: f64 = promises.iter().map(|own| own.accepted).sum();
    let chance = promises.iter().map(|own| own.accepted).fold(0.0, f64::max);
    (told.len() >= least && any < unlikely && !promises.is_empty())
        .then_some(Stop::NoneAcceptable { chance })
}

/// Why no further run is worth it where none has kept within the limits, for methods that do not
/// judge that themselves.
pub fn none_acceptable(problem: &Problem, told: &[Told]) -> Option<Stop> {
    if problem.best(told).is_some() {
        return None;
    }
    let own = Own::new(problem, &History::default());
    hopeless(told, &own.promises(told))
}

impl Advisor for Own {
    fn advise(&self, told: &[Told], _seed: u64) -> Advice {
        let mut promises = self.promises(told);
        promises.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        // Before anything ended well there is nothing to improve on: the lowest that will succeed.
        let unpaid = |own: &Promise| own.mean - own.accepted.ln();
        let next = match self.problem.best(told) {
            None => promises.iter().min_by(|a, b| unpaid(a).total_cmp(&unpaid(b))),
            Some(_) => promises.iter().max_by(|a, b| a.gain.total_cmp(&b.gain)),
        };
        let Some(next) = next else {
            return Advice { stop: Some(Stop::AllTried), ..Advice::default() };
        };
        let outlook = promises.iter().map(|own| Outlook {
            candidate: own.candidate,
            expected: own.mean.exp(),
            low: Some((own.mean - NINETY * own.deviation).exp()),
            high: Some((own.mean + NINETY * own.deviation).exp()),
            chance_accepted: Some(own.accepted),
        });
        Advice {
            next: Some(next.candidate),
            stop: self.stop(told, &promises, next),
            outlook: outlook.collect(),
            warnings: Vec::new(),
        }
    }
}
