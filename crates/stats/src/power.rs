//! How likely an experiment is to find an effect of a given size.

use statrs::function::gamma::ln_gamma;

use crate::distributions::FisherF;
use crate::distributions::incomplete_beta::incomplete_beta;
use crate::error::StatsError;
use crate::root::root;

/// Probability that an F test rejects at `alpha`, where the effect has noncentrality
/// `noncentrality`: its sum of squares over the variance of the noise; of one degree of freedom, its
/// square over the variance of its estimate.
///
/// The noncentral F distribution is a Poisson mixture of beta distributions (Johnson, Kotz and
/// Balakrishnan, "Continuous Univariate Distributions", volume 2, chapter 30).
///
/// # Errors
/// Degrees of freedom below 1, or `alpha` outside (0, 1).
pub fn power(
    noncentrality: f64,
    df_effect: f64,
    df_residual: f64,
    alpha: f64,
) -> Result<f64, StatsError> {
    let critical = df_effect * FisherF::new(df_effect, df_residual)?.quantile(1.0 - alpha)?;
    let (x, y) = (critical / (critical + df_residual), df_residual / (critical + df_residual));
    let half = noncentrality / 2.0;
    // Weights of a Poisson distribution with mean `half`; 40 deviations hold all that a float sees.
    let width = 40.0 * half.sqrt() + 40.0;
    let first = (half - width).floor().max(0.0);
    let mut accepted = 0.0;
    let mut term = first;
    while term <= half + width {
        let weight = match half {
            0.0 => {
                if term == 0.0 {
                    1.0
                } else {
                    0.0
                }
            }
            _ => (term * half.ln() - half - ln_gamma(term + 1.0)).exp(),
        };
        if weight > 0.0 {
            accepted += weight * incomplete_beta(0.5 * df_effect + term, df_residual / 2.0, x, y);
        }
        term += 1.0;
    }
    Ok((1.0 - accepted).clamp(0.0, 1.0))
}

/// Noncentrality beyond which no experiment is planned.
const LARGEST: f64 = 1e4;

/// The noncentrality that an F test at `alpha` finds with probability `wanted`.
///
/// # Errors
/// As [`power`], and where `wanted` is not between `alpha` and 1.
pub fn smallest_noncentrality(
    df_effect: f64,
    df_residual: f64,
    alpha: f64,
    wanted: f64,
) -> Result<f64, StatsError> {
    if !(wanted > alpha && wanted < 1.0) {
        let (what, range) = ("the power wanted", "alpha to 1");
        return Err(StatsError::OutOfRange { what, value: wanted, range });
    }
    power(0.0, df_effect, df_residual, alpha)?;
    let found = |noncentrality: f64| {
        power(noncentrality, df_effect, df_residual, alpha).expect("checked above") - wanted
    };
    let mut high = 1.0;
    while found(high) < 0.0 {
        if high > LARGEST {
            let reason = "no effect of sensible size is found so often with so few observations";
            return Err(StatsError::Undefined { what: "the smallest effect", reason });
        }
        high *= 2.0;
    }
    Ok(root(found, 0.0, high))
}

/// The smallest effect of a balanced two-level term, from low to high and in residual standard
/// deviations, that `observations` find with probability `wanted`.
///
/// The estimate of such an effect has variance 4 / n in these units.
///
/// # Errors
/// As [`power`], and where `wanted` is not between `alpha` and 1.
pub fn smallest_effect(
    observations: usize,
    df_residual: f64,
    alpha: f64,
    wanted: f64,
) -> Result<f64, StatsError> {
    let noncentrality = smallest_noncentrality(1.0, df_residual, alpha, wanted)?;
    Ok((4.0 * noncentrality / observations as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// scipy 1.17.1, `ncf.sf(f.isf(alpha, 1, df), 1, df, noncentrality)`.
    #[track_caller]
    fn check(df: f64, noncentrality: f64, alpha: f64, expected: f64) {
        let found = power(noncentrality, 1.0, df, alpha).unwrap();
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn power_agrees_with_the_noncentral_f_distribution() {
        check(32.0, 8.0, 0.05, 0.783_097_072_488_06);
        check(5.0, 4.0, 0.05, 0.368_157_514_138_397_2);
        check(289.0, 10.0, 0.01, 0.715_079_240_489_308_3);
        check(2.0, 1.0, 0.05, 0.095_201_755_497_883_98);
        check(1000.0, 30.0, 0.05, 0.999_777_621_775_343_4);
    }

    #[test]
    fn several_degrees_of_freedom_share_the_effect() {
        // The same call with 2, 3 and 9 in place of 1.
        for (df_effect, df, noncentrality, alpha, expected) in [
            (2.0, 24.0, 10.0, 0.05, 0.7610023674451435),
            (3.0, 8.0, 15.0, 0.01, 0.379318792322737),
            (9.0, 200.0, 4.0, 0.05, 0.21657032753099217),
        ] {
            let found = power(noncentrality, df_effect, df, alpha).unwrap();
            assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        }
    }

    #[test]
    fn without_an_effect_the_power_is_alpha() {
        check(10.0, 0.0, 0.05, 0.05);
    }

    #[test]
    fn faulty_questions_are_refused() {
        assert!(power(1.0, 1.0, 0.0, 0.05).is_err());
        assert!(power(1.0, 1.0, 5.0, 1.5).is_err());
        assert!(smallest_effect(8, 5.0, 0.05, 0.01).is_err());
    }

    proptest! {
        #[test]
        fn the_smallest_effect_is_found_as_often_as_wanted(
            n in 8usize..500, wanted in 0.3..0.99f64, alpha in 0.001..0.2f64,
        ) {
            let df = n as f64 - 3.0;
            let effect = smallest_effect(n, df, alpha, wanted).unwrap();
            let noncentrality = effect * effect * n as f64 / 4.0;
            prop_assert!((power(noncentrality, 1.0, df, alpha).unwrap() - wanted).abs() < 1e-6);
        }
    }
}
