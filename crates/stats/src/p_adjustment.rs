//! Adjustment of p-values for the number of tests.

use crate::error::StatsError;

/// How to adjust; the first four bound the chance of any false claim, the last two the expected
/// share of false claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PAdjustment {
    /// Times the number of tests.
    Bonferroni,
    /// Holm's step down (Scandinavian Journal of Statistics 6, 1979).
    Holm,
    /// Hochberg's step up (Biometrika 75, 1988).
    Hochberg,
    /// Hommel's closed test (Biometrika 75, 1988).
    Hommel,
    /// Benjamini and Hochberg (Journal of the Royal Statistical Society B 57, 1995).
    BenjaminiHochberg,
    /// Benjamini and Yekutieli (Annals of Statistics 29, 2001), right under any dependence.
    BenjaminiYekutieli,
}

/// Adjusted p-values in the order given.
///
/// # Errors
/// A p-value outside 0 to 1.
pub fn adjust(p_values: &[f64], method: PAdjustment) -> Result<Vec<f64>, StatsError> {
    if let Some(&value) = p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(StatsError::OutOfRange { what: "a p-value", value, range: "0 to 1" });
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let sorted: Vec<f64> = order.iter().map(|&i| p_values[i]).collect();
    let mut adjusted = vec![0.0; p_values.len()];
    for (value, index) in adjust_sorted(&sorted, method).into_iter().zip(order) {
        adjusted[index] = value;
    }
    Ok(adjusted)
}

/// Adjusts the p-values of those tests that have one by Holm's method; the others stay without,
/// and do not count as tests. A number that is no probability counts as none.
///
/// ```
/// use trainwright_stats::holm;
///
/// assert_eq!(holm(&[Some(0.01), None, Some(0.3)]), [Some(0.02), None, Some(0.3)]);
/// ```
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let tested = |p: &f64| (0.0..=1.0).contains(p);
    let known: Vec<f64> = p_values.iter().flatten().copied().filter(tested).collect();
    let mut adjusted = adjust(&known, PAdjustment::Holm).unwrap_or_default().into_iter();
    p_values.iter().map(|p| p.filter(tested).and_then(|_| adjusted.next())).collect()
}

/// One p-value adjusted by Bonferroni's rule, which needs none of the others.
pub fn bonferroni(p: f64, tests: usize) -> f64 {
    (p * tests as f64).min(1.0)
}

fn adjust_sorted(sorted: &[f64], method: PAdjustment) -> Vec<f64> {
    let n = sorted.len() as f64;
    match method {
        PAdjustment::Bonferroni => sorted.iter().map(|p| bonferroni(*p, sorted.len())).collect(),
        PAdjustment::Holm => step_down(sorted, |rank| n - rank + 1.0),
        PAdjustment::Hochberg => step_up(sorted, |rank| n - rank + 1.0),
        PAdjustment::Hommel => hommel(sorted),
        PAdjustment::BenjaminiHochberg => step_up(sorted, |rank| n / rank),
        PAdjustment::BenjaminiYekutieli => {
            let harmonic: f64 = (1..=sorted.len()).map(|i| 1.0 / i as f64).sum();
            step_up(sorted, |rank| harmonic * n / rank)
        }
    }
}

/// Running maximum from the smallest p-value up.
fn step_down(sorted: &[f64], factor: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut highest = 0.0f64;
    let mut found = Vec::with_capacity(sorted.len());
    for (index, p) in sorted.iter().enumerate() {
        highest = highest.max((p * factor(index as f64 + 1.0)).min(1.0));
        found.push(highest);
    }
    found
}

/// Running minimum from the largest p-value down.
fn step_up(sorted: &[f64], factor: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut lowest = 1.0f64;
    let mut found: Vec<f64> = Vec::with_capacity(sorted.len());
    for (index, p) in sorted.iter().enumerate().rev() {
        lowest = lowest.min(p * factor(index as f64 + 1.0));
        found.push(lowest);
    }
    found.reverse();
    found
}

/// Closed test with Simes' criterion: a hypothesis' adjusted p-value is the largest Simes
/// p-value over the intersections that contain it. Among intersections of one size the worst
/// holds the largest other p-values, so only sizes need to be tried (Wright, Biometrics 48, 1992).
fn hommel(sorted: &[f64]) -> Vec<f64> {
    let n = sorted.len();
    let mut found = sorted.to_vec();
    for size in 2..=n {
        let share = size as f64;
        // Simes over the size - 1 largest p-values, which take ranks 2 to size.
        let largest = &sorted[n - size + 1..];
        let rest = largest
            .iter()
            .enumerate()
            .map(|(k, p)| share * p / (k as f64 + 2.0))
            .fold(f64::INFINITY, f64::min);
        for (index, value) in found.iter_mut().enumerate() {
            let own = if index <= n - size { share * sorted[index] } else { f64::INFINITY };
            let first = if index <= n - size { own.min(rest) } else { simes(&sorted[n - size..]) };
            *value = value.max(first.min(1.0));
        }
    }
    found
}

/// Simes' p-value of an intersection of hypotheses.
fn simes(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    sorted
        .iter()
        .enumerate()
        .map(|(index, p)| n * p / (index as f64 + 1.0))
        .fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hommel's adjustment straight from its definition, over every subset.
    fn hommel_by_subsets(p: &[f64]) -> Vec<f64> {
        let mut found = p.to_vec();
        for mask in 1u32..1 << p.len() {
            let members: Vec<usize> = (0..p.len()).filter(|i| mask >> i & 1 == 1).collect();
            let mut values: Vec<f64> = members.iter().map(|&i| p[i]).collect();
            values.sort_by(f64::total_cmp);
            let worst = simes(&values).min(1.0);
            members.iter().for_each(|&i| found[i] = found[i].max(worst));
        }
        found
    }

    proptest! {
        #[test]
        fn hommel_agrees_with_all_subsets(p in prop::collection::vec(0.0..=1.0f64, 1..8)) {
            let fast = adjust(&p, PAdjustment::Hommel).unwrap();
            for (a, b) in fast.iter().zip(hommel_by_subsets(&p)) {
                prop_assert!((a - b).abs() < 1e-12);
            }
        }

        #[test]
        fn stricter_methods_give_larger_values(p in prop::collection::vec(0.0..=1.0f64, 1..20)) {
            use PAdjustment::{BenjaminiHochberg, Bonferroni, Hochberg, Holm, Hommel};
            let ordered = [BenjaminiHochberg, Hommel, Hochberg, Holm, Bonferroni];
            let tables: Vec<Vec<f64>> =
                ordered.into_iter().map(|m| adjust(&p, m).unwrap()).collect();
            for pair in tables.windows(2) {
                for ((raw, a), b) in p.iter().zip(&pair[0]).zip(&pair[1]) {
                    prop_assert!(raw <= a && *a <= b + 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_value_that_is_no_probability_is_refused() {
        assert!(adjust(&[0.1, 1.2], PAdjustment::Holm).is_err());
        assert!(adjust(&[f64::NAN], PAdjustment::Holm).is_err());
        assert_eq!(adjust(&[], PAdjustment::Hommel), Ok(vec![]));
    }

    #[test]
    fn tests_without_a_p_value_do_not_count() {
        let found = holm(&[None, Some(0.02), Some(f64::NAN), Some(0.01)]);
        assert_eq!(found, [None, Some(0.02), None, Some(0.02)]);
        assert_eq!(holm(&[None, None]), [None, None]);
    }
}
