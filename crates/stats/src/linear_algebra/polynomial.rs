//! Orthogonal polynomials of a sample (Forsythe, Journal of the Society for Industrial and
//! Applied Mathematics 5, 1957).

use crate::error::StatsError;
use crate::sample;

/// Columns of degree 1 up to `degree`: polynomials of the values that are orthogonal to each
/// other and to the constant, of unit length, with a positive leading coefficient, as `poly` in R
/// has them.
///
/// # Errors
/// Values that are not finite, or too few distinct ones for the degree.
///
/// ```
/// use trainwright_stats::orthogonal_polynomials;
///
/// let columns = orthogonal_polynomials(&[1.0, 2.0, 3.0], 2)?;
/// assert!((columns[1][1] + (2.0f64 / 3.0).sqrt()).abs() < 1e-12);
/// # Ok::<(), trainwright_stats::StatsError>(())
/// ```
pub fn orthogonal_polynomials(values: &[f64], degree: usize) -> Result<Vec<Vec<f64>>, StatsError> {
    let what = "a polynomial";
    sample::check(values, what, 1)?;
    let mut distinct = values.to_vec();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    if distinct.len() <= degree {
        let what = "a polynomial of this degree";
        return Err(StatsError::TooFew { what, needed: degree + 1, found: distinct.len() });
    }
    let centre = sample::mean_of(values);
    let reach = values.iter().fold(0.0f64, |m, v| m.max((v - centre).abs()));
    let scaled: Vec<f64> = values.iter().map(|v| (v - centre) / reach).collect();
    let mut found = vec![vec![(values.len() as f64).sqrt().recip(); values.len()]];
    for _ in 0..degree {
        let last = found.last().expect("the constant is there");
        let mut next: Vec<f64> = last.iter().zip(&scaled).map(|(p, x)| p * x).collect();
        // Twice is enough for orthogonality to rounding.
        for _ in 0..2 {
            for column in &found {
                let share: f64 = next.iter().zip(column).map(|(a, b)| a * b).sum();
                next.iter_mut().zip(column).for_each(|(a, b)| *a -= share * b);
            }
        }
        let length = next.iter().map(|v| v * v).sum::<f64>().sqrt();
        next.iter_mut().for_each(|v| *v /= length);
        found.push(next);
    }
    found.remove(0);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn columns_are_orthonormal_and_rise_in_degree(
            values in prop::collection::vec(-100.0..100.0f64, 12), shift in -1e5..1e5f64,
        ) {
            let x: Vec<f64> = values.iter().map(|v| v + shift).collect();
            let columns = orthogonal_polynomials(&x, 4).unwrap();
            for (i, a) in columns.iter().enumerate() {
                prop_assert!(a.iter().sum::<f64>().abs() < 1e-9);
                for (j, b) in columns.iter().enumerate() {
                    let product: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
                    prop_assert!((product - f64::from(u8::from(i == j))).abs() < 1e-9);
                }
            }
            // The leading coefficient is positive: divided differences of that order are.
            let moments: f64 = columns[0].iter().zip(&x).map(|(p, x)| p * x).sum();
            prop_assert!(moments > 0.0);
        }
    }

    #[test]
    fn equal_steps_give_the_columns_of_the_tables() {
        // Fisher and Yates, Statistical Tables, five equally spaced values.
        let columns = orthogonal_polynomials(&[1.0, 2.0, 3.0, 4.0, 5.0], 4).unwrap();
        let table = [[-2, -1, 0, 1, 2], [2, -1, -2, -1, 2], [-1, 2, 0, -2, 1], [1, -4, 6, -4, 1]];
        for (column, row) in columns.iter().zip(table) {
            let length = row.iter().map(|v| f64::from(v * v)).sum::<f64>().sqrt();
            for (found, expected) in column.iter().zip(row) {
                assert!((found - f64::from(expected) / length).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_degree_beyond_the_distinct_values_is_an_error() {
        let error = orthogonal_polynomials(&[1.0, 1.0, 2.0, 2.0], 2).unwrap_err();
        assert!(matches!(error, StatsError::TooFew { needed: 3, found: 2, .. }));
    }
}
