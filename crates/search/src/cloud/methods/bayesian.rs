//! A Gaussian process over some features, and what it expects of the other candidates.

use trainwright_random::Random;

use crate::cloud::advisor::Outlook;
use crate::cloud::problem::{Problem, Told};
use crate::gaussian_process::{Distance, Draws, Ensemble, Measured, Priors};

/// Draws of hyper-parameters: as many as Spearmint keeps. The chain begins at the most believable
/// place, so that few have to be thrown away.
const DRAWS: Draws = Draws { burn_in: 10, kept: 10, apart: 2 };

/// What a Gaussian process makes of the runs so far.
pub(super) struct Expected {
    /// The candidate with the largest expected improvement.
    pub(super) candidate: usize,
    /// That improvement, of the logarithm of the objective.
    pub(super) gain: f64,
    /// What is expected of all candidates that have not run, best first.
    pub(super) outlook: Vec<Outlook>,
}

/// Expected improvement over the features at `columns`, times the chance to keep within the
/// limits; nothing where all candidates have run or none ended well.
pub(super) fn expected(
    problem: &Problem,
    columns: &[usize],
    told: &[Told],
    seed: u64,
) -> Option<Expected> {
    let untried = problem.untried(told);
    let point = |at: usize| -> Vec<f64> {
        columns.iter().map(|&column| problem.features().unit(at)[column]).collect()
    };
    let finished: Vec<(usize, f64)> =
        told.iter().filter_map(|own| Some((own.candidate, own.finished()?))).collect();
    let accepted: Vec<Vec<f64>> = told
        .iter()
        .filter(|own| problem.accepted(own).is_some())
        .map(|own| point(own.candidate))
        .collect();
    if accepted.is_empty() {
        return None;
    }
    let measured = |value: &dyn Fn(usize, f64) -> f64| Measured {
        distances: vec![Distance::Difference; columns.len()],
        points: finished.iter().map(|(at, _)| point(*at)).collect(),
        values: finished.iter().map(|(at, elapsed)| value(*at, *elapsed).ln()).collect(),
        counts: vec![1; finished.len()],
    };
    let draw = |own: &Measured, part: u64| {
        let mut random = Random::for_purpose(seed, &[2, part, told.len() as u64]);
        Ensemble::draw(own, Priors::spearmint(), DRAWS, &mut random)
    };
    let objective = draw(&measured(&|at, elapsed| problem.value(at, elapsed)), 0)?;
    let points: Vec<Vec<f64>> = untried.iter().map(|&at| point(at)).collect();
    let mut gains = objective.expected_improvements(&points, &accepted);
    if untried.iter().any(|&at| problem.longest_s(at).is_some()) {
        let times = draw(&measured(&|_, elapsed| elapsed), 1)?;
        for (place, &at) in untried.iter().enumerate() {
            let limit = problem.longest_s(at).unwrap_or(f64::INFINITY).ln();
            gains[place] *= times.chances_below(&points[place..=place], limit)[0];
        }
    }
    let (place, gain) = gains.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mut outlook: Vec<Outlook> = objective
        .posteriors(&points)
        .iter()
        .zip(&untried)
        .map(|(own, &candidate)| Outlook {
            candidate,
            expected: own.mean.exp(),
            low: Some((own.mean - 1.645 * own.deviation).exp()),
            high: Some((own.mean + 1.645 * own.deviation).exp()),
            chance_accepted: None,
        })
        .collect();
    outlook.sort_by(|a, b| a.expected.total_cmp(&b.expected));
    Some(Expected { candidate: untried[place], gain, outlook })
}
