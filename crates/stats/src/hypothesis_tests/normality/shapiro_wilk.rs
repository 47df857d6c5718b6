//! Shapiro-Wilk test of normality.
//!
//! Royston, "Remark AS R94: a remark on algorithm AS 181: the W-test for normality", Applied
//! Statistics 44 (1995). The weights are Royston's polynomial corrections of the normalised
//! expected order statistics; the p-value comes from a normal approximation to a function of
//! 1 - W, and is exact for three values.

use crate::distributions::Normal;
use crate::error::StatsError;
use crate::linear_algebra::lanes;
use crate::sample;

/// Largest sample for which Royston checked the approximation.
const LARGEST_SAMPLE: usize = 5000;

/// The Shapiro-Wilk W with its p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapiroWilk {
    /// Squared correlation of the ordered values with normal scores: near 1 if normal.
    pub w: f64,
    /// Chance of a smaller W for a normal sample.
    pub p: f64,
}

/// Tests whether a sample of 3 to 5000 values looks normal.
///
/// # Errors
/// A sample too short, too long, constant or not finite.
pub fn shapiro_wilk(values: &[f64]) -> Result<ShapiroWilk, StatsError> {
    let what = "the Shapiro-Wilk test";
    sample::check(values, what, 3)?;
    let n = values.len();
    if n > LARGEST_SAMPLE {
        return Err(StatsError::TooMany { what, limit: LARGEST_SAMPLE, found: n });
    }
    sample::check_varies(values, what)?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let short = shortfall(&sorted, &weights(n)?);
    Ok(ShapiroWilk { w: 1.0 - short, p: p_value(short, n) })
}

/// 1 - W, formed so that a W close to 1 keeps its digits; the weights are those of the upper half,
/// the largest value first.
fn shortfall(sorted: &[f64], weights: &[f64]) -> f64 {
    // The range as unit keeps squares of very small or large values in bounds.
    let (lowest, unit) = (sorted[0], (sorted[sorted.len() - 1] - sorted[0]).recip());
    let scaled: Vec<f64> = sorted.iter().map(|v| (v - lowest) * unit).collect();
    // Weights of opposite places differ in sign alone.
    let pairs = scaled.iter().zip(scaled.iter().rev());
    let apart: Vec<f64> = pairs.take(weights.len()).map(|(low, high)| high - low).collect();
    let along = lanes::dot(weights, &apart);
    let squares = sample::squares_about_mean(&scaled);
    let size = 2.0 * lanes::dot(weights, weights);
    let whole = (squares * size).sqrt();
    (whole - along) * (whole + along) / (squares * size)
}

/// Royston's weights of the upper half of the ordered sample, the largest value first.
fn weights(n: usize) -> Result<Vec<f64>, StatsError> {
    const LAST: [f64; 6] = [0.0, 0.221157, -0.147981, -2.071190, 4.434685, -2.706056];
    const LAST_BUT_ONE: [f64; 6] = [0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633];
    if n == 3 {
        return Ok(vec![0.5f64.sqrt()]);
    }
    let size = n as f64;
    let mut scores = (1..=n / 2)
        .map(|i| Normal.quantile((i as f64 - 0.375) / (size + 0.25)).map(|score| -score))
        .collect::<Result<Vec<f64>, _>>()?;
    let squares = 2.0 * lanes::dot(&scores, &scores);
    let root = size.sqrt().recip();
    let mut corrected = vec![scores[0] / squares.sqrt() + polynomial(&LAST, root)];
    if n > 5 {
        corrected.push(scores[1] / squares.sqrt() + polynomial(&LAST_BUT_ONE, root));
    }
    let of_ends: f64 = scores[..corrected.len()].iter().map(|m| 2.0 * m * m).sum();
    let of_corrected: f64 = corrected.iter().map(|a| 2.0 * a * a).sum();
    let phi = (squares - of_ends) / (1.0 - of_corrected);
    lanes::scale(&mut scores, phi.sqrt().recip());
    scores[..corrected.len()].copy_from_slice(&corrected);
    Ok(scores)
}

fn p_value(short: f64, n: usize) -> f64 {
    let size = n as f64;
    if n == 3 {
        // W of three values cannot be below 3/4; rounding can put it there.
        let angle = (1.0 - short).max(0.75).sqrt().asin() - 0.75f64.sqrt().asin();
        return (6.0 / std::f64::consts::PI * angle).clamp(0.0, 1.0);
    }
    if short <= 0.0 {
        return 1.0;
    }
    let (score, centre, spread) = if n <= 11 {
        let limit = polynomial(&[-2.273, 0.459], size) - short.ln();
        if limit <= 0.0 {
            return 0.0;
        }
        let centre = polynomial(&[0.5440, -0.39978, 0.025054, -0.0006714], size);
        let spread = polynomial(&[1.3822, -0.77857, 0.062767, -0.0020322], size).exp();
        (-limit.ln(), centre, spread)
    } else {
        let log = size.ln();
        let centre = polynomial(&[-1.5861, -0.31082, -0.083751, 0.0038915], log);
        let spread = polynomial(&[-0.4803, -0.082676, 0.0030302], log).exp();
        (short.ln(), centre, spread)
    };
    Normal.upper_tail((score - centre) / spread)
}

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn samples_outside_the_tested_range_are_errors() {
        assert!(matches!(shapiro_wilk(&[1.0, 2.0]), Err(StatsError::TooFew { .. })));
        assert!(matches!(shapiro_wilk(&[2.0; 9]), Err(StatsError::Constant { .. })));
        let long: Vec<f64> = (0..5001).map(f64::from).collect();
        assert!(matches!(shapiro_wilk(&long), Err(StatsError::TooMany { limit: 5000, .. })));
    }

    proptest! {
        #[test]
        fn shift_and_scale_do_not_matter(
            values in prop::collection::vec(-10.0..10.0f64, 4..40), scale in 1e-3..1e3f64,
        ) {
            prop_assume!(sample::check_varies(&values, "test").is_ok());
            let moved: Vec<f64> = values.iter().map(|v| 3.0 + scale * v).collect();
            let (a, b) = (shapiro_wilk(&values).unwrap(), shapiro_wilk(&moved).unwrap());
            prop_assert!((a.w - b.w).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&a.p) && a.w > 0.0 && a.w <= 1.0);
        }
    }
}
