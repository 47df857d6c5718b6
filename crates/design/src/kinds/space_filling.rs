//! How evenly points fill the unit cube.

use serde::Serialize;

use crate::error::DesignError;

/// Measures of how evenly points fill the unit cube.
///
/// The discrepancies are those of Hickernell, "A generalized discrepancy and quadrature error
/// bound", Mathematics of Computation 67, 1998; smaller is more even.
///
/// ```
/// use trainwright_design::SpaceFilling;
///
/// let measured = SpaceFilling::of(&[vec![0.25, 0.75], vec![0.75, 0.25]])?;
/// assert_eq!(measured.minimum_distance, Some(0.5f64.sqrt()));
/// # Ok::<(), trainwright_design::DesignError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpaceFilling {
    /// Distance of the two closest points; absent for a single point.
    pub minimum_distance: Option<f64>,
    /// Largest correlation of two columns, whatever its sign; absent for a single column, and
    /// where a column is constant.
    pub largest_correlation: Option<f64>,
    /// Centred discrepancy, squared.
    pub centred_discrepancy: f64,
    /// Wrap-around discrepancy, squared.
    pub wrap_around_discrepancy: f64,
    /// L2-star discrepancy.
    pub star_discrepancy: f64,
}

impl SpaceFilling {
    /// Measures points; the time grows with the square of their number.
    ///
    /// # Errors
    /// No points, points of different dimensions or without any, coordinates outside 0 to 1.
    pub fn of(points: &[Vec<f64>]) -> Result<Self, DesignError> {
        check(points)?;
        Ok(Self {
            minimum_distance: minimum_distance(points),
            largest_correlation: largest_correlation(points),
            centred_discrepancy: centred_discrepancy(points),
            wrap_around_discrepancy: wrap_around_discrepancy(points),
            star_discrepancy: star_discrepancy(points),
        })
    }
}

fn check(points: &[Vec<f64>]) -> Result<(), DesignError> {
    let expected = points.first().map_or(0, Vec::len);
    if expected == 0 {
        return Err(DesignError::NoPoints);
    }
    for (row, point) in (1..).zip(points) {
        if point.len() != expected {
            return Err(DesignError::RaggedPoints { row, columns: point.len(), expected });
        }
        if let Some(place) = point.iter().position(|value| !(0.0..=1.0).contains(value)) {
            let (column, value) = (place + 1, point[place]);
            return Err(DesignError::OutsideUnitCube { row, column, value });
        }
    }
    Ok(())
}

fn minimum_distance(points: &[Vec<f64>]) -> Option<f64> {
    let squares = points.iter().enumerate().flat_map(|(row, a)| {
        points[..row]
            .iter()
            .map(move |b| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum() })
    });
    squares.min_by(f64::total_cmp).map(f64::sqrt)
}

fn largest_correlation(points: &[Vec<f64>]) -> Option<f64> {
    let columns: Vec<Vec<f64>> =
        (0..points[0].len()).map(|column| standardised(points, column)).collect::<Option<_>>()?;
    let pairs = columns.iter().enumerate().flat_map(|(place, a)| {
        columns[..place]
            .iter()
            .map(move |b| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>().abs() })
    });
    // Rounding may carry the correlation of two equal columns past 1.
    pairs.max_by(f64::total_cmp).map(|largest| largest.min(1.0))
}

/// A column less its mean, scaled to length 1; absent where it is constant.
fn standardised(points: &[Vec<f64>], column: usize) -> Option<Vec<f64>> {
    if points.iter().all(|point| point[column] == points[0][column]) {
        return None;
    }
    let mean = points.iter().map(|point| point[column]).sum::<f64>() / points.len() as f64;
    let centred: Vec<f64> = points.iter().map(|point| point[column] - mean).collect();
    let length = centred.iter().map(|value| value * value).sum::<f64>().sqrt();
    Some(centred.into_iter().map(|value| value / length).collect())
}

/// Fang, Li and Sudjianto, "Design and Modeling for Computer Experiments", 2006, section 3.2.
fn centred_discrepancy(points: &[Vec<f64>]) -> f64 {
    let off = |x: f64| (x - 0.5).abs();
    let single = mean_product(points, |x| 1.0 + 0.5 * off(x) - 0.5 * off(x) * off(x));
    let double =
        mean_pair_product(points, |x, y| 1.0 + 0.5 * off(x) + 0.5 * off(y) - 0.5 * (x - y).abs());
    (13.0f64 / 12.0).powi(dimensions(points)) - 2.0 * single + double
}

/// Fang, Li and Sudjianto, "Design and Modeling for Computer Experiments", 2006, section 3.2.
fn wrap_around_discrepancy(points: &[Vec<f64>]) -> f64 {
    let double = mean_pair_product(points, |x, y| {
        let apart = (x - y).abs();
        1.5 - apart * (1.0 - apart)
    });
    double - (4.0f64 / 3.0).powi(dimensions(points))
}

