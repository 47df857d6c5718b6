//! Comparison of groups by ranks, whatever the shape of their distribution.

use crate::distributions::ChiSquared;
use crate::error::StatsError;
use crate::ranks::{Ranks, TailMethod};
use crate::sample;

/// The Kruskal-Wallis test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KruskalWallis {
    /// Variation of mean ranks between groups, corrected for ties.
    pub h: f64,
    /// Groups less one.
    pub df: usize,
    /// Chance of an H as large if all groups have one distribution.
    pub p: f64,
    /// How that was found.
    pub method: TailMethod,
}

/// Ways to deal the values to the groups that are counted one by one.
const MOST_WAYS: f64 = 1e6;

/// Tests whether values tend to be larger in some groups (Kruskal and Wallis, Journal of the
/// American Statistical Association 47, 1952).
///
/// Where the values can be dealt to the groups in at most a million ways, which covers three groups
/// of five, the p-value is exact, given the ties; otherwise it is that of the chi-squared
/// approximation. No evidence at 5 % can come from groups of 3 and 4 values, of 2, 2 and 2, or of
/// one value each.
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
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let (p, method) = match ways(&sizes) <= MOST_WAYS {
        true => (exact(&ranked.ranks, &sizes), TailMethod::Exact),
        false => {
            let p = ChiSquared::new((groups.len() - 1) as f64)?.upper_tail(h);
            (p, TailMethod::ChiSquared)
        }
    };
    Ok(KruskalWallis { h, df: groups.len() - 1, p, method })
}

/// Number of ways to deal values to groups of these sizes.
fn ways(sizes: &[usize]) -> f64 {
    let mut dealt = 0.0;
    let mut found = 1.0;
    for &size in sizes {
        for place in 1..=size {
            dealt += 1.0;
            found *= dealt / place as f64;
        }
    }
    found
}

/// Share of all ways to deal the ranks whose mean ranks vary as much as those of the groups, which
/// hold the ranks in order.
fn exact(ranks: &[f64], sizes: &[usize]) -> f64 {
    let mut start = 0;
    let mut sums = vec![0.0; sizes.len()];
    for (sum, size) in sums.iter_mut().zip(sizes) {
        *sum = ranks[start..start + size].iter().sum();
        start += size;
    }
    let seen = variation(&sums, sizes);
    let mut deal = Deal { sizes, left: sizes.to_vec(), sums: vec![0.0; sizes.len()], seen };
    let (as_far, all) = deal.count(ranks);
    as_far / all
}

/// What of H depends on how the ranks are dealt.
fn variation(sums: &[f64], sizes: &[usize]) -> f64 {
    sums.iter().zip(sizes).map(|(sum, size)| sum * sum / *size as f64).sum()
}

/// Ranks that are being dealt to groups.
struct Deal<'a> {
    sizes: &'a [usize],
    /// Free places of each group.
    left: Vec<usize>,
    /// Sum of the ranks dealt to each group.
    sums: Vec<f64>,
    /// The variation of the groups as they are.
    seen: f64,
}

impl Deal<'_> {
    /// Ways to deal the rest that vary as much as was seen, and all ways.
    fn count(&mut self, rest: &[f64]) -> (f64, f64) {
        let Some((&rank, rest)) = rest.split_first() else {
            // Sums in another order differ by rounding.
            let as_far = variation(&self.sums, self.sizes) >= self.seen * (1.0 - 1e-12);
            return (f64::from(u8::from(as_far)), 1.0);
        };
        let mut found = (0.0, 0.0);
        for group in 0..self.sizes.len() {
            if self.left[group] == 0 {
                continue;
            }
            self.left[group] -= 1;
            self.sums[group] += rank;
            let own = self.count(rest);
            self.left[group] += 1;
            self.sums[group] -= rank;
            found = (found.0 + own.0, found.1 + own.1);
        }
        found
    }
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

    #[track_caller]
    fn tail(groups: &[&[f64]], expected: f64) {
        let groups: Vec<Vec<f64>> = groups.iter().map(|g| g.to_vec()).collect();
        let found = kruskal_wallis(&groups).unwrap();
        assert_eq!(found.method, TailMethod::Exact);
        assert!((found.p - expected).abs() < 1e-12, "{} where {expected} is exact", found.p);
    }

    #[test]
    fn tiny_groups_have_the_exact_tail_of_the_tables() {
        // Perfect order of 2, 2 and 2: 3! of 90 ways. Of 3, 3 and 3: 3! of 1680, H = 7.2.
        tail(&[&[1.0, 2.0], &[3.0, 4.0], &[5.0, 6.0]], 6.0 / 90.0);
        tail(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], &[7.0, 8.0, 9.0]], 6.0 / 1680.0);
        // All 720 orders of six values, with H = 4.2857: 72 as large.
        tail(&[&[1.0, 2.0, 3.0], &[5.0, 6.0], &[4.0]], 0.1);
        tail(&[&[1.0], &[2.0], &[3.0]], 1.0);
    }

    #[test]
    fn large_groups_use_the_approximation() {
        let group = |start: i32| (0..8).map(|i| f64::from(start + 3 * i)).collect::<Vec<_>>();
        let found = kruskal_wallis(&[group(0), group(1), group(2)]).unwrap();
        assert_eq!(found.method, TailMethod::ChiSquared);
        assert!((ways(&[5, 5, 5]) - 756_756.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn two_tiny_groups_agree_with_the_exact_test_of_two_samples(
            values in prop::collection::btree_set(0..1000i32, 9), cut in 1usize..8, turn in 0usize..9,
        ) {
            let mut values: Vec<f64> = values.into_iter().map(f64::from).collect();
            values.rotate_left(turn);
            values.swap(0, 4);
            let (a, b) = values.split_at(cut);
            let found = kruskal_wallis(&[a.to_vec(), b.to_vec()]).unwrap();
            let known = crate::mann_whitney(a, b).unwrap();
            prop_assert!((found.p - known.p).abs() < 1e-12, "{} {}", found.p, known.p);
        }

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
