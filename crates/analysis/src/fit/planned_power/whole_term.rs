//! The smallest effect of a factor of several levels, whose columns are tested together.

use trainwright_stats::{Columns, Orthogonal};

use crate::model::variable::Variable;

/// Share of a pattern's length below which the rows cannot tell it from other terms.
const TOLD_APART: f64 = 1e-9;

/// What a smallest effect of one column means.
pub(super) const LOW_TO_HIGH: &str = "low to high";

/// Patterns of a factor's levels that differ by 1 from end to end, row by row, and what they mean.
///
/// Numbers follow a straight line from the lowest to the highest level. Of categories two differ,
/// and all others lie half-way between them: the pattern that is hardest to find at its width.
pub(super) fn patterns(factor: &Variable) -> (&'static str, Vec<Vec<f64>>) {
    if let Some(coded) = factor.coded.as_ref().filter(|_| factor.polynomials.is_some()) {
        return ("low to high along a straight line", vec![half(coded)]);
    }
    let levels = factor.levels.len();
    let pair = |(high, low): (usize, usize)| {
        let value = |&code: &usize| match code {
            code if code == high => 0.5,
            code if code == low => -0.5,
            _ => 0.0,
        };
        factor.codes.iter().map(value).collect()
    };
    let pairs = (0..levels).flat_map(|high| (0..high).map(move |low| (high, low)));
    ("between two levels with the others half-way", pairs.map(pair).collect())
}

fn half(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| 0.5 * v).collect()
}

/// Smallest noncentrality of the patterns beside all other columns; nothing where the rows cannot
/// tell one of them from those.
pub(super) fn noncentrality(patterns: &[Vec<f64>], others: Vec<Vec<f64>>) -> Option<f64> {
    let others = Orthogonal::new(&Columns::new(others).ok()?);
    let of_pattern = |pattern: &Vec<f64>| {
        let length: f64 = pattern.iter().map(|v| v * v).sum();
        Some(others.residual_squares(pattern)).filter(|left| *left > TOLD_APART * length)
    };
    let found = patterns.iter().map(of_pattern).collect::<Option<Vec<f64>>>()?;
    found.into_iter().min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv_table::Table;

    fn three_levels() -> Variable {
        let table = Table::from_csv("g\na\nb\nc\na\nb\nc\n".as_bytes(), &[]).unwrap();
        Variable::from_table(&table, "g", &[0, 1, 2, 3, 4, 5]).unwrap()
    }

    #[test]
    fn two_of_three_levels_apart_are_seen_by_their_own_rows() {
        let (_, found) = patterns(&three_levels());
        assert_eq!(found.len(), 3);
        // Four rows at half the width about the mean: n (1/2)^2 = 1.
        let ones = vec![vec![1.0; 6]];
        assert!((noncentrality(&found, ones).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_factor_that_another_column_repeats_has_no_smallest_effect() {
        let (_, found) = patterns(&three_levels());
        let same = vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        let also = vec![0.0, 1.0, 0.0, 0.0, 1.0, 0.0];
        assert!(noncentrality(&found, vec![vec![1.0; 6], same, also]).is_none());
    }
}
