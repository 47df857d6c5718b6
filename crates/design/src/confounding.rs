//! What the rows of any design cannot tell apart, wholly or in part.
//!
//! Regular fractions have exact alias tables; for all other rows the columns of the effects are
//! compared: two effects whose columns are correlated share part of what is measured, and effects
//! beyond the rank of all columns together cannot be estimated at once.

use serde::Serialize;
use trainwright_study::Study;

use crate::design::Design;
use crate::two_level::effect_columns::{Coding, Effect, name, short_effects};

/// Multiplications that a comparison may take.
const MOST_WORK: usize = 400_000_000;

/// Correlation from which two effects are mentioned together.
const LEAST_CORRELATION: f64 = 1e-6;

/// Main effects, two-factor interactions and squares compared with each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confounding {
    /// Coefficients of all these effects.
    pub coefficients: usize,
    /// Coefficients that the rows can fix at the same time.
    pub estimable: usize,
    /// Effects that never vary.
    pub constant: Vec<String>,
    /// Pairs that cannot be told apart.
    pub same: Vec<EffectPair>,
    /// Pairs that share a part, the largest first.
    pub partial: Vec<EffectPair>,
}

/// Two effects and how much they share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectPair {
    /// One effect, such as `lr`.
    pub first: String,
    /// The other, such as `batch:epochs`.
    pub second: String,
    /// Correlation of their columns; the largest in size where an effect has several.
    pub correlation: f64,
}

impl Confounding {
    /// Compares the effects over the rows of a design; nothing where there are too many effects,
    /// or no rows.
    pub fn of(study: &Study, design: &Design) -> Option<Self> {
        let coding = Coding::new(study);
        let mut effects = short_effects(study.factors.len());
        effects.extend(squares(study, design));
        let rows = design.rows();
        if rows.is_empty() {
            return None;
        }
        let sizes = effects.iter().map(|effect| coding.columns(effect));
        let columns = sizes.fold(0, usize::saturating_add);
        if rows.len().saturating_mul(columns).saturating_mul(columns) > MOST_WORK {
            return None;
        }
        let centred: Vec<Vec<Vec<f64>>> = effects
            .iter()
            .map(|effect| {
                let values: Vec<Vec<f64>> =
                    rows.iter().map(|row| coding.values(effect, row)).collect();
                (0..values[0].len()).filter_map(|place| unit_column(&values, place)).collect()
            })
            .collect();
        let names: Vec<String> = effects.iter().map(|effect| name(study, effect)).collect();
        let constant = (0..effects.len()).filter(|&own| centred[own].is_empty());
        let constant = constant.map(|own| names[own].clone()).collect();
        let (mut same, mut partial) = (Vec::new(), Vec::new());
        for second in 0..effects.len() {
            for first in 0..second {
                let Some(correlation) = largest(&centred[first], &centred[second]) else {
                    continue;
                };
                let pair = EffectPair {
                    first: names[first].clone(),
                    second: names[second].clone(),
                    correlation,
                };
                match correlation.abs() {
                    size if size > 1.0 - LEAST_CORRELATION => same.push(pair),
                    size if size > LEAST_CORRELATION => partial.push(pair),
                    _ => {}
                }
            }
        }
        partial.sort_by(|a, b| b.correlation.abs().total_cmp(&a.correlation.abs()));
        let estimable = rank(&centred.concat());
        Some(Self { coefficients: columns, estimable, constant, same, partial })
    }
}

/// Squares of numeric factors that run at three values or more.
fn squares(study: &Study, design: &Design) -> Vec<Effect> {
    let curved = |&index: &usize| {
        let factor = &study.factors[index];
        let mut seen: Vec<f64> = Vec::new();
        let values =
            design.rows().iter().filter_map(|row| row.get_at(index, &factor.name)?.number());
        for value in values {
            if !seen.contains(&value) {
                seen.push(value);
            }
            if seen.len() > 2 {
                return factor.is_numeric();
            }
        }
        false
    };
    (0..study.factors.len()).filter(curved).map(|index| vec![(index, 2)]).collect()
}