/// Warnock, "Computational investigations of low-discrepancy point sets", in "Applications of
/// Number Theory to Numerical Analysis", 1972.
fn star_discrepancy(points: &[Vec<f64>]) -> f64 {
    let single = mean_product(points, |x| (1.0 - x * x) / 2.0);
    let double = mean_pair_product(points, |x, y| 1.0 - x.max(y));
    let squared = 3.0f64.powi(-dimensions(points)) - 2.0 * single + double;
    // A sum of squares by definition, so that anything below zero is rounding.
    squared.max(0.0).sqrt()
}

fn dimensions(points: &[Vec<f64>]) -> i32 {
    i32::try_from(points[0].len()).expect("points have far fewer than 2^31 coordinates")
}

fn mean_product(points: &[Vec<f64>], term: impl Fn(f64) -> f64) -> f64 {
    let products = points.iter().map(|point| point.iter().map(|&x| term(x)).product::<f64>());
    products.sum::<f64>() / points.len() as f64
}

fn mean_pair_product(points: &[Vec<f64>], term: impl Fn(f64, f64) -> f64) -> f64 {
    let row_sum = |a: &Vec<f64>| -> f64 {
        points.iter().map(|b| a.iter().zip(b).map(|(&x, &y)| term(x, y)).product::<f64>()).sum()
    };
    points.iter().map(row_sum).sum::<f64>() / (points.len() as f64).powi(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The integral over boxes from 0 to t of the squared gap between volume and share of points,
    /// by the midpoint rule.
    fn star_by_quadrature(points: &[Vec<f64>]) -> f64 {
        let cells = 400;
        let middle = |cell: usize| (cell as f64 + 0.5) / cells as f64;
        let gap = |t: [f64; 2]| {
            let inside = points.iter().filter(|point| point[0] < t[0] && point[1] < t[1]).count();
            t[0] * t[1] - inside as f64 / points.len() as f64
        };
        let squares =
            (0..cells).flat_map(|a| (0..cells).map(move |b| gap([middle(a), middle(b)]).powi(2)));
        (squares.sum::<f64>() / (cells * cells) as f64).sqrt()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        #[test]
        fn star_discrepancy_is_the_integral_it_stands_for(
            points in prop::collection::vec(prop::collection::vec(0.0..1.0, 2), 1..12),
        ) {
            // The midpoint rule errs by less than a cell's width along the steps of the count.
            let (closed, sum) = (star_discrepancy(&points), star_by_quadrature(&points));
            prop_assert!((closed - sum).abs() < 0.01, "{closed} and {sum}");
        }

        #[test]
        fn centred_discrepancy_ignores_reflection_and_wrap_around_ignores_shifts(
            points in prop::collection::vec(prop::collection::vec(0.0..1.0, 3), 1..12),
            shift in 0.0f64..1.0,
        ) {
            let moved = |by: &dyn Fn(f64) -> f64| -> Vec<Vec<f64>> {
                points.iter().map(|point| vec![by(point[0]), point[1], point[2]]).collect()
            };
            let mirrored = moved(&|x| 1.0 - x);
            // A few hundred terms of size one, each rounded to 1e-16.
            prop_assert!(
                (centred_discrepancy(&points) - centred_discrepancy(&mirrored)).abs() < 1e-12
            );
            let shifted = moved(&|x: f64| (x + shift).fract());
            prop_assert!(
                (wrap_around_discrepancy(&points) - wrap_around_discrepancy(&shifted)).abs() < 1e-12
            );
        }
    }

    /// A single point in the middle of the interval: 13/12 - 2 + 1, 3/2 - 4/3, 1/12.
    #[test]
    fn one_point_has_the_discrepancies_found_by_hand() {
        let measured = SpaceFilling::of(&[vec![0.5]]).unwrap();
        assert!((measured.centred_discrepancy - 1.0 / 12.0).abs() < 1e-15);
        assert!((measured.wrap_around_discrepancy - 1.0 / 6.0).abs() < 1e-15);
        assert!((measured.star_discrepancy.powi(2) - 1.0 / 12.0).abs() < 1e-15);
        assert_eq!((measured.minimum_distance, measured.largest_correlation), (None, None));
    }

    #[test]
    fn a_constant_column_has_no_correlation() {
        let measured = SpaceFilling::of(&[vec![0.1, 0.3], vec![0.1, 0.6]]).unwrap();
        assert_eq!(measured.largest_correlation, None);
    }

    #[test]
    fn what_is_no_point_of_the_cube_is_named() {
        let refused = |points: &[Vec<f64>]| SpaceFilling::of(points).unwrap_err();
        assert_eq!(refused(&[]), DesignError::NoPoints);
        assert_eq!(refused(&[vec![]]), DesignError::NoPoints);
        assert_eq!(
            refused(&[vec![0.5, 0.5], vec![0.5]]),
            DesignError::RaggedPoints { row: 2, columns: 1, expected: 2 }
        );
        assert_eq!(
            refused(&[vec![0.5, 1.5]]).to_string(),
            "coordinate 2 of point 1 is 1.5, outside 0 to 1"
        );
        assert!(matches!(refused(&[vec![f64::NAN]]), DesignError::OutsideUnitCube { .. }));
    }
}
