//! Anderson-Darling test of normality, mean and variance estimated from the sample.
//!
//! Stephens in D'Agostino and Stephens, Goodness-of-Fit Techniques (1986), section 4.8.5 (case
//! 3) and table 4.9.

use crate::distributions::Normal;
use crate::error::StatsError;
use crate::sample;

/// P-value at which the published formula ends, at an adjusted statistic of 10.
const SMALLEST_P: f64 = 3.7e-24;

/// The Anderson-Darling A² with its p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AndersonDarling {
    /// Weighted squared distance between the sample's distribution and the normal.
    pub a2: f64,
    /// A² adjusted for the size of the sample.
    pub adjusted: f64,
    /// Chance of a larger A² for a normal sample, or a bound on it.
    pub p: f64,
}

impl AndersonDarling {
    /// Whether the p-value is only known to be no larger than `p`, because A² lies beyond the
    /// values for which a formula was published.
    pub fn p_is_bound(&self) -> bool {
        self.p <= SMALLEST_P
    }
}

/// Tests whether a sample of at least 8 values looks normal, with more weight on the tails than
/// other tests give.
///
/// # Errors
/// A sample too short, constant or not finite.
pub fn anderson_darling(values: &[f64]) -> Result<AndersonDarling, StatsError> {
    let what = "the Anderson-Darling test";
    let scores = sample::standard_scores(values, what, 8)?;
    let n = scores.len() as f64;
    let sum: f64 = scores
        .iter()
        .zip(scores.iter().rev())
        .enumerate()
        .map(|(index, (low, high))| {
            let weight = 2.0 * index as f64 + 1.0;
            weight * (Normal.log_upper_tail(-low) + Normal.log_upper_tail(*high))
        })
        .sum();
    let a2 = -n - sum / n;
    let adjusted = a2 * (1.0 + 0.75 / n + 2.25 / (n * n));
    Ok(AndersonDarling { a2, adjusted, p: p_value(adjusted) })
}

fn p_value(adjusted: f64) -> f64 {
    // Far beyond its range the formula would rise again.
    let a = adjusted.min(11.0);
    let p = if a < 0.2 {
        1.0 - (-13.436 + (101.14 - 223.73 * a) * a).exp()
    } else if a < 0.34 {
        1.0 - (-8.318 + (42.796 - 59.938 * a) * a).exp()
    } else if a < 0.6 {
        (0.9177 - (4.279 + 1.38 * a) * a).exp()
    } else {
        (1.2937 - (5.709 - 0.0186 * a) * a).exp()
    };
    p.clamp(SMALLEST_P, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn samples_outside_the_tested_range_are_errors() {
        assert!(matches!(anderson_darling(&[1.0; 7]), Err(StatsError::TooFew { needed: 8, .. })));
        assert!(matches!(anderson_darling(&[1.0; 9]), Err(StatsError::Constant { .. })));
    }

    #[test]
    fn one_far_value_among_thousands_still_gives_a_number() {
        let mut values: Vec<f64> = (0..4000).map(|i| f64::from(i % 7)).collect();
        values.push(1e9);
        let found = anderson_darling(&values).unwrap();
        assert!(found.a2.is_finite() && found.p_is_bound() && found.p < 4e-24);
    }

    #[test]
    fn p_falls_from_one_piece_of_the_formula_to_the_next() {
        // The published pieces meet within 0.005.
        let table: Vec<f64> = (1..1200).map(|i| p_value(f64::from(i) * 0.01)).collect();
        assert!(table.windows(2).all(|pair| pair[1] <= pair[0] + 0.005));
    }

    proptest! {
        #[test]
        fn shift_and_scale_do_not_matter(
            values in prop::collection::vec(-10.0..10.0f64, 8..40), scale in 1e-3..1e3f64,
        ) {
            prop_assume!(sample::check_varies(&values, "test").is_ok());
            let moved: Vec<f64> = values.iter().map(|v| 3.0 - scale * v).collect();
            let (a, b) = (anderson_darling(&values).unwrap(), anderson_darling(&moved).unwrap());
            prop_assert!((a.a2 - b.a2).abs() < 1e-8 * a.a2.max(1.0));
        }
    }
}
