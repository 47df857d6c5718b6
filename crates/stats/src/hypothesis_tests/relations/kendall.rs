//! Kendall's correlation: how many more pairs agree in order than disagree.

use crate::distributions::Normal;
use crate::error::StatsError;
use crate::hypothesis_tests::relations::all_orders::{
    MOST_TIED, agreements_as_far, disagreements_without_ties,
};
use crate::ranks::{MOST_EXACT, Ranks, TailMethod};
use crate::sample;

/// Kendall's tau-b with its test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kendall {
    /// Agreeing less disagreeing pairs, over the geometric mean of the pairs untied in each.
    pub tau: f64,
    /// Agreeing less disagreeing pairs.
    pub s: f64,
    /// `s` over its standard deviation.
    pub z: f64,
    /// Two-sided p-value.
    pub p: f64,
    /// How the p-value was found.
    pub method: TailMethod,
}

/// Kendall's tau-b of paired values, with the variance for ties of Kendall, Rank Correlation
/// Methods, sections 3.4 and 4.5. Pairs are counted by Knight's method (Journal of the American
/// Statistical Association 61, 1966).
///
/// The p-value is exact up to 50 pairs without ties and up to 10 with them; beyond, it is that of
/// the normal approximation. Three pairs in perfect order have a p-value of 1/3: no evidence can
/// come from fewer than five.
///
/// # Errors
/// Fewer than two pairs, lengths that differ, or a constant sample.
pub fn kendall(x: &[f64], y: &[f64]) -> Result<Kendall, StatsError> {
    let what = "a rank correlation";
    for values in [x, y] {
        sample::check(values, what, 2)?;
        if values.len() != x.len() {
            let (expected, found) = (x.len(), values.len());
            return Err(StatsError::LengthMismatch { what, expected, found });
        }
        if values.iter().all(|v| *v == values[0]) {
            return Err(StatsError::Constant { what, count: values.len(), value: values[0] });
        }
    }
    let (x, y) = (Ranks::of(x, 0.0), Ranks::of(y, 0.0));
    let n = x.ranks.len() as f64;
    let all = pairs(x.ranks.len());
    let (tied_x, tied_y) = (tied_pairs(&x), tied_pairs(&y));
    let (tied_both, swaps) = disagreements(&x.ranks, &y.ranks);
    let s = all - tied_x - tied_y + tied_both - 2.0 * swaps;
    let tau = (s / ((all - tied_x).sqrt() * (all - tied_y).sqrt())).clamp(-1.0, 1.0);
    let sum =
        |ranks: &Ranks, f: fn(f64) -> f64| ranks.ties.iter().map(|&t| f(t as f64)).sum::<f64>();
    let once = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let mut variance = (once(n) - sum(&x, once) - sum(&y, once)) / 18.0;
    variance += 2.0 * tied_x * tied_y / (n * (n - 1.0));
    if n > 2.0 {
        let triples = |t: f64| t * (t - 1.0) * (t - 2.0);
        variance += sum(&x, triples) * sum(&y, triples) / (9.0 * triples(n));
    }
    let z = s / variance.sqrt();
    let (p, method) = match exact(&x, &y, s) {
        Some(p) => (p, TailMethod::Exact),
        None => (2.0 * Normal.upper_tail(z.abs()), TailMethod::Normal),
    };
    Ok(Kendall { tau, s, z, p, method })
}

/// Share of all orders with an `s` as far from 0; `None` where they are too many to count.
fn exact(x: &Ranks, y: &Ranks, s: f64) -> Option<f64> {
    let n = x.ranks.len();
    if x.ties.is_empty() && y.ties.is_empty() {
        // With d disagreeing pairs, s is all pairs less 2 d.
        let fewest = 0.5 * (pairs(n) - s.abs());
        let chances = (n <= MOST_EXACT).then(|| disagreements_without_ties(n))?;
        return Some((2.0 * chances[..=fewest as usize].iter().sum::<f64>()).min(1.0));
    }
    let mut sorted = x.doubled();
    sorted.sort_unstable();
    let groups: Vec<usize> = sorted.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
    (n <= MOST_TIED).then(|| agreements_as_far(&groups, &y.doubled(), s))
}

fn pairs(count: usize) -> f64 {
    let n = count as f64;
    0.5 * n * (n - 1.0)
}

