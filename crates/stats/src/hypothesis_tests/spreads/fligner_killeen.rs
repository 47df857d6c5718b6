//! Do groups share one variance? A test by ranks, the most robust against long tails.

use crate::distributions::{ChiSquared, Normal};
use crate::error::StatsError;
use crate::ranks::Ranks;
use crate::sample;

/// The Fligner-Killeen test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlignerKilleen {
    /// Variation of mean normal scores between groups.
    pub statistic: f64,
    /// Groups less one.
    pub df: usize,
    /// Chance of a larger statistic if all groups spread alike, by the chi-squared approximation.
    pub p: f64,
}

/// Tests equal spread by normal scores of the ranked distances from group medians: Fligner and
/// Killeen (Journal of the American Statistical Association 71, 1976) as modified by Conover,
/// Johnson and Johnson (Technometrics 23, 1981).
///
/// Distances tie if they are equal as computed: rounding can part some that are equal on paper.
///
/// # Errors
/// Fewer than two groups, an empty group, or distances that are all equal.
pub fn fligner_killeen(groups: &[Vec<f64>]) -> Result<FlignerKilleen, StatsError> {
    if groups.len() < 2 {
        let what = "a comparison of variances";
        return Err(StatsError::TooFew { what, needed: 2, found: groups.len() });
    }
    let mut distances = Vec::new();
    for group in groups {
        sample::check(group, "a group", 1)?;
        let middle = sample::median_of(group);
        distances.extend(group.iter().map(|v| (v - middle).abs()));
    }
    let n = distances.len() as f64;
    let ranked = Ranks::of(&distances, 0.0);
    let scores = ranked
        .ranks
        .iter()
        .map(|rank| Normal.quantile(0.5 * (1.0 + rank / (n + 1.0))))
        .collect::<Result<Vec<f64>, _>>()?;
    if ranked.ties.first() == Some(&distances.len()) || distances.len() < 2 {
        let reason = "all values are equally far from the medians of their groups";
        return Err(StatsError::Undefined { what: "the Fligner-Killeen statistic", reason });
    }
    let centre = sample::mean_of(&scores);
    let variance = sample::squares_about_mean(&scores) / (n - 1.0);
    let (mut spread, mut start) = (0.0, 0);
    for group in groups {
        let own = &scores[start..start + group.len()];
        start += group.len();
        spread += own.len() as f64 * (sample::mean_of(own) - centre).powi(2);
    }
    let statistic = spread / variance;
    let p = ChiSquared::new((groups.len() - 1) as f64)?.upper_tail(statistic);
    Ok(FlignerKilleen { statistic, df: groups.len() - 1, p })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn distances_that_are_all_equal_are_errors() {
        assert!(fligner_killeen(&[vec![1.0, 2.0]]).is_err());
        assert!(fligner_killeen(&[vec![1.0, 2.0], vec![5.0, 6.0]]).is_err());
        assert!(fligner_killeen(&[vec![], vec![5.0, 6.0]]).is_err());
    }

    proptest! {
        #[test]
        fn moving_a_group_changes_nothing(
            a in prop::collection::vec(-9..9i32, 3..12), b in prop::collection::vec(-9..9i32, 3..12),
            shift in -50..50i32,
        ) {
            let group = |g: &[i32], by: i32| -> Vec<f64> {
                g.iter().map(|v| f64::from(v + by)).collect()
            };
            let still = fligner_killeen(&[group(&a, 0), group(&b, 0)]);
            let moved = fligner_killeen(&[group(&a, 0), group(&b, shift)]);
            prop_assert_eq!(&still, &moved);
            if let Ok(found) = still {
                prop_assert!(found.statistic >= 0.0 && (0.0..=1.0).contains(&found.p));
            }
        }
    }
}
