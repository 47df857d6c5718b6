//! Least squares with coefficients that cannot be negative.

use crate::error::StatsError;
use crate::linear_algebra::orthogonal::{Columns, Orthogonal};
use crate::sample;

/// Slope below this share of the lengths involved is rounding.
const FLAT: f64 = 1e-12;

/// A fit whose coefficients are zero or positive.
#[derive(Debug, Clone, PartialEq)]
pub struct NonNegative {
    /// One coefficient a column.
    pub coefficients: Vec<f64>,
    /// Columns with a positive coefficient, in order.
    pub free: Vec<usize>,
    /// Sum of squared residuals.
    pub ss_residual: f64,
}

/// Fits `response` to the columns with coefficients of at least zero (Lawson and Hanson, Solving
/// Least Squares Problems, 1974, section 23.3).
///
/// Of columns that others already determine, one is used and the rest get zero.
///
/// # Errors
/// A response that is not finite or of another length than the columns.
pub fn non_negative_least_squares(
    matrix: &Columns,
    response: &[f64],
) -> Result<NonNegative, StatsError> {
    sample::check(response, "the response", 1)?;
    if response.len() != matrix.rows() {
        let (expected, found) = (matrix.rows(), response.len());
        return Err(StatsError::LengthMismatch { what: "the response", expected, found });
    }
    let width = matrix.width();
    let length = |column: &[f64]| column.iter().map(|v| v * v).sum::<f64>().sqrt();
    let lengths: Vec<f64> = matrix.iter().map(length).collect();
    let size = length(response);
    let mut x = vec![0.0; width];
    let mut free: Vec<usize> = Vec::new();
    // Columns that could not be freed since the last progress.
    let mut barred = vec![false; width];
    loop {
        let residuals = residuals(matrix, response, &x);
        let slope = |j: usize| dot(matrix.column(j), &residuals) / lengths[j];
        let steepest = (0..width)
            .filter(|&j| !free.contains(&j) && !barred[j] && lengths[j] > 0.0)
            .map(|j| (j, slope(j)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((new, _)) = steepest.filter(|(_, slope)| *slope > FLAT * size) else { break };
        free.push(new);
        free.sort_unstable();
        if !improve(matrix, response, &mut x, &mut free, new) {
            barred[new] = true;
            continue;
        }
        barred.fill(false);
    }
    let residuals = residuals(matrix, response, &x);
    Ok(NonNegative { coefficients: x, free, ss_residual: dot(&residuals, &residuals) })
}

/// Moves to the least-squares solution over the free columns, giving up those that turn negative.
///
/// False where the new column brings nothing, which leaves everything as it was.
fn improve(
    matrix: &Columns,
    response: &[f64],
    x: &mut [f64],
    free: &mut Vec<usize>,
    new: usize,
) -> bool {
    let mut first = true;
    while !free.is_empty() {
        let solved = solve(matrix, response, free).filter(|z| {
            let place = free.iter().position(|&j| j == new);
            !first || place.is_none_or(|at| z[at] > 0.0)
        });
        let Some(z) = solved else {
            free.retain(|&j| j != new);
            return false;
        };
        first = false;
        let blocking = free.iter().zip(&z).filter(|(_, z)| **z <= 0.0);
        let part = blocking.map(|(&j, z)| x[j] / (x[j] - z)).fold(f64::INFINITY, f64::min);
        if part == f64::INFINITY {
            x.fill(0.0);
            free.iter().zip(z).for_each(|(&j, z)| x[j] = z);
            return true;
        }
        let negative: Vec<usize> =
            free.iter().zip(&z).filter(|(_, z)| **z <= 0.0).map(|(&j, _)| j).collect();
        free.iter().zip(z).for_each(|(&j, z)| x[j] += part * (z - x[j]));
        // The one that stopped the move is at zero up to rounding; others may be there with it.
        let at_zero = |j: &usize| negative.contains(j) && x[*j] <= f64::EPSILON;
        let least = negative.iter().copied().min_by(|a, b| x[*a].total_cmp(&x[*b]));
        let gone: Vec<usize> =
            free.iter().copied().filter(|j| at_zero(j) || Some(*j) == least).collect();
        gone.iter().for_each(|&j| x[j] = 0.0);
        free.retain(|j| !gone.contains(j));
    }
    true
}

/// Least squares over some columns; nothing where one of them is determined by the others.
fn solve(matrix: &Columns, response: &[f64], free: &[usize]) -> Option<Vec<f64>> {
    let columns = free.iter().map(|&j| matrix.column(j).to_vec()).collect();
    let chosen = Columns::new(columns).expect("columns of a matrix form a matrix");
    let decomposition = Orthogonal::new(&chosen);
    (decomposition.rank() == free.len())
        .then(|| decomposition.solve(&decomposition.rotate(response)))
}

fn residuals(matrix: &Columns, response: &[f64], x: &[f64]) -> Vec<f64> {
    let mut left = response.to_vec();
    for (column, x) in matrix.iter().zip(x) {
        left.iter_mut().zip(column).for_each(|(r, v)| *r -= x * v);
    }
    left
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matrix(columns: &[&[f64]]) -> Columns {
        Columns::new(columns.iter().map(|c| c.to_vec()).collect()).unwrap()
    }

    #[test]
    fn a_falling_line_keeps_only_its_level() {
        let found = non_negative_least_squares(
            &matrix(&[&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]]),
            &[9.0, 6.0, 3.0],
        );
        let found = found.unwrap();
        assert_eq!(found.free, [0]);
        assert!((found.coefficients[0] - 6.0).abs() < 1e-14 && found.coefficients[1] == 0.0);
        assert!((found.ss_residual - 18.0).abs() < 1e-12);
    }

    #[test]
    fn repeated_and_empty_columns_do_no_harm() {
        let columns = matrix(&[&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0], &[0.0, 0.0, 0.0]]);
        let found = non_negative_least_squares(&columns, &[2.0, 4.0, 6.0]).unwrap();
        assert_eq!(found.free.len(), 1);
        assert!(found.ss_residual < 1e-24);
        let none = non_negative_least_squares(&columns, &[-1.0, -1.0, -1.0]).unwrap();
        assert_eq!(none.coefficients, [0.0; 3]);
        assert!(non_negative_least_squares(&columns, &[1.0]).is_err());
    }

    /// The best of all subsets of columns whose plain least squares is not negative.
    fn best_of_subsets(columns: &Columns, y: &[f64]) -> f64 {
        (0..1usize << columns.width())
            .filter_map(|mask| {
                let free: Vec<usize> =
                    (0..columns.width()).filter(|j| mask >> j & 1 == 1).collect();
                let mut x = vec![0.0; columns.width()];
                if !free.is_empty() {
                    let z = solve(columns, y, &free)?;
                    if z.iter().any(|z| *z < 0.0) {
                        return None;
                    }
                    free.iter().zip(z).for_each(|(&j, z)| x[j] = z);
                }
                let left = residuals(columns, y, &x);
                Some(dot(&left, &left))
            })
            .fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn the_conditions_of_karush_kuhn_and_tucker_hold(
            cells in prop::collection::vec(-3.0..3.0f64, 40),
            y in prop::collection::vec(-3.0..3.0f64, 8),
        ) {
            let columns = Columns::new(cells.chunks(8).map(<[f64]>::to_vec).collect()).unwrap();
            let found = non_negative_least_squares(&columns, &y).unwrap();
            let left = residuals(&columns, &y, &found.coefficients);
            for (j, &x) in found.coefficients.iter().enumerate() {
                let slope = dot(columns.column(j), &left);
                prop_assert!(x >= 0.0 && slope < 1e-9);
                prop_assert!(x == 0.0 || slope.abs() < 1e-9);
                prop_assert_eq!(x > 0.0, found.free.contains(&j));
            }
            prop_assert!((found.ss_residual - best_of_subsets(&columns, &y)).abs() < 1e-9);
        }
    }
}
