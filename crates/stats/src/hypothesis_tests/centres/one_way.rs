//! Comparison of group means by one-way analysis of variance.

use crate::distributions::FisherF;
use crate::error::StatsError;
use crate::sample;

/// A one-way F test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneWay {
    /// Mean square between groups over mean square within.
    pub f: f64,
    /// Degrees of freedom between groups.
    pub df1: usize,
    /// Degrees of freedom within groups.
    pub df2: usize,
    /// Chance of a larger F if all means are equal.
    pub p: f64,
    /// Sum of squares between groups.
    pub ss_between: f64,
    /// Sum of squares within groups.
    pub ss_within: f64,
}

/// Tests whether all groups share one mean.
///
/// # Errors
/// Fewer than two groups, an empty group, a non-finite value, or no variation within groups.
pub fn one_way(groups: &[Vec<f64>]) -> Result<OneWay, StatsError> {
    if groups.len() < 2 {
        let what = "a comparison of groups";
        return Err(StatsError::TooFew { what, needed: 2, found: groups.len() });
    }
    for group in groups {
        sample::check(group, "a group", 1)?;
    }
    let largest = groups.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
    let groups = &sample::about_common_centre(groups);
    let all: Vec<f64> = groups.concat();
    let (df1, df2) = (groups.len() - 1, all.len() - groups.len());
    if df2 == 0 {
        let what = "a comparison of groups";
        return Err(StatsError::TooFew { what, needed: groups.len() + 1, found: all.len() });
    }
    let grand = sample::mean_of(&all);
    let ss_within: f64 = groups.iter().map(|g| sample::squares_about_mean(g)).sum();
    let ss_between: f64 =
        groups.iter().map(|g| g.len() as f64 * (sample::mean_of(g) - grand).powi(2)).sum();
    // Values that are equal on paper differ by the rounding of how they were computed.
    if ss_within <= all.len() as f64 * (2.0 * f64::EPSILON * largest).powi(2) {
        let reason = "the values within every group are equal";
        return Err(StatsError::Undefined { what: "the one-way F", reason });
    }
    let f = ss_between / df1 as f64 / (ss_within / df2 as f64);
    let p = FisherF::new(df1 as f64, df2 as f64)?.upper_tail(f);
    Ok(OneWay { f, df1, df2, p, ss_between, ss_within })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_cannot_be_compared_are_errors() {
        assert!(one_way(&[vec![1.0, 2.0]]).is_err());
        assert!(one_way(&[vec![1.0], vec![2.0]]).is_err());
        assert!(one_way(&[vec![1.0, 1.0], vec![2.0, 2.0]]).is_err());
        assert!(one_way(&[vec![], vec![2.0, 3.0]]).is_err());
    }

    #[test]
    fn two_groups_give_the_square_of_t() {
        let found = one_way(&[vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 6.0]]).unwrap();
        // Means 2 and 4, pooled variance 2.5: t = 2 / sqrt(2.5 * 2 / 3).
        assert!((found.f - 4.0 / (2.5 * 2.0 / 3.0)).abs() < 1e-12);
    }
}
