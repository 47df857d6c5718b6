//! Tails and quantiles of the normal, t, F and chi-squared distributions.
//!
//! Upper tails are right in relative terms down to about 1e-280, because p-values are read on a
//! logarithmic scale. Quantiles invert the same tails, so the two agree.

pub(crate) mod incomplete_beta;
pub(crate) mod largest_t;
pub(crate) mod studentised_range;

use statrs::function::{erf, gamma};

use crate::distributions::incomplete_beta::{beta_of_power, incomplete_beta, stirling_remainder};
use crate::error::StatsError;
use crate::root::root;

/// The standard normal distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Normal;

impl Normal {
    /// Chance of a value above `x`.
    pub fn upper_tail(self, x: f64) -> f64 {
        0.5 * erf::erfc(x / std::f64::consts::SQRT_2)
    }

    /// Logarithm of the upper tail, also where the tail itself is too small for a number.
    ///
    /// Beyond 30 this is the asymptotic series of Abramowitz and Stegun 26.2.12, whose first
    /// neglected term is below 1e-9 there.
    pub(crate) fn log_upper_tail(self, x: f64) -> f64 {
        if x < 30.0 {
            return self.upper_tail(x).ln();
        }
        let w = 1.0 / (x * x);
        let series = -w * (1.0 - 3.0 * w * (1.0 - 5.0 * w));
        -0.5 * x * x - (x * std::f64::consts::TAU.sqrt()).ln() + series.ln_1p()
    }

    /// Value below which the share `p` lies.
    ///
    /// # Errors
    /// `p` outside the open interval from 0 to 1.
    pub fn quantile(self, p: f64) -> Result<f64, StatsError> {
        Ok(normal_quantile(check_probability(p)?))
    }
}

/// Student's t distribution.
///
/// ```
/// use trainwright_stats::StudentT;
///
/// let t = StudentT::new(10.0)?;
/// assert!((t.quantile(0.975)? - 2.228_138_851_986).abs() < 1e-9);
/// # Ok::<(), trainwright_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentT {
    df: f64,
}

impl StudentT {
    /// The distribution with `df` degrees of freedom.
    ///
    /// # Errors
    /// Degrees of freedom that are not positive and finite.
    pub fn new(df: f64) -> Result<Self, StatsError> {
        Ok(Self { df: check_df(df)? })
    }

    /// Chance of a value above `t`.
    pub fn upper_tail(self, t: f64) -> f64 {
        if t < 0.0 { 1.0 - self.upper_tail(-t) } else { 0.5 * self.two_sided(t) }
    }

    /// Chance of a value at least as far from zero as `t`: the two-sided p-value.
    pub fn two_sided(self, t: f64) -> f64 {
        let square = t * t;
        let whole = self.df + square;
        if whole.is_infinite() {
            return 0.0;
        }
        incomplete_beta(0.5 * self.df, 0.5, self.df / whole, square / whole)
    }

    /// Value below which the share `p` lies.
    ///
    /// Above 1e5 degrees of freedom this is the Cornish-Fisher expansion about the normal
    /// quantile (Abramowitz and Stegun 26.7.5), whose first neglected term is below 1e-17 there.
    ///
    /// # Errors
    /// `p` outside the open interval from 0 to 1.
    pub fn quantile(self, p: f64) -> Result<f64, StatsError> {
        let p = check_probability(p)?;
        if p > 0.5 {
            // 1 - p is exact for p in [0.5, 1].
            return Ok(-self.lower_quantile(1.0 - p));
        }
        Ok(self.lower_quantile(p))
    }

    fn lower_quantile(self, p: f64) -> f64 {
        if p >= 0.5 {
            return 0.0;
        }
        let z = normal_quantile(p);
        if self.df > 1e5 {
            return cornish_fisher(z, self.df);
        }
        let solved = || solve_tail(p.ln(), -z, |t| self.upper_tail(t));
        -self.newton(p.ln(), -z).unwrap_or_else(solved)
    }

    /// The gammas of its factor differ by little where they are large, so that Stirling's formula
    /// keeps the digits there.
    fn log_density_at_zero(self) -> f64 {
        let half = 0.5 * self.df;
        let gammas = if half < 12.0 {
            gamma::ln_gamma(half + 0.5) - gamma::ln_gamma(half)
        } else {
            half * (0.5 / half).ln_1p() + 0.5 * half.ln() - 0.5 + stirling_remainder(half + 0.5)
                - stirling_remainder(half)
        };
        gammas - 0.5 * (std::f64::consts::PI * self.df).ln()
    }

    /// Where to begin: the expansion about the normal point `z`, or with few degrees of freedom
    /// and a small tail the power of t that the tail comes close to, whose factor is
    /// `exp(constant)` at one.
    fn start(self, log_target: f64, z: f64, constant: f64) -> f64 {
        if self.df >= 4.0 {
            return cornish_fisher(z, self.df);
        }
        if log_target > -1.6 {
            return z;
        }
        let whole = constant + 0.5 * (self.df + 1.0) * self.df.ln() - self.df.ln();
        ((whole - log_target) / self.df).exp()
    }

