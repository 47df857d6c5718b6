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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fitted, problem, table};

    fn points(values: &[[f64; 2]]) -> crate::Table {
        let rows: Vec<&[f64]> = values.iter().map(<[f64; 2]>::as_slice).collect();
        table("x,y", &rows)
    }

    #[test]
    fn likeness_is_one_for_a_kernel_that_knows_no_neighbours() {
        let identity = [vec![1.0, 0.0], vec![0.0, 1.0]];
        assert!((likeness(&identity, &[3.0, -4.0]) - 1.0).abs() < 1e-12);
        let alike = [vec![1.0, 1.0], vec![1.0, 1.0]];
        // (sum of residuals)^2 over the sum of squares.
        assert!((likeness(&alike, &[3.0, 4.0]) - 49.0 / 25.0).abs() < 1e-12);
        assert!((likeness(&alike, &[3.0, -3.0])).abs() < 1e-12);
    }

    #[test]
    fn the_kernel_falls_with_coded_distance_by_half_the_median() {
        // Coded -1, 0 and 1: distances 1, 1 and 2, median 1, length 0.5.
        let kernel =
            kernel(&problem(&points(&[[0.0, 1.0], [5.0, 2.0], [10.0, 4.0]]), "y ~ x")).unwrap();
        assert_eq!(kernel[1][1], 1.0);
        assert!((kernel[0][1] - (-2.0f64).exp()).abs() < 1e-12);
        assert!((kernel[2][0] - (-8.0f64).exp()).abs() < 1e-12);
        let alike = problem(
            &points(&[[0.0, 1.0], [0.0, 2.0], [0.0, 4.0], [0.0, 3.0], [1.0, 2.0]]),
            "y ~ x",
        );
        assert!(super::kernel(&alike).is_none(), "most pairs lie at one place");
    }

    #[test]
    fn a_wave_is_left_by_a_straight_line_and_noise_is_not() {
        let of = |height: fn(usize) -> f64| {
            let values: Vec<[f64; 2]> = (0..30).map(|at| [at as f64, height(at)]).collect();
            let (mut problem, _) = fitted(&points(&values), "y ~ x");
            problem.points = Points::FillingSpace;
            let fit = Fitted::new(&problem).unwrap();
            smooth_left(&problem, &fit).unwrap().p
        };
        assert!(of(|at| (at as f64 / 4.0).sin()) < 0.001 + 1.0 / 2000.0);
        assert!(
            of(|at| (at * 7919 % 31) as f64) > 0.05,
            "scattered values have no neighbours alike"
        );
    }

    #[test]
    fn points_on_levels_and_crowded_equations_are_not_judged_by_neighbours() {
        let values: Vec<[f64; 2]> = (0..6).map(|at| [at as f64, (at * 3 % 5) as f64]).collect();
        let (mut problem, fit) = fitted(&points(&values), "y ~ x");
        assert!(smooth_left(&problem, &fit).is_none(), "the points lie on levels");
        problem.points = Points::FillingSpace;
        assert!(smooth_left(&problem, &fit).is_none(), "four degrees of freedom tell nothing");
    }
}
