//! Comparison of group means when variances differ.

use crate::distributions::FisherF;
use crate::error::StatsError;
use crate::sample;

/// Welch's one-way test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// Weighted variation between groups over its expectation.
    pub f: f64,
    /// Groups less one.
    pub df1: usize,
    /// Approximate degrees of freedom below the line.
    pub df2: f64,
    /// Chance of a larger F if all means are equal, whatever the variances.
    pub p: f64,
}

/// Tests whether all groups share one mean, without assuming equal variances (Welch, "On the
/// comparison of several mean values: an alternative approach", Biometrika 38, 1951).
///
/// # Errors
/// Fewer than two groups, a group of fewer than two values, or one without variation.
pub fn welch(groups: &[Vec<f64>]) -> Result<Welch, StatsError> {
    if groups.len() < 2 {
        let what = "a comparison of groups";
        return Err(StatsError::TooFew { what, needed: 2, found: groups.len() });
    }
    for group in groups {
        sample::check(group, "a group", 1)?;
    }
    let groups = &sample::about_common_centre(groups);
    let mut weighed = Vec::with_capacity(groups.len());
    for (index, group) in groups.iter().enumerate() {
        if group.len() < 2 {
            let what = "a variance";
            return Err(StatsError::TooFew { what, needed: 2, found: group.len() });
        }
        let variance = sample::squares_about_mean(group) / (group.len() - 1) as f64;
        if !variance.is_normal() {
            return Err(StatsError::ZeroVariance { group: index + 1 });
        }
        weighed.push((group.len() as f64 / variance, sample::mean_of(group), group.len() as f64));
    }
    let total: f64 = weighed.iter().map(|(w, _, _)| w).sum();
    let centre: f64 = weighed.iter().map(|(w, mean, _)| w / total * mean).sum();
    let between = (groups.len() - 1) as f64;
    let spread = weighed.iter().map(|(w, mean, _)| w * (mean - centre).powi(2)).sum::<f64>();
    // Sum of (1 - w/W)^2 / (n - 1) in Welch's notation.
    let uneven: f64 = weighed.iter().map(|(w, _, n)| (1.0 - w / total).powi(2) / (n - 1.0)).sum();
    let k = groups.len() as f64;
    let f = spread / between / (1.0 + 2.0 * (k - 2.0) / (k * k - 1.0) * uneven);
    let df2 = (k * k - 1.0) / (3.0 * uneven);
    let p = FisherF::new(between, df2)?.upper_tail(f);
    Ok(Welch { f, df1: groups.len() - 1, df2, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_without_variation_is_named() {
        let groups = [vec![1.0, 2.0], vec![3.0, 3.0]];
        assert_eq!(welch(&groups), Err(StatsError::ZeroVariance { group: 2 }));
        assert!(welch(&groups[..1]).is_err());
        assert!(welch(&[vec![1.0, 2.0], vec![3.0]]).is_err());
    }
}
