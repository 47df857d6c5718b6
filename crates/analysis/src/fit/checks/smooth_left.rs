//! Whether near neighbours of a space-filling design have alike residuals: what repeats would tell,
//! where no point was run twice.
//!
//! The yardstick is a Gaussian process added to the equation. The statistic of its score test is
//! e'Ke / e'e, with the residuals e and the kernel K; under independent normal noise it does not
//! depend on the noise's size, so simulated noise gives its p-value exactly but for the number of
//! simulations (Dufour, Journal of Econometrics 133, 2006).

use trainwright_random::Random;
use trainwright_stats::{Normal, Orthogonal};

use crate::fit::fitted::Fitted;
use crate::model::bend::Points;
use crate::model::problem::Problem;
use crate::model::variable::Variable;

/// Simulations of noise; the smallest p-value is one over one more.
const SIMULATIONS: usize = 1999;

/// Observations beyond which the simulation would take long.
const MOST_ROWS: usize = 400;

/// Fewest residual degrees of freedom that tell of neighbours.
const FEWEST_DF: usize = 5;

/// A test of what an equation leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SmoothLeft {
    /// Likeness of near residuals; larger where a smooth surface is left.
    pub(crate) statistic: f64,
    pub(crate) p: f64,
}

/// The test, where the points fill space and are not too many.
pub(crate) fn smooth_left(problem: &Problem, fitted: &Fitted) -> Option<SmoothLeft> {
    let fit = &fitted.fit;
    fit.log_likelihood?;
    let n = problem.y.len();
    let fills = problem.points == Points::FillingSpace && problem.groupings.is_empty();
    if !fills || n > MOST_ROWS || fit.df_residual < FEWEST_DF {
        return None;
    }
    let kernel = kernel(problem)?;
    let statistic = likeness(&kernel, &fit.residuals);
    let mut random = Random::new(SEED);
    let as_large = (0..SIMULATIONS)
        .filter(|_| likeness(&kernel, &noise(&mut random, fit.decomposition(), n)) >= statistic)
        .count();
    let p = (as_large + 1) as f64 / (SIMULATIONS + 1) as f64;
    Some(SmoothLeft { statistic, p })
}

/// The simulated noise is the same in every analysis, so that the same data give the same p.
const SEED: u64 = 0x5eed_0f4e;

/// Residuals of an equation fitted to normal noise.
fn noise(random: &mut Random, decomposition: &Orthogonal, n: usize) -> Vec<f64> {
    let draw = |_| {
        let at = random.positive_unit().min(1.0 - f64::EPSILON);
        Normal.quantile(at).expect("the draw lies between 0 and 1")
    };
    let values: Vec<f64> = (0..n).map(draw).collect();
    decomposition.residuals(&values)
}

fn likeness(kernel: &[Vec<f64>], residuals: &[f64]) -> f64 {
    let squares: f64 = residuals.iter().map(|e| e * e).sum();
    let row = |(own, e): (&Vec<f64>, &f64)| {
        e * own.iter().zip(residuals).map(|(k, e)| k * e).sum::<f64>()
    };
    kernel.iter().zip(residuals).map(row).sum::<f64>() / squares
}

/// Gaussian kernel over coded distances, with half the median distance as its length.
fn kernel(problem: &Problem) -> Option<Vec<Vec<f64>>> {
    let factors: Vec<&Variable> =
        problem.variables.iter().filter(|own| !own.is_block() && !own.is_power()).collect();
    let between = |own: &Variable, a: usize, b: usize| match (&own.raw, &own.coded) {
        (Some(_), Some(coded)) => coded[a] - coded[b],
        _ if own.codes[a] == own.codes[b] => 0.0,
        _ => 2.0,
    };
    let n = problem.y.len();
    let distance = |a: usize, b: usize| {
        factors.iter().map(|own| between(own, a, b).powi(2)).sum::<f64>().sqrt()
    };
    let mut all: Vec<f64> =
        (0..n).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| distance(a, b)).collect();
    all.sort_by(f64::total_cmp);
    let length = 0.5 * all.get(all.len() / 2).copied().filter(|own| *own > 0.0)?;
    let value = |a: usize, b: usize| (-0.5 * (distance(a, b) / length).powi(2)).exp();
    Some((0..n).map(|a| (0..n).map(|b| value(a, b)).collect()).collect())
}
