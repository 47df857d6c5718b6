//! Effects of a two-level full factorial from its responses in standard order.

use crate::error::StatsError;
use crate::sample;

/// Effects of all factors and interactions, by Yates' sums and differences (The Design and
/// Analysis of Factorial Experiments, 1937).
///
/// Responses stand in standard order: the first factor changes fastest, and comes first at its
/// low level. Entry `m - 1` of the result is the effect of the factors whose bits are set in `m`,
/// the first factor being bit 0: mean response where their signs multiply to plus, less the mean
/// where they multiply to minus.
///
/// # Errors
/// A number of responses that is not a power of two from 4 on, or a non-finite one.
///
/// ```
/// use trainwright_stats::two_level_effects;
///
/// let effects = two_level_effects(&[1.0, 3.0, 2.0, 8.0])?;
/// assert_eq!(effects, [4.0, 3.0, 2.0]); // A, B and AB
/// # Ok::<(), trainwright_stats::StatsError>(())
/// ```
pub fn two_level_effects(responses: &[f64]) -> Result<Vec<f64>, StatsError> {
    let what = "a two-level factorial";
    sample::check(responses, what, 4)?;
    let n = responses.len();
    if !n.is_power_of_two() {
        let range = "the powers of two: 4, 8, 16 and so on";
        return Err(StatsError::OutOfRange {
            what: "the number of responses of a two-level factorial",
            value: n as f64,
            range,
        });
    }
    let mut sums = responses.to_vec();
    let mut stride = 1;
    while stride < n {
        for low in (0..n).filter(|index| index & stride == 0) {
            let (a, b) = (sums[low], sums[low + stride]);
            (sums[low], sums[low + stride]) = (a + b, b - a);
        }
        stride *= 2;
    }
    Ok(sums[1..].iter().map(|sum| sum / (0.5 * n as f64)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_count_that_is_no_power_of_two_is_refused() {
        assert!(two_level_effects(&[1.0, 2.0]).is_err());
        let error = two_level_effects(&[1.0; 6]).unwrap_err().to_string();
        assert!(error.contains("is 6"), "{error}");
    }

    proptest! {
        #[test]
        fn effects_agree_with_the_difference_of_two_means(
            responses in prop::collection::vec(-9.0..9.0f64, 16),
        ) {
            let found = two_level_effects(&responses).unwrap();
            for mask in 1usize..16 {
                let sign = |run: usize| {
                    let lows = mask.count_ones() - (mask & run).count_ones();
                    if lows.is_multiple_of(2) { 1.0 } else { -1.0 }
                };
                let sum: f64 = responses.iter().enumerate().map(|(run, y)| sign(run) * y).sum();
                prop_assert!((found[mask - 1] - sum / 8.0).abs() < 1e-12);
            }
        }
    }
}
