//! Tail and quantile of the largest of several t values that share their standard deviation, and
//! perhaps a control: the constant of Dunnett's and Hsu's comparisons.

use std::f64::consts::TAU;

use crate::distributions::studentised_range::mean_over_deviation;
use crate::distributions::{Normal, check_df, check_probability};
use crate::error::StatsError;
use crate::root::root;

/// Step of the sum over the control's value, in units of the narrowest rise of its integrand, which
/// is analytic and vanishes at both ends.
const STEP: f64 = 0.25;
/// Values of the control beyond this have no weight that counts.
const REACH: f64 = 8.0;

/// The largest of `t_j = (l_j z + sqrt(1 - l_j^2) e_j) / s` over all `j`, with `z` and `e_j`
/// standard normal and `df s^2` chi-squared.
///
/// With no control all `l_j` are 0, and it is the studentised maximum. Where the mean of each group
/// of `n_j` values is compared with that of one group of `n`, `l_j = sqrt(n_j / (n + n_j))` (Hsu,
/// "Multiple Comparisons: Theory and Methods", 1996, sections 3.1 and 4.1).
///
/// ```
/// use trainwright_stats::LargestT;
///
/// // Dunnett's table: two groups of three against a control of three.
/// let largest = LargestT::against_control(3, &[3, 3], 6.0)?;
/// assert!((largest.quantile(0.95)? - 2.34).abs() < 0.005);
/// # Ok::<(), trainwright_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LargestT {
    /// Each `l_j` that occurs, and how often.
    shares: Vec<(f64, f64)>,
    df: f64,
}

impl LargestT {
    /// The largest of this many values that share nothing but the standard deviation.
    ///
    /// # Errors
    /// No value, or degrees of freedom that are not positive and finite.
    pub fn independent(count: usize, df: f64) -> Result<Self, StatsError> {
        Self::new(vec![(0.0, count as f64)], df)
    }

    /// The largest standardised difference of the means of groups of these sizes from the mean of
    /// a control group.
    ///
    /// # Errors
    /// No group, or degrees of freedom that are not positive and finite.
    pub fn against_control(control: usize, groups: &[usize], df: f64) -> Result<Self, StatsError> {
        let mut sizes = groups.to_vec();
        sizes.sort_unstable();
        let share = |size: usize| (size as f64 / (control + size) as f64).sqrt();
        let runs = sizes.chunk_by(|a, b| a == b);
        Self::new(runs.map(|run| (share(run[0]), run.len() as f64)).collect(), df)
    }

    fn new(shares: Vec<(f64, f64)>, df: f64) -> Result<Self, StatsError> {
        if shares.iter().all(|own| own.1 == 0.0) {
            let what = "the largest of several t values";
            return Err(StatsError::TooFew { what, needed: 1, found: 0 });
        }
        Ok(Self { shares, df: check_df(df)? })
    }

    /// Chance of a value above `t`.
    pub fn upper_tail(&self, t: f64) -> f64 {
        // The tail falls as exp(-(t s)^2 / 2), which moves the largest term down to here.
        let start = -0.5 * (t * t / self.df).ln_1p();
        mean_over_deviation(self.df, start, |s| self.normal_tail(t * s)).min(1.0)
    }

    /// Value below which the share `p` lies.
    ///
    /// # Errors
    /// `p` outside the open interval from 0 to 1.
    pub fn quantile(&self, p: f64) -> Result<f64, StatsError> {
        let target = 1.0 - check_probability(p)?;
        let gap = |t: f64| self.upper_tail(t) - target;
        let mut reach = 4.0;
        while gap(reach) > 0.0 && reach < 1e300 {
            reach *= 4.0;
        }
        Ok(root(gap, -reach, reach))
    }

    /// The same with the standard deviation known.
    fn normal_tail(&self, t: f64) -> f64 {
        let exceeds = |z: f64| {
            let log_below: f64 = self
                .shares
                .iter()
                .map(|&(share, count)| {
                    let at = (share * z + t) / (1.0 - share * share).sqrt();
                    count * (-Normal.upper_tail(at)).ln_1p()
                })
                .sum();
            -log_below.exp_m1()
        };
        if self.shares.iter().all(|own| own.0 == 0.0) {
            return exceeds(0.0);
        }
        let rise = |own: &(f64, f64)| (1.0 - own.0 * own.0).sqrt() / own.0;
        let step = STEP * self.shares.iter().map(rise).fold(1.0, f64::min);
        let steps = (2.0 * REACH / step).ceil() as u32;
        let term = |count: u32| {
            let z = -REACH + step * f64::from(count);
            (-0.5 * z * z).exp() * exceeds(z)
        };
        (0..=steps).map(term).sum::<f64>() * step / TAU.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::distributions::StudentT;

    #[track_caller]
    fn check(largest: Result<LargestT, StatsError>, expected: f64) {
        let found = largest.unwrap().quantile(0.95).unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    /// scipy: Gauss-Legendre sums of 200 x 200 points over `z` from -9 to 9 and `s` from 0 to 5 of
    /// `prod(norm.cdf((l z + q s) / sqrt(1 - l^2))) norm.pdf(z) chi.pdf(s sqrt(df), df) sqrt(df)`,
    /// solved for 0.95 by `brentq`. R's `mvtnorm::qmvt` agrees to 2e-4, the tolerance of its root.
    #[test]
    fn the_constant_of_dunnett_is_that_of_a_fine_sum() {
        check(LargestT::against_control(3, &[3, 3], 6.0), 2.336_804_592_164_6);
        check(LargestT::against_control(4, &[4; 5], 18.0), 2.407_099_328_990_3);
        check(LargestT::against_control(4, &[2, 5, 9], 16.0), 2.221_055_954_063_6);
    }

    /// scipy: `quad` of `norm.cdf(q s)^4` over the same density.
    #[test]
    fn the_studentised_maximum_is_that_of_a_fine_sum() {
        check(LargestT::independent(4, 12.0), 2.531_041_296_128_9);
    }

    #[test]
    fn impossible_arguments_are_errors() {
        assert!(LargestT::independent(0, 5.0).is_err());
        assert!(LargestT::against_control(3, &[], 5.0).is_err());
        assert!(LargestT::independent(3, 0.0).is_err());
        assert!(LargestT::independent(3, 4.0).unwrap().quantile(0.0).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn one_group_is_student_s_t(t in -6.0..30.0f64, df in 1.0..500.0f64, n in 1usize..30) {
            let expected = StudentT::new(df).unwrap().upper_tail(t);
            let alone = LargestT::independent(1, df).unwrap().upper_tail(t);
            prop_assert!((alone - expected).abs() < 1e-9, "{alone} {expected}");
            let compared = LargestT::against_control(3, &[n], df).unwrap().upper_tail(t);
            prop_assert!((compared - expected).abs() < 1e-8, "{compared} {expected}");
        }

        #[test]
        fn quantile_inverts_the_tail(p in 0.05..0.999f64, k in 1usize..40, df in 1.0..200.0f64) {
            let largest = LargestT::against_control(3, &vec![2; k], df).unwrap();
            let back = largest.upper_tail(largest.quantile(p).unwrap());
            prop_assert!((back + p - 1.0).abs() < 1e-9);
        }
    }
}
