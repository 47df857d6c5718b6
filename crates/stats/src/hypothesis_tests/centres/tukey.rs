//! Which group means differ: Tukey's honest significant differences.

use crate::distributions::studentised_range::StudentisedRange;
use crate::error::StatsError;
use crate::hypothesis_tests::centres::one_way::one_way;
use crate::sample;

/// All pairs of group means, compared together.
#[derive(Debug, Clone, PartialEq)]
pub struct Tukey {
    /// One entry a pair: the second group with the first, the third with the first and so on.
    pub pairs: Vec<TukeyPair>,
    /// Degrees of freedom within groups.
    pub df: usize,
    /// Mean square within groups.
    pub mean_square: f64,
}

/// The difference of two group means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TukeyPair {
    /// Place of the group whose mean is taken from the other's.
    pub first: usize,
    /// Place of the other group.
    pub second: usize,
    /// Mean of `second` less mean of `first`.
    pub difference: f64,
    /// Lower end of the interval; all intervals hold together 95 times in 100.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// The difference in units of its standard error over the square root of two.
    pub q: f64,
    /// Chance that any of the pairs differs this much if all means are equal.
    pub p: f64,
}

/// Compares all pairs of group means with a joint error rate (Tukey, "The problem of multiple
/// comparisons", 1953), with Kramer's standard error for unequal sizes (Biometrics 12, 1956).
///
/// Exact for groups of equal size, conservative otherwise (Hayter, Annals of Statistics 12, 1984).
///
/// # Errors
/// As [`one_way`], or more than a thousand groups.
pub fn tukey(groups: &[Vec<f64>]) -> Result<Tukey, StatsError> {
    let whole = one_way(groups)?;
    let mean_square = whole.ss_within / whole.df2 as f64;
    let range = StudentisedRange::new(groups.len(), whole.df2 as f64)?;
    let critical = range.quantile(0.95)?;
    let groups = &sample::about_common_centre(groups);
    let means: Vec<f64> = groups.iter().map(|g| sample::mean_of(g)).collect();
    let mut pairs = Vec::new();
    for first in 0..groups.len() {
        for second in first + 1..groups.len() {
            let sizes = 1.0 / groups[first].len() as f64 + 1.0 / groups[second].len() as f64;
            let unit = (0.5 * mean_square * sizes).sqrt();
            let difference = means[second] - means[first];
            let (low, high) = (difference - critical * unit, difference + critical * unit);
            let q = difference.abs() / unit;
            pairs.push(TukeyPair {
                first,
                second,
                difference,
                low,
                high,
                q,
                p: range.upper_tail(q),
            });
        }
    }
    Ok(Tukey { pairs, df: whole.df2, mean_square })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn two_groups_are_the_pooled_t_test(
            a in prop::collection::vec(-5.0..5.0f64, 2..9),
            b in prop::collection::vec(-5.0..5.0f64, 2..9),
        ) {
            let groups = [a, b];
            let (found, whole) = (tukey(&groups).unwrap(), one_way(&groups).unwrap());
            prop_assert_eq!(found.pairs.len(), 1);
            prop_assert!((found.pairs[0].p - whole.p).abs() < 1e-9);
            let covers = found.pairs[0].low < 0.0 && found.pairs[0].high > 0.0;
            prop_assert_eq!(covers, whole.p > 0.05);
        }
    }

    #[test]
    fn groups_that_cannot_be_compared_are_errors() {
        assert!(tukey(&[vec![1.0, 2.0]]).is_err());
        assert!(tukey(&[vec![1.0, 1.0], vec![2.0, 2.0]]).is_err());
    }
}
