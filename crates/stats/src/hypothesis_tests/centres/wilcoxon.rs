//! Do paired values differ? By the ranks of their differences.

use crate::distributions::Normal;
use crate::error::StatsError;
use crate::ranks::{MOST_EXACT, MOST_PAIRS, Ranks, TailMethod};
use crate::sample;

/// Wilcoxon's signed rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// Sum of the ranks of positive differences (first less second).
    pub v: f64,
    /// Pairs without a difference, which Wilcoxon leaves out.
    pub zeros: usize,
    /// Two-sided p-value.
    pub p: f64,
    /// How the p-value was found.
    pub method: TailMethod,
    /// Hodges and Lehmann's estimate of the difference, the median of all means of two; `None`
    /// beyond a million of them.
    pub shift: Option<f64>,
}

/// Compares paired values (Wilcoxon, Biometrics Bulletin 1, 1945).
///
/// Up to 50 differences the p-value is exact, given the ties and without the zeros; otherwise it
/// is that of a normal approximation with the variance for ties and a continuity correction
/// (Lehmann, Nonparametrics, section 3.2). Differences that are equal up to the rounding of their
/// subtraction count as equal. No evidence at 5 % can come from fewer than six.
///
/// # Errors
/// No pairs, lengths that differ, or no pair with a difference.
pub fn wilcoxon(first: &[f64], second: &[f64]) -> Result<Wilcoxon, StatsError> {
    let what = "a paired comparison";
    sample::check(first, what, 1)?;
    sample::check(second, what, 1)?;
    if first.len() != second.len() {
        let (expected, found) = (first.len(), second.len());
        return Err(StatsError::LengthMismatch { what, expected, found });
    }
    let largest = first.iter().chain(second).fold(0.0f64, |m, v| m.max(v.abs()));
    let rounding = 4.0 * f64::EPSILON * largest;
    let all: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let kept: Vec<f64> = all.iter().copied().filter(|d| d.abs() > rounding).collect();
    if kept.is_empty() {
        let reason = "no pair has a difference";
        return Err(StatsError::Undefined { what: "Wilcoxon's statistic", reason });
    }
    let sizes: Vec<f64> = kept.iter().map(|d| d.abs()).collect();
    let ranked = Ranks::of(&sizes, rounding);
    let v: f64 = kept.iter().zip(&ranked.ranks).filter(|(d, _)| **d > 0.0).map(|(_, r)| r).sum();
    let (n, zeros) = (kept.len() as f64, all.len() - kept.len());
    let most = 0.5 * n * (n + 1.0);
    let (p, method) = if kept.len() <= MOST_EXACT {
        (exact(v.min(most - v), &ranked.doubled()), TailMethod::Exact)
    } else {
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ranked.tie_cubes() / 48.0;
        let far = ((v - 0.5 * most).abs() - 0.5).max(0.0);
        (2.0 * Normal.upper_tail(far / variance.sqrt()), TailMethod::Normal)
    };
    Ok(Wilcoxon { v, zeros, p, method, shift: shift(&all) })
}

/// Twice the chance of a rank sum up to the smaller one, given the doubled ranks.
fn exact(v: f64, doubled: &[usize]) -> f64 {
    let tail: f64 = ways(doubled)[..=(2.0 * v) as usize].iter().sum();
    (2.0 * tail / 2f64.powi(doubled.len() as i32)).min(1.0)
}

/// Number of sets of the ranks with each sum; all are whole numbers below 2^53.
fn ways(ranks: &[usize]) -> Vec<f64> {
    let mut ways = vec![0.0; ranks.iter().sum::<usize>() + 1];
    ways[0] = 1.0;
    for rank in ranks {
        for sum in (*rank..ways.len()).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways
}

fn shift(differences: &[f64]) -> Option<f64> {
    let n = differences.len();
    if n.saturating_mul(n + 1) / 2 > MOST_PAIRS {
        return None;
    }
    let mut means = Vec::with_capacity(n * (n + 1) / 2);
    for (index, a) in differences.iter().enumerate() {
        means.extend(differences[index..].iter().map(|b| 0.5 * (a + b)));
    }
    Some(sample::median_of(&means))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_that_cannot_be_compared_are_errors() {
        assert!(wilcoxon(&[], &[]).is_err());
        assert!(wilcoxon(&[1.0, 2.0], &[1.0]).is_err());
        assert!(wilcoxon(&[1.0, 2.0], &[1.0, 2.0]).is_err());
        // Equal but for rounding.
        assert!(wilcoxon(&[0.1 + 0.2], &[0.3]).is_err());
    }

    #[test]
    fn differences_of_one_sign_have_their_exact_chance() {
        let found = wilcoxon(&[2.0, 4.0, 7.0, 11.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((found.v, found.zeros, found.method), (10.0, 0, TailMethod::Exact));
        assert_eq!(found.p, 2.0 / 16.0);
        // Means of two of 1, 2, 4, 7: the middle two of ten are 3 and 4.
        assert_eq!(found.shift, Some(3.5));
    }

    #[test]
    fn zeros_are_counted_and_ties_keep_the_p_value_exact() {
        let found = wilcoxon(&[1.0, 2.0, 3.0, 5.0, 9.0], &[1.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((found.v, found.zeros, found.method), (10.0, 1, TailMethod::Exact));
        assert_eq!(found.p, 2.0 / 16.0);
    }

    #[test]
    fn five_equal_differences_are_no_evidence() {
        // The normal approximation would say 0.037; one sign pattern of 32 on either side is 0.0625.
        let found = wilcoxon(&[2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(found.p, 2.0 / 32.0);
    }

    proptest! {
        #[test]
        fn counts_of_v_agree_with_all_sign_patterns(n in 1usize..11) {
            let mut seen = vec![0.0; n * (n + 1) / 2 + 1];
            for mask in 0u32..1 << n {
                let sum: usize = (0..n).filter(|i| mask >> i & 1 == 1).map(|i| i + 1).sum();
                seen[sum] += 1.0;
            }
            prop_assert_eq!(ways(&(1..=n).collect::<Vec<_>>()), seen);
        }

        #[test]
        fn the_normal_approximation_meets_the_exact_tail(v in 60.0..400.0f64) {
            let n = 40.0f64;
            let far = ((v.floor() - 0.25 * n * (n + 1.0)).abs() - 0.5).max(0.0);
            let near = 2.0 * Normal.upper_tail(far / (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt());
            // The approximation leaves out the kurtosis of V, which is worth this much at 40.
            prop_assert!((exact(v.floor(), &(1..=40).map(|rank| 2 * rank).collect::<Vec<_>>()) - near).abs() < 0.006);
        }

        #[test]
        fn exchanging_the_samples_mirrors_the_result(
            pairs in prop::collection::vec((0..20i32, 0..20i32), 1..12),
        ) {
            let a: Vec<f64> = pairs.iter().map(|p| f64::from(p.0)).collect();
            let b: Vec<f64> = pairs.iter().map(|p| f64::from(p.1)).collect();
            let Ok(found) = wilcoxon(&a, &b) else { return Ok(()) };
            let other = wilcoxon(&b, &a).unwrap();
            let n = (pairs.len() - found.zeros) as f64;
            prop_assert_eq!(found.v + other.v, 0.5 * n * (n + 1.0));
            prop_assert!((found.p - other.p).abs() < 1e-12 && (0.0..=1.0).contains(&found.p));
        }
    }
}
