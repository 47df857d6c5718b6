//! Does one of two independent samples tend to larger values? By ranks.

use crate::distributions::Normal;
use crate::error::StatsError;
use crate::ranks::{MOST_EXACT, MOST_PAIRS, Ranks, TailMethod};
use crate::sample;

/// The Mann-Whitney test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which the first sample's value is larger, equal ones counted half.
    pub u: f64,
    /// `u` as a share of all pairs: the chance that a value of the first is larger.
    pub probability: f64,
    /// Two-sided p-value.
    pub p: f64,
    /// How the p-value was found.
    pub method: TailMethod,
    /// Hodges and Lehmann's estimate of the shift, the median of all differences (first less
    /// second); `None` beyond a million pairs.
    pub shift: Option<f64>,
}

/// Compares two independent samples (Mann and Whitney, Annals of Mathematical Statistics 18, 1947).
///
/// Up to 50 values the p-value is exact, given the ties; otherwise it is that of a normal
/// approximation with the variance for ties and a continuity correction (Lehmann,
/// Nonparametrics, section 1.4). No evidence at 5 % can come from fewer than four values a sample,
/// or three beside five.
///
/// # Errors
/// An empty sample, or values that are all equal.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Result<MannWhitney, StatsError> {
    let what = "a comparison of two samples";
    sample::check(first, what, 1)?;
    sample::check(second, what, 1)?;
    let all = [first, second].concat();
    if all.iter().all(|v| *v == all[0]) {
        return Err(StatsError::Constant { what, count: all.len(), value: all[0] });
    }
    let ranked = Ranks::of(&all, 0.0);
    let (a, b) = (first.len() as f64, second.len() as f64);
    let u = ranked.ranks[..first.len()].iter().sum::<f64>() - 0.5 * a * (a + 1.0);
    let (p, method) = if ranked.ties.is_empty() && all.len() <= MOST_EXACT {
        (exact(u.min(a * b - u), first.len(), second.len()), TailMethod::Exact)
    } else if all.len() <= MOST_EXACT {
        let p = exact_with_ties(&ranked.doubled(), first.len(), u - 0.5 * a * b);
        (p, TailMethod::Exact)
    } else {
        let n = a + b;
        let variance = a * b / 12.0 * (n + 1.0 - ranked.tie_cubes() / (n * (n - 1.0)));
        let far = ((u - 0.5 * a * b).abs() - 0.5).max(0.0);
        (2.0 * Normal.upper_tail(far / variance.sqrt()), TailMethod::Normal)
    };
    Ok(MannWhitney { u, probability: u / (a * b), p, method, shift: shift(first, second) })
}

/// Twice the chance of a U up to the smaller one.
fn exact(u: f64, a: usize, b: usize) -> f64 {
    let ways = ways(a, b);
    let all: f64 = ways.iter().sum();
    let tail: f64 = ways[..=u as usize].iter().sum();
    (2.0 * tail / all).min(1.0)
}

/// Number of orders of `a` and `b` values for each U: the coefficients of the Gaussian binomial,
/// the product of (1 - x^(b + i)) / (1 - x^i) for i up to `a`. All are whole numbers below 2^53.
fn ways(a: usize, b: usize) -> Vec<f64> {
    let mut ways = vec![0.0; a * b + 1];
    ways[0] = 1.0;
    for i in 1..=a {
        for u in (b + i..ways.len()).rev() {
            ways[u] -= ways[u - b - i];
        }
        for u in i..ways.len() {
            ways[u] += ways[u - i];
        }
    }
    ways
}

/// Share of the choices of `size` of the doubled ranks whose U lies as far from its mean.
fn exact_with_ties(doubled: &[usize], size: usize, seen: f64) -> f64 {
    let most: usize = doubled.iter().sum();
    let mut ways = vec![vec![0.0; most + 1]; size + 1];
    ways[0][0] = 1.0;
    for &rank in doubled {
        for chosen in (1..=size).rev() {
            let (fewer, own) = ways.split_at_mut(chosen);
            let into = &mut own[0][rank..];
            into.iter_mut().zip(&fewer[chosen - 1]).for_each(|(to, from)| *to += from);
        }
    }
    let centre = size as f64 * most as f64 / doubled.len() as f64;
    // Doubled sums lie twice as far apart.
    let far = |(sum, _): &(usize, &f64)| (*sum as f64 - centre).abs() >= 2.0 * seen.abs() - 1e-6;
    let beyond: f64 = ways[size].iter().enumerate().filter(far).map(|(_, own)| own).sum();
    beyond / ways[size].iter().sum::<f64>()
}

