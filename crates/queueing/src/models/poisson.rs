//! Mixtures of Erlang distributions as Poisson sums.

use std::f64::consts::TAU;

/// Probability of `count` events where `mean` are expected.
///
/// The saddle-point form of Loader ("Fast and Accurate Computation of Binomial Probabilities",
/// 2000): large terms cancel on paper instead of in the floats.
pub(crate) fn mass(count: u64, mean: f64) -> f64 {
    if count == 0 || mean == 0.0 {
        return if count == 0 { (-mean).exp() } else { 0.0 };
    }
    let n = count as f64;
    let excess = (mean - n) / n;
    (n * (excess.ln_1p() - excess) - stirling_error(count)).exp() / (TAU * n).sqrt()
}

/// ln(n!) minus Stirling's formula for it.
fn stirling_error(count: u64) -> f64 {
    let n = count as f64;
    if count < 16 {
        let factorial: f64 = (1..=count).map(|k| k as f64).product();
        return factorial.ln() - 0.5 * (TAU * n).ln() - n * n.ln() + n;
    }
    let square = n * n;
    let inner = 1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0) / square) / square;
    (1.0 / 12.0 - inner / square) / n
}

/// Probability that a random number of stages, each exponential, lasts beyond a time.
///
/// `scaled_time` is the time over the mean of one stage. `beyond[j]` is the probability of more
/// than j stages; past its end it falls by the factor `decay` a stage. All terms are positive.
pub(crate) fn stages_tail(scaled_time: f64, beyond: &[f64], decay: f64) -> f64 {
    let Some(&end) = beyond.last() else { return 0.0 };
    let last = beyond.len() as u64 - 1;
    let more_than = |j: u64| match beyond.get(j as usize) {
        Some(&probability) => probability,
        None => end * decay.powf((j - last) as f64),
    };
    let middle = scaled_time.floor() as u64;
    let start = if decay > 0.0 { middle } else { middle.min(last) };
    let first = mass(start, scaled_time);
    let mut sum = first * more_than(start);
    let mut term = first;
    for j in (0..start).rev() {
        term *= (j + 1) as f64 / scaled_time;
        sum += term * more_than(j);
        // Below the middle the masses fall, so that j + 1 times this one bounds what is left.
        if term * (j + 1) as f64 <= 1e-18 * sum {
            break;
        }
    }
    term = first;
    for j in start + 1.. {
        let weight = more_than(j);
        if weight == 0.0 {
            break;
        }
        term *= scaled_time / j as f64;
        sum += term * weight;
        let ratio = scaled_time / (j + 1) as f64;
        if ratio < 1.0 && term * weight <= 1e-18 * sum * (1.0 - ratio) {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn masses_equal_the_formula_and_add_up() {
        assert!((mass(3, 2.0) / (8.0 / 6.0 * (-2f64).exp()) - 1.0).abs() < 1e-14);
        assert_eq!((mass(0, 0.0), mass(2, 0.0)), (1.0, 0.0));
        for mean in [0.3, 7.0, 400.0, 90_000.0] {
            let all: f64 = (0..200_000).map(|n| mass(n, mean)).sum();
            assert!((all - 1.0).abs() < 1e-12, "{mean}: {all}");
        }
    }

    #[test]
    fn an_endless_geometric_number_of_stages_is_exponential() {
        // A geometric number of exponential stages is exponential again.
        for (time, decay) in [(0.0, 0.5), (3.0, 0.5), (40.0, 0.9), (5000.0, 0.999)] {
            let found = stages_tail(time, &[1.0], decay);
            let expected = (-time * (1.0 - decay)).exp();
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        }
    }

    proptest! {
        #[test]
        fn a_fixed_number_of_stages_has_the_tail_of_erlang(
            stages in 1usize..60, time in 0f64..90.0,
        ) {
            let found = stages_tail(time, &vec![1.0; stages], 0.0);
            let mut term = (-time).exp();
            let mut expected = term;
            for j in 1..stages {
                term *= time / j as f64;
                expected += term;
            }
            prop_assert!((found / expected - 1.0).abs() < 1e-12);
        }
    }
}
