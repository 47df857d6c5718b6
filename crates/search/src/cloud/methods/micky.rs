//! Micky: one configuration for a whole set of workloads, as a bandit (Hsu, Nair, Menzies and
//! Freeh, "Micky: a cheaper alternative for selecting cloud instances", CLOUD 2018).
//!
//! Its rewards need a yardstick. The optimum of each workload, by which the paper divides, is what
//! nobody knows before; here it is a reference configuration, measured once a workload drawn.

use trainwright_random::Random;

use super::{first_untried, next, once_accepted};
use crate::cloud::advisor::{Advice, Advisor, Stop};
use crate::cloud::history::History;
use crate::cloud::problem::{Problem, Told};

/// How often each configuration is tried first, and pulls a workload after that.
const ALPHA: usize = 1;
const BETA: f64 = 0.5;

/// Micky, ready for a problem: it looks at other workloads only.
pub(crate) struct Micky {
    problem: Problem,
    history: History,
    reference: usize,
}

impl Micky {
    pub(crate) fn new(problem: &Problem, history: &History) -> Self {
        let price = |at: &usize| problem.candidates()[*at].price_usd_per_hour();
        let mut order: Vec<usize> = (0..problem.candidates().len()).collect();
        order.sort_by(|a, b| price(a).total_cmp(&price(b)));
        let reference = order[order.len() / 2];
        Self { problem: problem.clone(), history: history.clone(), reference }
    }

    /// The reward of a configuration for a workload: 1/2 where it is as good as the reference, 1
    /// where it is much better, 0 where it failed.
    fn reward(&self, arm: usize, workload: usize) -> f64 {
        let own = &self.history.workloads[workload];
        let value = |at: usize| own.finished(at).map(|elapsed| self.problem.value(at, elapsed));
        match (value(arm), value(self.reference)) {
            (Some(arm), Some(reference)) => reference / (reference + arm),
            (Some(_), None) => 1.0,
            (None, _) => 0.0,
        }
    }

    /// Configurations by their mean reward (UCB1; Auer, Cesa-Bianchi and Fischer, 2002).
    fn order(&self, seed: u64) -> Vec<usize> {
        let (arms, works) = (self.problem.candidates().len(), self.history.workloads.len());
        let mut random = Random::for_purpose(seed, &[3]);
        let (mut sums, mut pulls) = (vec![0.0; arms], vec![0.0_f64; arms]);
        let mut pull = |arm: usize, sums: &mut [f64], pulls: &mut [f64]| {
            sums[arm] += self.reward(arm, random.index(works));
            pulls[arm] += 1.0;
        };
        for arm in (0..arms).flat_map(|arm| [arm; ALPHA]) {
            pull(arm, &mut sums, &mut pulls);
        }
        for _ in 0..(BETA * works as f64).round() as usize {
            let all: f64 = pulls.iter().sum();
            let bound =
                |arm: &usize| sums[*arm] / pulls[*arm] + (2.0 * all.ln() / pulls[*arm]).sqrt();
            let arm = (0..arms).max_by(|a, b| bound(a).total_cmp(&bound(b))).unwrap_or(0);
            pull(arm, &mut sums, &mut pulls);
        }
        let mut order: Vec<usize> = (0..arms).collect();
        let mean = |arm: &usize| sums[*arm] / pulls[*arm];
        order.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        order
    }
}

impl Advisor for Micky {
    fn advise(&self, told: &[Told], seed: u64) -> Advice {
        let mut advice = next(first_untried(&self.order(seed), told));
        let spent = once_accepted(&self.problem, told, Stop::RunsSpent { runs: 1 });
        advice.stop = advice.stop.or(spent);
        advice
    }
}
