//! Do groups share one variance? Bartlett, Levene and Brown-Forsythe.
//!
//! Bartlett's test mistakes long tails for unequal variances; Brown and Forsythe's form of
//! Levene's (distances from medians) does not, and is the one to prefer on residuals.

use crate::distributions::ChiSquared;
use crate::error::StatsError;
use crate::hypothesis_tests::centres::one_way::{OneWay, one_way};
use crate::sample;

/// Bartlett's test of equal variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bartlett {
    /// Bartlett's corrected statistic.
    pub statistic: f64,
    /// Groups less one.
    pub df: usize,
    /// Chance of a larger statistic if variances are equal and values normal.
    pub p: f64,
}

/// Bartlett's test (Proceedings of the Royal Society A 160, 1937).
///
/// # Errors
/// Fewer than two groups, a group of fewer than two values, or one without variation.
pub fn bartlett(groups: &[Vec<f64>]) -> Result<Bartlett, StatsError> {
    let what = "a comparison of variances";
    if groups.len() < 2 {
        return Err(StatsError::TooFew { what, needed: 2, found: groups.len() });
    }
    let (mut inverse, mut logs, mut pooled, mut df) = (0.0, 0.0, 0.0, 0.0);
    for (index, group) in groups.iter().enumerate() {
        let variance = sample::variance(group)?;
        if variance <= 0.0 {
            return Err(StatsError::ZeroVariance { group: index + 1 });
        }
        let own = (group.len() - 1) as f64;
        inverse += 1.0 / own;
        logs += own * variance.ln();
        pooled += own * variance;
        df += own;
    }
    let between = (groups.len() - 1) as f64;
    let correction = 1.0 + (inverse - 1.0 / df) / (3.0 * between);
    let statistic = (df * (pooled / df).ln() - logs) / correction;
    let p = ChiSquared::new(between)?.upper_tail(statistic);
    Ok(Bartlett { statistic, df: groups.len() - 1, p })
}

/// Levene's test: one-way analysis of distances from the group means.
///
/// # Errors
/// As [`one_way`] of the distances.
pub fn levene(groups: &[Vec<f64>]) -> Result<OneWay, StatsError> {
    for group in groups {
        sample::check(group, "a group", 1)?;
    }
    distances(&sample::about_common_centre(groups), sample::mean_of)
}

/// Brown and Forsythe's test: one-way analysis of distances from the group medians (Journal of
/// the American Statistical Association 69, 1974).
///
/// # Errors
/// As [`one_way`] of the distances.
pub fn brown_forsythe(groups: &[Vec<f64>]) -> Result<OneWay, StatsError> {
    distances(groups, sample::median_of)
}

fn distances(groups: &[Vec<f64>], centre: fn(&[f64]) -> f64) -> Result<OneWay, StatsError> {
    if groups.len() > 1 && groups.iter().all(|group| group.len() <= 2) {
        let reason = "both values of a pair lie equally far from their middle, so at least one \
                      group needs three";
        return Err(StatsError::Undefined { what: "a comparison of variances", reason });
    }
    let mut moved = Vec::with_capacity(groups.len());
    for group in groups {
        sample::check(group, "a group", 1)?;
        moved.push(match group[..] {
            // Two values lie equally far from their middle, whatever rounding says.
            [a, b] => vec![(0.5 * a - 0.5 * b).abs(); 2],
            _ => {
                let middle = centre(group);
                group.iter().map(|v| (v - middle).abs()).collect()
            }
        });
    }
    one_way(&moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_without_variance_makes_bartlett_infinite_and_is_named() {
        let groups = [vec![1.0, 2.0, 4.0], vec![3.0, 3.0]];
        assert_eq!(bartlett(&groups), Err(StatsError::ZeroVariance { group: 2 }));
        assert!(brown_forsythe(&groups).is_ok());
    }

    #[test]
    fn pairs_alone_say_nothing_about_spreads() {
        let groups = [vec![0.1, 0.7], vec![1.1, 1.3], vec![2.3, 7.7]];
        for found in [brown_forsythe(&groups), levene(&groups)] {
            assert!(matches!(found, Err(StatsError::Undefined { .. })), "{found:?}");
        }
    }

    #[test]
    fn equal_spreads_give_a_small_statistic() {
        let groups = [vec![1.0, 2.0, 3.0, 4.0], vec![11.0, 12.0, 13.0, 14.0]];
        assert!(bartlett(&groups).unwrap().statistic.abs() < 1e-12);
        assert!(brown_forsythe(&groups).unwrap().p > 0.99);
        assert!(levene(&groups).unwrap().p > 0.99);
    }
}