    /// Point above zero at which the upper tail reaches `exp(log_target)`, by Newton's method.
    ///
    /// The logarithm of the tail is a concave function of the logarithm of the point, so that
    /// every step ends beyond the root and comes closer to it. The density times the point is
    /// the leading power of the tail, so that a step costs one fraction. Nothing where floats end.
    fn newton(self, log_target: f64, z: f64) -> Option<f64> {
        let half = 0.5 * self.df;
        let constant = self.log_density_at_zero();
        let mut point = self.start(log_target, z, constant).max(f64::MIN_POSITIVE);
        for _ in 0..60 {
            let square = point * point;
            let whole = self.df + square;
            let power = point * (constant - (half + 0.5) * (square / self.df).ln_1p()).exp();
            let ends = [self.df / whole, square / whole];
            let tail = 0.5 * beta_of_power([half, 0.5], ends, power);
            let step = (tail.ln() - log_target) * tail / power;
            point *= step.exp();
            if !(point.is_finite() && point > 0.0) {
                return None;
            }
            // The next step would be about the square of this one.
            if step.abs() < 1e-8 {
                return Some(point);
            }
        }
        None
    }
}

/// The F distribution of a ratio of two mean squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FisherF {
    df1: f64,
    df2: f64,
}

impl FisherF {
    /// The distribution with `df1` degrees of freedom above the line and `df2` below.
    ///
    /// # Errors
    /// Degrees of freedom that are not positive and finite.
    pub fn new(df1: f64, df2: f64) -> Result<Self, StatsError> {
        Ok(Self { df1: check_df(df1)?, df2: check_df(df2)? })
    }

    /// Chance of a value above `x`.
    pub fn upper_tail(self, x: f64) -> f64 {
        if x <= 0.0 {
            return 1.0;
        }
        let above = self.df1 * x;
        if above.is_infinite() {
            return 0.0;
        }
        let whole = above + self.df2;
        incomplete_beta(0.5 * self.df2, 0.5 * self.df1, self.df2 / whole, above / whole)
    }

    /// Value below which the share `p` lies.
    ///
    /// # Errors
    /// `p` outside the open interval from 0 to 1.
    pub fn quantile(self, p: f64) -> Result<f64, StatsError> {
        let p = check_probability(p)?;
        if p < 0.5 {
            // The reciprocal has the degrees of freedom exchanged, and its tail keeps the digits.
            let swapped = Self { df1: self.df2, df2: self.df1 };
            return Ok(solve_tail(p.ln(), 1.0, |x| swapped.upper_tail(x)).recip());
        }
        Ok(solve_tail((1.0 - p).ln(), 1.0, |x| self.upper_tail(x)))
    }
}

/// The chi-squared distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChiSquared {
    df: f64,
}

impl ChiSquared {
    /// The distribution with `df` degrees of freedom.
    ///
    /// # Errors
    /// Degrees of freedom that are not positive and finite.
    pub fn new(df: f64) -> Result<Self, StatsError> {
        Ok(Self { df: check_df(df)? })
    }

    /// Chance of a value above `x`.
    pub fn upper_tail(self, x: f64) -> f64 {
        if x <= 0.0 {
            1.0
        } else if x.is_infinite() {
            0.0
        } else {
            gamma::gamma_ur(0.5 * self.df, 0.5 * x)
        }
    }

    /// Value below which the share `p` lies.
    ///
    /// # Errors
    /// `p` outside the open interval from 0 to 1.
    pub fn quantile(self, p: f64) -> Result<f64, StatsError> {
        let p = check_probability(p)?;
        if p < 0.5 {
            let lower_tail = |x: f64| gamma::gamma_lr(0.5 * self.df, 0.5 * x);
            return Ok(solve_tail(p.ln(), self.df.recip(), |u| {
                if u > 0.0 { lower_tail(u.recip()) } else { 1.0 }
            })
            .recip());
        }
        Ok(solve_tail((1.0 - p).ln(), self.df, |x| self.upper_tail(x)))
    }
}

fn normal_quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erf::erfc_inv(2.0 * p)
}