fn shift(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.len().saturating_mul(second.len()) > MOST_PAIRS {
        return None;
    }
    let differences: Vec<f64> =
        first.iter().flat_map(|a| second.iter().map(move |b| a - b)).collect();
    Some(sample::median_of(&differences))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn samples_that_cannot_be_compared_are_errors() {
        assert!(mann_whitney(&[], &[1.0]).is_err());
        assert!(mann_whitney(&[1.0, 1.0], &[1.0]).is_err());
        assert!(mann_whitney(&[1.0, f64::NAN], &[1.0]).is_err());
    }

    #[test]
    fn samples_that_do_not_overlap_have_their_exact_chance() {
        let found = mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0, 7.0]).unwrap();
        assert_eq!((found.u, found.method, found.shift), (0.0, TailMethod::Exact, Some(-3.5)));
        assert!((found.p - 2.0 / 35.0).abs() < 1e-14);
    }

    #[test]
    fn the_largest_exact_distribution_is_counted_without_rounding() {
        let all: f64 = ways(25, 25).iter().sum();
        assert_eq!(all, 126_410_606_437_752.0);
    }

    #[test]
    fn the_normal_approximation_meets_the_exact_tail() {
        let exact = |u: f64| super::exact(u, 20, 25);
        let a: Vec<f64> = (0..20).map(|i| f64::from(i) * 2.3).collect();
        let b: Vec<f64> = (0..25).map(|i| f64::from(i) * 2.3 + 7.1).collect();
        let found = mann_whitney(&a, &b).unwrap();
        let mut tied = b.clone();
        tied[24] = tied[23];
        let near = mann_whitney(&a, &tied).unwrap();
        assert_eq!((near.method, near.u), (TailMethod::Exact, found.u));
        // One harmless tie hardly changes the exact chance.
        assert!((near.p - exact(found.u)).abs() < 1e-3, "{} {}", near.p, found.p);
        let (n, far) = (45.0, (found.u - 250.0).abs() - 0.5);
        let normal = 2.0 * Normal.upper_tail(far / f64::sqrt(500.0 / 12.0 * (n + 1.0)));
        assert!((normal - found.p).abs() < 0.003, "{normal} {}", found.p);
    }

    #[test]
    fn ties_are_counted_over_all_choices() {
        let (a, b) = ([1.0, 2.0, 2.0, 5.0], [2.0, 3.0, 5.0, 5.0, 7.0]);
        let found = mann_whitney(&a, &b).unwrap();
        let all = [&a[..], &b].concat();
        let ranks = Ranks::of(&all, 0.0).ranks;
        let (mut far, mut count) = (0.0, 0.0);
        for mask in (0u32..1 << 9).filter(|mask| mask.count_ones() == 4) {
            let sum: f64 = (0..9).filter(|i| mask >> i & 1 == 1).map(|i| ranks[i]).sum();
            count += 1.0;
            far +=
                f64::from(u8::from((sum - 20.0).abs() >= (found.u + 10.0 - 20.0f64).abs() - 1e-9));
        }
        assert!((found.p - far / count).abs() < 1e-12, "{}", found.p);
    }

    proptest! {
        #[test]
        fn counts_of_u_agree_with_all_subsets(a in 1usize..6, b in 1usize..6) {
            let mut seen = vec![0.0; a * b + 1];
            for mask in 0u32..1 << (a + b) {
                if mask.count_ones() as usize == a {
                    let ranks: usize = (0..a + b).filter(|i| mask >> i & 1 == 1).map(|i| i + 1).sum();
                    seen[ranks - a * (a + 1) / 2] += 1.0;
                }
            }
            prop_assert_eq!(ways(a, b), seen);
        }

        #[test]
        fn exchanging_the_samples_mirrors_the_result(
            a in prop::collection::vec(0..20i32, 1..9), b in prop::collection::vec(0..20i32, 1..9),
        ) {
            let floats = |v: &[i32]| v.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
            let (a, b) = (floats(&a), floats(&b));
            let Ok(found) = mann_whitney(&a, &b) else { return Ok(()) };
            let other = mann_whitney(&b, &a).unwrap();
            let wins = a.iter().flat_map(|x| b.iter().map(move |y| {
                if x > y { 1.0 } else if x == y { 0.5 } else { 0.0 }
            }));
            prop_assert_eq!(found.u, wins.sum::<f64>());
            prop_assert!((found.p - other.p).abs() < 1e-12 && (0.0..=1.0).contains(&found.p));
            prop_assert!((found.probability + other.probability - 1.0).abs() < 1e-12);
        }
    }
}