/// A column about its mean with length 1; nothing where it is constant.
fn unit_column(values: &[Vec<f64>], place: usize) -> Option<Vec<f64>> {
    let mean = values.iter().map(|row| row[place]).sum::<f64>() / values.len() as f64;
    let column: Vec<f64> = values.iter().map(|row| row[place] - mean).collect();
    let length = dot(&column, &column).sqrt();
    (length > 1e-9 * values.len() as f64).then(|| column.iter().map(|own| own / length).collect())
}

fn largest(first: &[Vec<f64>], second: &[Vec<f64>]) -> Option<f64> {
    let pairs = first.iter().flat_map(|a| second.iter().map(move |b| dot(a, b)));
    pairs.max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// The number of independent columns, by Gram and Schmidt's method applied twice.
fn rank(columns: &[Vec<f64>]) -> usize {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let mut left = column.clone();
        for _ in 0..2 {
            for own in &basis {
                let shared = dot(&left, own);
                left.iter_mut().zip(own).for_each(|(left, own)| *left -= shared * own);
            }
        }
        let length = dot(&left, &left).sqrt();
        if length > 1e-8 {
            basis.push(left.iter().map(|own| own / length).collect());
        }
    }
    basis.len()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::study;

    fn of(factors: &[(&str, &str)], design: &str) -> Confounding {
        let study = study(factors, design);
        Confounding::of(&study, &Design::of(&study).unwrap()).unwrap()
    }

    const TWO: &str = "levels = [1, 2]";

    #[test]
    fn a_whole_factorial_mixes_nothing() {
        let found = of(&[("a", TWO), ("b", TWO), ("c", TWO)], "type = \"full\"");
        assert_eq!((found.coefficients, found.estimable), (6, 6));
        assert!(found.same.is_empty() && found.partial.is_empty() && found.constant.is_empty());
    }

    #[test]
    fn a_half_fraction_pairs_each_factor_with_a_product() {
        let found = of(&[("a", TWO), ("b", TWO), ("c", TWO)], "type = \"fractional\"\nruns = 4");
        let pairs: Vec<(&str, &str, f64)> = found
            .same
            .iter()
            .map(|own| (own.first.as_str(), own.second.as_str(), own.correlation.round()))
            .collect();
        assert_eq!(pairs, [("c", "a:b", 1.0), ("b", "a:c", 1.0), ("a", "b:c", 1.0)]);
        assert_eq!((found.coefficients, found.estimable), (6, 3));
    }

    #[test]
    fn rows_that_leave_a_factor_alone_say_so() {
        let rows = "type = \"table\"\nrows = [[1, 1], [2, 1], [1, 1]]";
        let found = of(&[("a", TWO), ("b", TWO)], rows);
        assert_eq!(found.constant, ["b"]);
        // With b at its low level throughout, the product is a with its sign turned.
        assert_eq!(found.same.len(), 1);
        assert!((found.same[0].correlation + 1.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_square_is_correlated_with_its_factor_where_levels_are_uneven() {
        let found = of(&[("a", "levels = [0, 1, 4]"), ("b", TWO)], "type = \"full\"");
        // Coded -1, -0.5 and 1 with squares 1, 0.25 and 1, about their means: products add up to
        // 1 / 4, squares to 13 / 6 and 3 / 8.
        let names = |pair: &EffectPair| format!("{} {}", pair.first, pair.second);
        assert_eq!(names(&found.partial[0]), "a a^2");
        let expected = 0.25 / (13.0f64 / 6.0 * 0.375).sqrt();
        assert!((found.partial[0].correlation - expected).abs() < 1e-9, "{found:?}");
        // The mean of a, -1 / 6, is left of b in a:b, whose squares have the mean 3 / 4.
        assert_eq!(names(&found.partial[1]), "b a:b");
        let expected = -1.0 / 6.0 / 0.75f64.sqrt();
        assert!((found.partial[1].correlation - expected).abs() < 1e-9, "{found:?}");
        assert_eq!(found.partial.len(), 2);
    }

    #[test]
    fn the_rank_counts_independent_columns() {
        let columns = [vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.6, 0.8, 0.0]];
        assert_eq!((rank(&columns), rank(&columns[..1]), rank(&[])), (2, 1, 0));
        assert!(unit_column(&[vec![2.0], vec![2.0]], 0).is_none());
    }
}