fn cornish_fisher(z: f64, df: f64) -> f64 {
    let s = z * z;
    let g1 = z * (s + 1.0) / 4.0;
    let g2 = z * ((5.0 * s + 16.0) * s + 3.0) / 96.0;
    let g3 = z * (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0;
    z + (g1 + (g2 + g3 / df) / df) / df
}

/// Point above zero at which a falling tail reaches `exp(log_target)`.
pub(crate) fn solve_tail(log_target: f64, guess: f64, tail: impl Fn(f64) -> f64) -> f64 {
    // A tail that has underflowed to zero still needs a finite logarithm.
    let gap = |x: f64| tail(x).ln().max(-1e4) - log_target;
    let mut high = guess.max(1e-3);
    while gap(high) > 0.0 && high < 1e300 {
        high *= 4.0;
    }
    root(gap, 0.0, high)
}

pub(crate) fn check_probability(p: f64) -> Result<f64, StatsError> {
    if p > 0.0 && p < 1.0 {
        return Ok(p);
    }
    Err(StatsError::OutOfRange { what: "a probability", value: p, range: "0 to 1 (exclusive)" })
}

pub(crate) fn check_df(df: f64) -> Result<f64, StatsError> {
    if df > 0.0 && df.is_finite() {
        return Ok(df);
    }
    let range = "the positive numbers";
    Err(StatsError::OutOfRange { what: "degrees of freedom", value: df, range })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantiles_of_t_leave_their_tail(
            log_df in -1.5..10.0f64, log_p in -250.0..-0.694f64,
        ) {
            let (t, p) = (StudentT::new(log_df.exp()).unwrap(), log_p.exp());
            let found = -t.lower_quantile(p);
            let slow = solve_tail(p.ln(), 1.0, |x| t.upper_tail(x));
            prop_assert!((found / slow - 1.0).abs() < 1e-11, "{found} {slow}");
        }
    }

    #[test]
    fn impossible_arguments_are_errors() {
        assert!(StudentT::new(0.0).is_err());
        assert!(FisherF::new(1.0, f64::NAN).is_err());
        assert!(ChiSquared::new(f64::INFINITY).is_err());
        assert!(Normal.quantile(0.0).is_err());
        assert!(StudentT::new(3.0).unwrap().quantile(1.0).is_err());
    }

    #[test]
    fn logarithm_of_the_normal_tail_has_no_seam() {
        let slope = |x: f64| Normal.log_upper_tail(x + 1e-3) - Normal.log_upper_tail(x);
        assert!((slope(29.9995) - slope(29.9985)).abs() < 1e-5);
        assert!((Normal.log_upper_tail(100.0) + 5_005.524_2).abs() < 1e-3);
        let (series, direct) = (Normal.log_upper_tail(31.0), Normal.upper_tail(31.0).ln());
        assert!((series - direct).abs() < 1e-8, "{series} {direct}");
    }

    #[test]
    fn huge_degrees_of_freedom_meet_the_normal() {
        // A library inverse gives 1.8266 here.
        let t = StudentT::new(1e7).unwrap().quantile(0.975).unwrap();
        assert!((t - 1.959_964_221_7).abs() < 1e-9, "{t}");
    }

    proptest! {
        #[test]
        fn t_quantile_inverts_the_tail(p in 1e-6..0.999f64, df in 0.5..400.0f64) {
            let t = StudentT::new(df).unwrap();
            let back = 1.0 - t.upper_tail(t.quantile(p).unwrap());
            prop_assert!((back - p).abs() < 1e-12);
        }

        #[test]
        fn squared_t_is_f(t in 0.01..40.0f64, df in 1.0..300.0f64) {
            let two_sided = StudentT::new(df).unwrap().two_sided(t);
            let f = FisherF::new(1.0, df).unwrap().upper_tail(t * t);
            prop_assert!((two_sided / f - 1.0).abs() < 1e-10);
        }

        #[test]
        fn chi_squared_quantile_inverts_the_tail(p in 1e-6..0.999f64, df in 0.5..200.0f64) {
            let chi = ChiSquared::new(df).unwrap();
            let back = 1.0 - chi.upper_tail(chi.quantile(p).unwrap());
            prop_assert!((back - p).abs() < 1e-9);
        }

        #[test]
        fn far_tails_agree_with_closed_forms(size in 0.0..280.0f64, df in 1.0..300.0f64) {
            // F with 2 degrees of freedom above the line: (1 + 2x/df)^(-df/2).
            let x = 0.5 * df * (size * std::f64::consts::LN_10 * 2.0 / df).exp_m1();
            prop_assume!(x.is_finite() && x < 1e250);
            let expected = -0.5 * df * (2.0 * x / df).ln_1p();
            let found = FisherF::new(2.0, df).unwrap().upper_tail(x);
            prop_assert!((found.ln() - expected).abs() < 1e-9, "{x} {found}");
            let t = 10f64.powf(0.25 * size);
            let cauchy = StudentT::new(1.0).unwrap().two_sided(t);
            let expected = std::f64::consts::FRAC_2_PI * t.recip().atan();
            prop_assert!((cauchy / expected - 1.0).abs() < 1e-11);
            let chi = ChiSquared::new(2.0).unwrap().upper_tail(2.0 * size);
            prop_assert!((chi / (-size).exp() - 1.0).abs() < 1e-9);
        }

        #[test]
        fn small_quantiles_keep_their_relative_digits(exponent in -40.0..-1.0f64) {
            let p = 10f64.powf(exponent);
            // With two degrees of freedom above the line both have closed forms.
            let chi = ChiSquared::new(2.0).unwrap().quantile(p).unwrap();
            prop_assert!((chi / (-2.0 * (-p).ln_1p()) - 1.0).abs() < 1e-9);
            let f = FisherF::new(2.0, 4.0).unwrap().quantile(p).unwrap();
            let expected = 2.0 * (-0.5 * (-p).ln_1p()).exp_m1();
            prop_assert!((f / expected - 1.0).abs() < 1e-9, "{f} {expected}");
        }
    }
}
