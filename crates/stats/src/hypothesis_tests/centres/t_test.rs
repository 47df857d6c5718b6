//! Comparison of two means: independent samples of any variance, and paired values.

use crate::distributions::StudentT;
use crate::error::StatsError;
use crate::sample;

/// A t test of a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// Mean of the first sample less mean of the second.
    pub difference: f64,
    /// The difference over its standard error.
    pub t: f64,
    /// Degrees of freedom, a fraction for independent samples.
    pub df: f64,
    /// Two-sided p-value: chance of a t this far from zero if the means are equal.
    pub p: f64,
    /// 95 % interval of the difference.
    pub interval: [f64; 2],
}

/// Compares the means of two independent samples without assuming equal variances (Welch,
/// Biometrika 34, 1947; degrees of freedom by Satterthwaite, Biometrics Bulletin 2, 1946).
///
/// # Errors
/// A sample of fewer than two values, or two samples without any variation.
pub fn welch_t(first: &[f64], second: &[f64]) -> Result<TTest, StatsError> {
    welch_difference(first, second)?.test()
}

/// The p-value of the same test alone, without the cost of an interval.
pub(crate) fn welch_p(first: &[f64], second: &[f64]) -> Result<f64, StatsError> {
    welch_difference(first, second)?.p()
}

fn welch_difference(first: &[f64], second: &[f64]) -> Result<Difference, StatsError> {
    let part = |values: &[f64]| Ok(sample::variance(values)? / values.len() as f64);
    let (a, b) = (part(first)?, part(second)?);
    if !(a + b).is_normal() {
        let reason = "the values within both samples are equal";
        return Err(StatsError::Undefined { what: "Welch's t", reason });
    }
    // Shares of the variance, so that squares of small variances do not vanish.
    let (u, v) = (a / (a + b), b / (a + b));
    let df = 1.0 / (u * u / (first.len() - 1) as f64 + v * v / (second.len() - 1) as f64);
    let moved = sample::about_common_centre(&[first.to_vec(), second.to_vec()]);
    let value = sample::mean_of(&moved[0]) - sample::mean_of(&moved[1]);
    Ok(Difference { value, error: (a + b).sqrt(), df })
}

/// Compares the means of paired values by their differences (Student, Biometrika 6, 1908).
///
/// # Errors
/// Fewer than two pairs, lengths that differ, or differences that are all equal.
pub fn paired_t(first: &[f64], second: &[f64]) -> Result<TTest, StatsError> {
    paired_difference(first, second)?.test()
}

/// The p-value of the same test alone.
pub(crate) fn paired_p(first: &[f64], second: &[f64]) -> Result<f64, StatsError> {
    paired_difference(first, second)?.p()
}

fn paired_difference(first: &[f64], second: &[f64]) -> Result<Difference, StatsError> {
    let what = "a paired comparison";
    sample::check(first, what, 2)?;
    sample::check(second, what, 2)?;
    if first.len() != second.len() {
        let (expected, found) = (first.len(), second.len());
        return Err(StatsError::LengthMismatch { what, expected, found });
    }
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    sample::check_varies(&differences, "the differences")?;
    let n = differences.len() as f64;
    let error = (sample::squares_about_mean(&differences) / (n - 1.0) / n).sqrt();
    Ok(Difference { value: sample::mean_of(&differences), error, df: n - 1.0 })
}

/// A difference with its standard error and the degrees of freedom of that.
struct Difference {
    value: f64,
    error: f64,
    df: f64,
}

impl Difference {
    fn p(&self) -> Result<f64, StatsError> {
        Ok(StudentT::new(self.df)?.two_sided(self.value / self.error))
    }

    fn test(&self) -> Result<TTest, StatsError> {
        let half = StudentT::new(self.df)?.quantile(0.975)? * self.error;
        Ok(TTest {
            difference: self.value,
            t: self.value / self.error,
            df: self.df,
            p: self.p()?,
            interval: [self.value - half, self.value + half],
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hypothesis_tests::centres::welch::welch;

    #[test]
    fn the_first_paired_test_gives_its_published_t() {
        // Cushny and Peebles' hours of sleep gained, as in Student's paper of 1908: t = 4.06.
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let found = paired_t(&first, &second).unwrap();
        assert!((found.t + 4.062_127_683_382_037).abs() < 1e-12, "{}", found.t);
        assert!((found.difference + 1.58).abs() < 1e-12 && found.p < 0.003);
    }

    #[test]
    fn samples_that_cannot_be_compared_are_errors() {
        assert!(welch_t(&[1.0], &[1.0, 2.0]).is_err());
        assert!(welch_t(&[1.0, 1.0], &[2.0, 2.0]).is_err());
        assert!(paired_t(&[1.0, 2.0], &[2.0, 3.0]).is_err());
        assert!(paired_t(&[1.0, 2.0], &[2.0]).is_err());
    }

    proptest! {
        #[test]
        fn squared_t_is_welch_s_test_of_two_groups(
            a in prop::collection::vec(-5.0..5.0f64, 2..12),
            b in prop::collection::vec(-5.0..5.0f64, 2..12),
        ) {
            let t = welch_t(&a, &b).unwrap();
            let f = welch(&[a, b]).unwrap();
            prop_assert!((t.t * t.t - f.f).abs() < 1e-8 * f.f.max(1.0));
            prop_assert!((t.df - f.df2).abs() < 1e-8 * t.df && (t.p - f.p).abs() < 1e-9);
            let covers = t.interval[0] < 0.0 && t.interval[1] > 0.0;
            prop_assert_eq!(covers, t.p > 0.05);
        }
    }
}
