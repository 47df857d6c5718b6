//! Comparison of groups by ranks, whatever the shape of their distribution.

use crate::distributions::ChiSquared;
use crate::error::StatsError;
use crate::ranks::Ranks;
use crate::sample;

/// The Kruskal-Wallis test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KruskalWallis {
    /// Variation of mean ranks between groups, corrected for ties.
    pub h: f64,
    /// Groups less one.
    pub df: usize,
    /// Chance of a larger H if all groups have one distribution, by the chi-squared approximation.
    pub p: f64,
}

/// Tests whether values tend to be larger in some groups (Kruskal and Wallis, Journal of the
/// American Statistical Association 47, 1952). The approximation wants five values a group.
///
/// # Errors
/// Fewer than two groups, an empty group, or values that are all equal.
pub fn kruskal_wallis(groups: &[Vec<f64>]) -> Result<KruskalWallis, StatsError> {
    let what = "a comparison of groups";
    if groups.len() < 2 {
        return Err(StatsError::TooFew { what, needed: 2, found: groups.len() });
    }
    for group in groups {
        sample::check(group, "a group", 1)?;
    }
    let all = groups.concat();
    if all.iter().all(|v| *v == all[0]) {
        return Err(StatsError::Constant { what, count: all.len(), value: all[0] });
    }
    let ranked = Ranks::of(&all, 0.0);
    let n = all.len() as f64;
    let centre = 0.5 * (n + 1.0);
    let (mut spread, mut start) = (0.0, 0);
    for group in groups {
        let own = &ranked.ranks[start..start + group.len()];
        start += group.len();
        let size = own.len() as f64;
        spread += size * (own.iter().sum::<f64>() / size - centre).powi(2);
    }
    let h = 12.0 * spread / (n * (n + 1.0)) / (1.0 - ranked.tie_cubes() / (n.powi(3) - n));
    let p = ChiSquared::new((groups.len() - 1) as f64)?.upper_tail(h);
    Ok(KruskalWallis { h, df: groups.len() - 1, p })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_that_cannot_be_ranked_apart_are_errors() {
        assert!(kruskal_wallis(&[vec![1.0]]).is_err());
        assert!(kruskal_wallis(&[vec![2.0], vec![]]).is_err());
        assert!(matches!(
            kruskal_wallis(&[vec![2.0, 2.0], vec![2.0]]),
            Err(StatsError::Constant { .. })
        ));
    }

    proptest! {
        #[test]
        fn h_is_the_share_of_squared_ranks_between_groups(
            a in prop::collection::vec(0..6i32, 1..9), b in prop::collection::vec(0..6i32, 1..9),
        ) {
            let groups: Vec<Vec<f64>> =
                [a, b].iter().map(|g| g.iter().map(|&v| f64::from(v)).collect()).collect();
            let all = groups.concat();
            prop_assume!(all.iter().any(|v| *v != all[0]));
            // Conover's form: H = (N - 1) times the R squared of the ranks, ties or not.
            let ranks = Ranks::of(&all, 0.0).ranks;
            let (first, second) = ranks.split_at(groups[0].len());
            let within = sample::squares_about_mean(first) + sample::squares_about_mean(second);
            let share = 1.0 - within / sample::squares_about_mean(&ranks);
            let found = kruskal_wallis(&groups).unwrap();
            prop_assert!((found.h - (all.len() - 1) as f64 * share).abs() < 1e-9);
        }
    }
}
