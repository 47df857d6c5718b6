//! Tuneful: finds the few parameters that matter, then tunes those (Fekry, Carata, Pasquier, Rice
//! and Hopper, "To tune or not to tune? In search of optimal configurations for data analytics",
//! KDD 2020).
//!
//! On a table of candidates a parameter that does not matter is left out of the Gaussian process,
//! since not every combination with its default exists.

use super::bayesian::expected;
use super::{first_untried, next, shuffled};
use crate::cloud::advisor::{Advice, Advisor, Stop};
use crate::cloud::problem::{Problem, Told};
use crate::forest::{Forest, ForestKind, ForestOptions, Rows};

/// Rounds in which parameters are dropped, and runs of each.
const ROUNDS: usize = 2;
const ROUND_RUNS: usize = 3;
/// The share of the parameters that a round keeps.
const KEPT: f64 = 0.6;
/// The fewest runs before it may stop.
const LEAST_RUNS: usize = 10;
/// The improvement that another run must promise.
const THRESHOLD: f64 = 0.10;
/// Forests that vote, and trees of each.
const VOTES: u64 = 100;
const TREES: usize = 10;

/// Columns that matter most for some values: those that most of a hundred forests rank among
/// their first, as many as the share of all columns says, in their order.
///
/// # Panics
/// Where there are no rows, or not as many values.
pub fn significant_columns(
    points: &[Vec<f64>],
    values: &[f64],
    share: f64,
    seed: u64,
) -> Vec<usize> {
    let inputs = Rows::new(points.to_vec());
    let outputs = Rows::new(values.iter().map(|own| vec![*own]).collect());
    let width = inputs.width();
    let kept = ((share * width as f64).ceil() as usize).clamp(1, width.max(1));
    let mut votes = vec![0_u32; width];
    for vote in 0..VOTES {
        let options = ForestOptions {
            kind: ForestKind::ExtraTrees,
            trees: TREES,
            columns: width,
            least_leaf: 1,
            seed: seed.wrapping_add(vote),
        };
        let importances = Forest::fit(&inputs, &outputs, options).importances();
        let mut order: Vec<usize> = (0..width).collect();
        order.sort_by(|a, b| importances[*b].total_cmp(&importances[*a]));
        order.iter().take(kept).for_each(|&column| votes[column] += 1);
    }
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by_key(|&column| std::cmp::Reverse(votes[column]));
    order.truncate(kept);
    order.sort_unstable();
    order
}

/// Tuneful, ready for a problem.
pub(crate) struct Tuneful {
    problem: Problem,
}

impl Tuneful {
    pub(crate) fn new(problem: &Problem) -> Self {
        Self { problem: problem.clone() }
    }

    /// The columns that are left after each round.
    fn significant(&self, told: &[Told], seed: u64) -> Vec<usize> {
        let mut columns: Vec<usize> = (0..self.problem.features().names().len()).collect();
        for round in 1..=ROUNDS {
            let runs: Vec<(Vec<f64>, f64)> = told[..round * ROUND_RUNS]
                .iter()
                .filter_map(|own| {
                    let value = self.problem.value(own.candidate, own.finished()?).ln();
                    let unit = self.problem.features().unit(own.candidate);
                    Some((columns.iter().map(|&column| unit[column]).collect(), value))
                })
                .collect();
            if runs.len() < 2 || columns.len() < 2 {
                continue;
            }
            let (points, values): (Vec<Vec<f64>>, Vec<f64>) = runs.into_iter().unzip();
            let kept = significant_columns(&points, &values, KEPT, seed);
            columns = kept.into_iter().map(|place| columns[place]).collect();
        }
        columns
    }
}

impl Advisor for Tuneful {
    fn advise(&self, told: &[Told], seed: u64) -> Advice {
        let random = || first_untried(&shuffled(&self.problem, seed), told);
        if told.len() < ROUNDS * ROUND_RUNS {
            return next(random());
        }
        let columns = self.significant(told, seed);
        let Some(found) = expected(&self.problem, &columns, told, seed) else {
            return next(random());
        };
        let enough = told.len() >= LEAST_RUNS && found.gain < THRESHOLD;
        let stop = Stop::LittleToGain { expected_gain: found.gain, threshold: THRESHOLD };
        Advice {
            next: Some(found.candidate),
            stop: enough.then_some(stop),
            outlook: found.outlook,
            warnings: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use trainwright_random::Random;

    use super::*;

    #[test]
    fn columns_that_matter_are_found() {
        let mut random = Random::new(4);
        let points: Vec<Vec<f64>> =
            (0..40).map(|_| (0..6).map(|_| random.unit()).collect()).collect();
        let values: Vec<f64> = points.iter().map(|x| 5.0 * x[1] - 3.0 * x[4]).collect();
        assert_eq!(significant_columns(&points, &values, 0.33, 1), [1, 4]);
        assert_eq!(significant_columns(&points, &values, 0.0, 1), [1]);
    }
}