fn tied_pairs(ranks: &Ranks) -> f64 {
    ranks.ties.iter().map(|&t| pairs(t)).sum()
}

/// Pairs tied in both rankings, and pairs in opposite order.
fn disagreements(x: &[f64], y: &[f64]) -> (f64, f64) {
    let mut both: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    both.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let tied = both.chunk_by(|a, b| a == b).map(|run| pairs(run.len())).sum();
    // Sorted by x, every pair that y still has to exchange is one in opposite order.
    let mut order: Vec<f64> = both.into_iter().map(|(_, y)| y).collect();
    (tied, sort_counting_swaps(&mut order))
}

/// Merge sort that counts the pairs it puts right.
fn sort_counting_swaps(values: &mut [f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let (left, right) = values.split_at_mut(values.len() / 2);
    let mut swaps = sort_counting_swaps(left) + sort_counting_swaps(right);
    let (mut merged, mut l, mut r) = (Vec::with_capacity(left.len() + right.len()), 0, 0);
    while l < left.len() && r < right.len() {
        if right[r] < left[l] {
            swaps += (left.len() - l) as f64;
            merged.push(right[r]);
            r += 1;
        } else {
            merged.push(left[l]);
            l += 1;
        }
    }
    merged.extend_from_slice(&left[l..]);
    merged.extend_from_slice(&right[r..]);
    values.copy_from_slice(&merged);
    swaps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn samples_that_cannot_correlate_are_errors() {
        assert!(kendall(&[1.0], &[1.0]).is_err());
        assert!(kendall(&[1.0, 2.0], &[1.0]).is_err());
        assert!(kendall(&[1.0, 2.0], &[3.0, 3.0]).is_err());
    }

    /// R 4.2.2: `cor.test(x, y, method = "kendall", exact = TRUE)$p.value`.
    #[test]
    fn small_samples_have_exact_p_values() {
        let found = kendall(&[1.0, 2.0, 3.0], &[2.0, 5.0, 7.0]).unwrap();
        assert!((found.p - 1.0 / 3.0).abs() < 1e-12 && found.method == TailMethod::Exact);
        let x: Vec<f64> = (1..=10).map(f64::from).collect();
        let y = [3.0, 1.0, 2.0, 6.0, 4.0, 5.0, 9.0, 10.0, 7.0, 8.0];
        let found = kendall(&x, &y).unwrap();
        assert!((found.p - 0.009_148_478_835_978_8).abs() < 1e-9, "{}", found.p);
    }

    proptest! {
        #[test]
        fn counting_agrees_with_all_pairs(
            values in prop::collection::vec((0..7i32, 0..7i32), 2..40),
        ) {
            let x: Vec<f64> = values.iter().map(|v| f64::from(v.0)).collect();
            let y: Vec<f64> = values.iter().map(|v| f64::from(v.1)).collect();
            let Ok(found) = kendall(&x, &y) else { return Ok(()) };
            let mut s = 0;
            for (i, a) in values.iter().enumerate() {
                s += values[..i].iter().map(|b| (a.0 - b.0).signum() * (a.1 - b.1).signum()).sum::<i32>();
            }
            prop_assert_eq!(found.s, f64::from(s));
            prop_assert!(found.tau.abs() <= 1.0 && (0.0..=1.0).contains(&found.p));
        }

        #[test]
        fn the_variance_is_that_of_all_orders(y in prop::collection::vec(0..3i32, 5)) {
            prop_assume!(y.iter().any(|v| *v != y[0]));
            // Mean of s^2 over the orders of y; x has a tie too.
            let x = [1.0, 1.0, 2.0, 3.0, 4.0];
            let (mut squares, mut count, mut variance) = (0.0, 0.0, 0.0);
            for code in 0..3125usize {
                let order: Vec<usize> = (0..5).map(|place| code / 5usize.pow(place) % 5).collect();
                if (0..5).any(|place| !order.contains(&place)) {
                    continue;
                }
                let shuffled: Vec<f64> = order.iter().map(|&i| f64::from(y[i])).collect();
                let found = kendall(&x, &shuffled).unwrap();
                squares += found.s * found.s;
                count += 1.0;
                if found.s != 0.0 {
                    variance = (found.s / found.z).powi(2);
                }
            }
            prop_assert!((squares / count - variance).abs() < 1e-9);
        }
    }
}
