//! Tail and quantile of the studentised range: the widest difference among group means, in units
//! of an independent standard error.

use std::f64::consts::{PI, TAU};

use crate::distributions::incomplete_beta::stirling_remainder;
use crate::distributions::{Normal, check_df, check_probability, solve_tail};
use crate::error::StatsError;

/// Step of the sum over the largest of the normal values; its error is below 1e-9 for up to a
/// thousand groups.
const INNER_STEP: f64 = 0.1;
/// Terms smaller than this share of their sum are left out.
const NEGLIGIBLE: f64 = 1e-15;
/// Points through which many tails are interpolated.
const NODES: usize = 100;
/// Logarithms below this are of tails that floats hold with few digits, or not at all.
const LEAST_LOG: f64 = -600.0;

/// The studentised range of independent normal values of equal variance.
///
/// With `s` the standard deviation estimated on `df` degrees of freedom, the chance of a range
/// above `q s` is the mean over `s` of the chance that the range of `k` standard normal values
/// exceeds `q s` (Kendall and Stuart, The Advanced Theory of Statistics 1, section 14.19;
/// Miller, Simultaneous Statistical Inference, section 2.1). Both integrands are analytic
/// and vanish at both ends on the scales used here, where sums with equal steps converge
/// geometrically (Trefethen and Weideman, SIAM Review 56, 2014).
///
/// ```
/// use trainwright_stats::StudentisedRange;
///
/// let range = StudentisedRange::new(3, 10.0)?;
/// assert!((range.quantile(0.95)? - 3.876_777).abs() < 1e-6);
/// # Ok::<(), trainwright_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentisedRange {
    groups: f64,
    df: f64,
}

impl StudentisedRange {
    /// The range of `groups` values over a standard error with `df` degrees of freedom.
    ///
    /// # Errors
    /// Fewer than two groups or more than a thousand, or degrees of freedom that are not
    /// positive and finite.
    pub fn new(groups: usize, df: f64) -> Result<Self, StatsError> {
        let what = "a studentised range";
        if groups < 2 {
            return Err(StatsError::TooFew { what, needed: 2, found: groups });
        }
        if groups > 1000 {
            return Err(StatsError::TooMany { what, limit: 1000, found: groups });
        }
        Ok(Self { groups: groups as f64, df: check_df(df)? })
    }

    /// Chance of a value above `q`.
    pub fn upper_tail(self, q: f64) -> f64 {
        if q <= 0.0 {
            return 1.0;
        }
        if q.is_infinite() {
            return 0.0;
        }
        // The range's tail falls as exp(-(q s)^2 / 4), which moves the largest term down to here.
        let start = -0.5 * (0.5 * q * q / self.df).ln_1p();
        mean_over_deviation(self.df, start, |s| range_tail(q * s, self.groups)).min(1.0)
    }

    /// The same at many points, of which each costs a fraction of a single one.
    ///
    /// The logarithm of the tail is smooth, so that a polynomial through a hundred points of
    /// Chebyshev's gives it in between (Berrut and Trefethen, SIAM Review 46, 2004).
    pub fn upper_tails(self, points: &[f64]) -> Vec<f64> {
        // A tail falls about evenly with the logarithm of a distance that is large.
        let inside = points.iter().filter(|q| **q > 0.0 && q.is_finite()).map(|q| q.ln_1p());
        let (low, high) =
            inside.fold((f64::INFINITY, 0.0f64), |(low, high), own| (low.min(own), high.max(own)));
        let direct = || points.iter().map(|&q| self.upper_tail(q)).collect();
        if points.len() < 4 * NODES || low >= high {
            return direct();
        }
        let node = |place: usize| (PI * place as f64 / (NODES - 1) as f64).cos();
        let at = |x: f64| 0.5 * (low + high) + 0.5 * (high - low) * x;
        let logs: Vec<f64> =
            (0..NODES).map(|place| self.upper_tail(at(node(place)).exp_m1()).ln()).collect();
        if !logs.iter().all(|own| *own > LEAST_LOG) {
            return direct();
        }
        let interpolated = |&q: &f64| {
            if !(q > 0.0 && q.is_finite()) {
                return self.upper_tail(q);
            }
            let x = (2.0 * q.ln_1p() - low - high) / (high - low);
            let (mut above, mut below) = (0.0, 0.0);
            for (place, log) in logs.iter().enumerate() {
                let distance = x - node(place);
                if distance == 0.0 {
                    return log.exp();
                }
                let end = place == 0 || place + 1 == NODES;
                let sign = if place % 2 == 0 { 1.0 } else { -1.0 };
                let weight = sign * if end { 0.5 } else { 1.0 } / distance;
                (above, below) = (above + weight * log, below + weight);
            }
            (above / below).exp().min(1.0)
        };
        points.iter().map(interpolated).collect()
    }

    /// Value below which the share `p` lies.
    ///
    /// # Errors
    /// `p` outside the open interval from 0 to 1.
    pub fn quantile(self, p: f64) -> Result<f64, StatsError> {
        let log_target = (1.0 - check_probability(p)?).ln();
        Ok(solve_tail(log_target, 4.0, |q| self.upper_tail(q)))
    }
}

