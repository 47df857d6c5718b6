//! Spearman's correlation of ranks.

use statrs::function::gamma::ln_gamma;

use crate::error::StatsError;
use crate::hypothesis_tests::relations::all_orders::{MOST_COUNTED, MOST_TIED, products_as_far};
use crate::hypothesis_tests::relations::pearson::pearson;
use crate::ranks::{Ranks, TailMethod};
use crate::sample;

/// Spearman's rank correlation with its test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spearman {
    /// Correlation of the ranks, from -1 to 1.
    pub rho: f64,
    /// Its t statistic; `None` for a perfect correlation.
    pub t: Option<f64>,
    /// Two-sided p-value.
    pub p: f64,
    /// How the p-value was found.
    pub method: TailMethod,
}

/// Spearman's correlation of paired values (American Journal of Psychology 15, 1904): Pearson's
/// of the ranks, equal values sharing their mean rank.
///
/// Up to 12 pairs (10 with ties), and for a perfect order of any length, the p-value is the share of all orders
/// with a correlation as far from 0. Beyond, it is that of t with two degrees of freedom less than
/// pairs (Kendall, Rank Correlation Methods, section 5.14). Three pairs in perfect order have a
/// p-value of 1/3: no evidence can come from fewer than five.
///
/// # Errors
/// Fewer than two pairs, lengths that differ, or a constant sample.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<Spearman, StatsError> {
    let what = "a rank correlation";
    sample::check(x, what, 2)?;
    sample::check(y, what, 2)?;
    let (x, y) = (Ranks::of(x, 0.0), Ranks::of(y, 0.0));
    let found = pearson(&x.ranks, &y.ranks)?;
    let ends = x.ranks.len() as f64 + 1.0;
    let reversed = x.ranks.iter().zip(&y.ranks).all(|(a, b)| a + b == ends);
    let method = TailMethod::Exact;
    if reversed || x.ranks == y.ranks {
        let rho = if reversed { -1.0 } else { 1.0 };
        return Ok(Spearman { rho, t: None, p: perfect(&x), method });
    }
    let tied = !x.ties.is_empty() || !y.ties.is_empty();
    if x.ranks.len() <= if tied { MOST_TIED } else { MOST_COUNTED } {
        let p = products_as_far(&x.doubled(), &y.doubled());
        return Ok(Spearman { rho: found.r, t: found.t, p, method });
    }
    match (found.t, found.p) {
        (Some(t), Some(p)) => {
            Ok(Spearman { rho: found.r, t: Some(t), p, method: TailMethod::Student })
        }
        _ => {
            let reason = "the ranks cannot be told from a perfect order";
            Err(StatsError::Undefined { what, reason })
        }
    }
}

/// Chance that random orders agree perfectly or are each other's reverse: two out of the n!
/// orders, each counted once for every exchange of equal values.
fn perfect(ranks: &Ranks) -> f64 {
    let log_factorial = |n: usize| ln_gamma(n as f64 + 1.0);
    let same: f64 = ranks.ties.iter().map(|&t| log_factorial(t)).sum();
    (2.0 * (same - log_factorial(ranks.ranks.len())).exp()).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_perfect_order_has_its_exact_chance() {
        let found = spearman(&[1.0, 2.0, 4.0, 8.0], &[8.0, 4.0, 2.0, 1.0]).unwrap();
        assert_eq!((found.rho, found.t), (-1.0, None));
        assert!((found.p - 2.0 / 24.0).abs() < 1e-12);
        let three = spearman(&[1.0, 2.0, 3.0], &[2.0, 5.0, 7.0]).unwrap();
        assert!((three.p - 1.0 / 3.0).abs() < 1e-12 && three.method == TailMethod::Exact);
        let long: Vec<f64> = (0..40).map(f64::from).collect();
        assert!((0.0..1e-40).contains(&spearman(&long, &long).unwrap().p));
        // With one tie 12 different orders remain.
        let tied = spearman(&[1.0, 2.0, 2.0, 8.0], &[0.0, 5.0, 5.0, 9.0]).unwrap();
        assert_eq!(tied.rho, 1.0);
        assert!((tied.p - 2.0 / 12.0).abs() < 1e-12);
    }

    #[test]
    fn samples_that_cannot_correlate_are_errors() {
        assert!(spearman(&[1.0], &[1.0]).is_err());
        assert!(spearman(&[1.0, 2.0], &[1.0]).is_err());
        assert!(spearman(&[1.0, 2.0], &[3.0, 3.0]).is_err());
    }

    /// R 4.2.2: `cor.test(x, y, method = "spearman", exact = TRUE)$p.value`.
    #[test]
    fn small_samples_have_exact_p_values() {
        let x: Vec<f64> = (1..=9).map(f64::from).collect();
        let y = [3.0, 1.0, 2.0, 6.0, 4.0, 5.0, 9.0, 7.0, 8.0];
        let found = spearman(&x, &y).unwrap();
        assert!((found.p - 0.006_073_633_156_966_49).abs() < 1e-9, "{}", found.p);
    }

    proptest! {
        #[test]
        fn without_ties_rho_is_the_sum_of_squared_differences(
            order in Just((0..12).collect::<Vec<i32>>()).prop_shuffle(),
        ) {
            let x: Vec<f64> = (0..12).map(f64::from).collect();
            // Any rising transformation leaves ranks as they are.
            let y: Vec<f64> = order.iter().map(|&v| f64::from(v).exp()).collect();
            let squares: f64 = order.iter().zip(&x).map(|(&a, b)| (f64::from(a) - b).powi(2)).sum();
            let found = spearman(&x, &y).unwrap();
            prop_assert!((found.rho - (1.0 - 6.0 * squares / (12.0 * 143.0))).abs() < 1e-12);
            prop_assert!((0.0..=1.0).contains(&found.p));
        }
    }
}