/// Mean of a decreasing function of `s`, where `df s^2` is chi-squared with `df` degrees of
/// freedom; the sum starts at `s = exp(start)`, near its largest term.
pub(super) fn mean_over_deviation(df: f64, start: f64, of: impl Fn(f64) -> f64) -> f64 {
    // With s = exp(u) the weight of s is nearly exp(-df u^2), and never narrower.
    let step = (0.5 / df.sqrt()).min(0.1);
    let term = |u: f64| log_weight(df, u).exp() * of(u.exp());
    let mut sum = 0.0;
    for count in 0u32.. {
        let u = start + step * f64::from(count);
        let value = term(u);
        sum += value;
        if u > 0.0 && value <= NEGLIGIBLE * sum {
            break;
        }
    }
    for count in 1u32.. {
        let value = term(start - step * f64::from(count));
        sum += value;
        if value <= NEGLIGIBLE * sum {
            break;
        }
    }
    sum * step
}

/// Logarithm of the density of `u = ln s`.
fn log_weight(df: f64, u: f64) -> f64 {
    let half = 0.5 * df;
    let constant = 2f64.ln() + 0.5 * (half / TAU).ln() - stirling_remainder(half);
    constant + df * (u - 0.5 * (2.0 * u).exp_m1())
}

/// Chance that the range of `groups` standard normal values exceeds `width`.
///
/// The largest value is `z`, and the others lie below it but not all within `width`.
fn range_tail(width: f64, groups: f64) -> f64 {
    let (low, high) = (0.5 * width - 8.0, (0.5 * width + 8.0).max(9.0));
    let steps = ((high - low) / INNER_STEP).ceil();
    let term = |count: u32| {
        let z = low + INNER_STEP * f64::from(count);
        let below = Normal.upper_tail(-z);
        if below <= 0.0 {
            return 0.0;
        }
        let too_low = (Normal.upper_tail(width - z) / below).min(1.0);
        let not_all_near = -((groups - 1.0) * (-too_low).ln_1p()).exp_m1();
        (-0.5 * z * z + (groups - 1.0) * below.ln()).exp() * not_all_near
    };
    let sum: f64 = (0..=steps as u32).map(term).sum();
    (groups * sum * INNER_STEP / TAU.sqrt()).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::distributions::StudentT;

    #[test]
    fn many_tails_are_those_of_single_points() {
        for (groups, df, most) in
            [(3, 2.0, 400.0), (30, 60.0, 25.0), (200, 198.0, 12.0), (200, 1e4, 9.0), (5, 8.0, 60.0)]
        {
            let range = StudentisedRange::new(groups, df).unwrap();
            let mut points: Vec<f64> =
                (0..450).map(|k| most * (f64::from(k) / 449.0).powi(2)).collect();
            points.push(-1.0);
            let found = range.upper_tails(&points);
            for (q, tail) in points.iter().zip(found).step_by(7) {
                let single = range.upper_tail(*q);
                assert!((tail / single - 1.0).abs() < 1e-6, "{groups} {df} {q}: {tail} {single}");
            }
        }
    }

    #[test]
    fn impossible_arguments_are_errors() {
        assert!(StudentisedRange::new(1, 5.0).is_err());
        assert!(StudentisedRange::new(1001, 5.0).is_err());
        assert!(StudentisedRange::new(3, 0.0).is_err());
        assert!(StudentisedRange::new(3, 5.0).unwrap().quantile(1.0).is_err());
        assert_eq!(StudentisedRange::new(3, 5.0).unwrap().upper_tail(-1.0), 1.0);
        assert_eq!(StudentisedRange::new(3, 5.0).unwrap().upper_tail(f64::INFINITY), 0.0);
    }

    #[test]
    fn three_normal_values_follow_the_closed_form() {
        // Mean range of three normal values: 3 / sqrt(pi), the integral of the tail.
        let mean: f64 = (1..1400).map(|i| 0.01 * range_tail(0.01 * f64::from(i), 3.0)).sum();
        // The trapezoid's first half step, where the tail is 1.
        let expected = 3.0 / std::f64::consts::PI.sqrt();
        assert!((mean + 0.005 - expected).abs() < 1e-5, "{mean}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn two_groups_are_student_s_t(q in 0.01..60.0f64, df in 0.7..2000.0f64) {
            // The range of two values is their difference: sqrt(2) times a t.
            let expected = StudentT::new(df).unwrap().two_sided(q / std::f64::consts::SQRT_2);
            let found = StudentisedRange::new(2, df).unwrap().upper_tail(q);
            prop_assume!(expected > 1e-250);
            prop_assert!((found / expected - 1.0).abs() < 1e-8, "{found} {expected}");
        }

        #[test]
        fn quantile_inverts_the_tail(p in 0.01..0.999f64, k in 2usize..60, df in 1.0..200.0f64) {
            let range = StudentisedRange::new(k, df).unwrap();
            let back = range.upper_tail(range.quantile(p).unwrap());
            prop_assert!((back + p - 1.0).abs() < 1e-10);
        }

        #[test]
        fn more_groups_have_wider_ranges(q in 0.1..20.0f64, k in 2usize..900, df in 1.0..500.0f64) {
            let tail = |k| StudentisedRange::new(k, df).unwrap().upper_tail(q);
            let (few, more) = (tail(k), tail(k + 1));
            prop_assert!((0.0..=1.0).contains(&few) && more >= few * (1.0 - 1e-8));
        }
    }
}
