//! A two-level cube, points on its axes and its centre: enough to fit a curved surface.
//!
//! Box and Wilson, "On the experimental attainment of optimum conditions", Journal of the Royal
//! Statistical Society B 13, 1951. The cube is the full one; fractions of it are not offered.

use serde::Serialize;

use crate::error::DesignError;
use crate::size::check_centre_points;
use crate::two_level::word::LETTERS;

/// Factors at which the cube alone has half a million rows.
const MOST_FACTORS: usize = 19;

/// A central composite design in coded units.
///
/// ```
/// use trainwright_design::{Alpha, CentralComposite, CentrePoints, Star};
///
/// let centre = CentrePoints { cube: 0, star: 5 };
/// let design = CentralComposite::new(2, Star::Circumscribed(Alpha::Rotatable), centre)?;
/// assert_eq!(design.rows().len(), 4 + 4 + 5);
/// assert_eq!(design.alpha(), 2f64.sqrt());
/// # Ok::<(), trainwright_design::DesignError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CentralComposite {
    factors: Vec<char>,
    rows: Vec<Vec<f64>>,
    alpha: f64,
}

/// Where the axial points lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Star {
    /// Outside the cube, whose corners are at -1 and +1.
    Circumscribed(Alpha),
    /// At -1 and +1, with the cube shrunk so that nothing lies beyond.
    Inscribed(Alpha),
    /// On the faces of the cube, so that three levels a factor are enough.
    FaceCentred,
}

/// How far the axial points are from the centre, counted in half edges of the cube.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alpha {
    /// The variance of a prediction depends on the distance from the centre alone.
    Rotatable,
    /// Cube and star, each with its centre points, are orthogonal blocks.
    Orthogonal,
}

/// How often the centre runs with the cube, and how often with the star.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CentrePoints {
    /// Centre points after the cube.
    pub cube: usize,
    /// Centre points after the star.
    pub star: usize,
}

impl CentralComposite {
    /// The design of this many factors.
    ///
    /// # Errors
    /// Fewer than 2 factors, or more than fit the limit of rows.
    pub fn new(factors: usize, star: Star, centre: CentrePoints) -> Result<Self, DesignError> {
        if !(2..=MOST_FACTORS).contains(&factors) {
            let design = "central composite";
            let (least, most) = (2, MOST_FACTORS);
            return Err(DesignError::FactorsOutOfRange { design, factors, least, most });
        }
        let corners = 1usize << factors;
        check_centre_points(corners + 2 * factors, centre.cube.saturating_add(centre.star) as u64)?;
        let (alpha, corner, axial) = match star {
            Star::Circumscribed(kind) => {
                let alpha = distance(factors, kind, centre);
                (alpha, 1.0, alpha)
            }
            Star::Inscribed(kind) => {
                let alpha = distance(factors, kind, centre);
                (alpha, 1.0 / alpha, 1.0)
            }
            Star::FaceCentred => (1.0, 1.0, 1.0),
        };
        let middle = vec![0.0; factors];
        let mut rows: Vec<Vec<f64>> =
            (0..corners).map(|run| cube_row(factors, run, corner)).collect();
        rows.extend(std::iter::repeat_n(middle.clone(), centre.cube));
        rows.extend((0..2 * factors).map(|place| axial_row(factors, place, axial)));
        rows.extend(std::iter::repeat_n(middle, centre.star));
        Ok(Self { factors: LETTERS[..factors].to_vec(), rows, alpha })
    }

    /// Factor letters in order.
    pub fn factors(&self) -> &[char] {
        &self.factors
    }

    /// The cube in standard order, its centre points, the star, its centre points.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// Distance of the axial points from the centre, in half edges of the cube.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

/// Box and Hunter, "Multi-factor experimental designs for exploring response surfaces", Annals of
/// Mathematical Statistics 28, 1957: rotatable where alpha^4 is the number of corners F;
/// orthogonal blocks where alpha^2 = k (1 + s0 / 2k) / (1 + c0 / F) for k factors and c0 and s0
/// centre points with cube and star. Both hold for a whole cube that runs once.
fn distance(factors: usize, kind: Alpha, centre: CentrePoints) -> f64 {
    let (factors, corners) = (factors as f64, (1u64 << factors) as f64);
    match kind {
        Alpha::Rotatable => corners.sqrt().sqrt(),
        Alpha::Orthogonal => {
            let star = 1.0 + centre.star as f64 / (2.0 * factors);
            let cube = 1.0 + centre.cube as f64 / corners;
            (factors * star / cube).sqrt()
        }
    }
}

fn cube_row(factors: usize, run: usize, corner: f64) -> Vec<f64> {
    (0..factors).map(|factor| if run >> factor & 1 == 1 { corner } else { -corner }).collect()
}

fn axial_row(factors: usize, place: usize, axial: f64) -> Vec<f64> {
    let mut row = vec![0.0; factors];
    row[place / 2] = if place.is_multiple_of(2) { -axial } else { axial };
    row
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn design(factors: usize, star: Star, cube: usize, centre: usize) -> CentralComposite {
        CentralComposite::new(factors, star, CentrePoints { cube, star: centre }).unwrap()
    }

    /// The sum over rows of a product of powers of columns.
    fn moment(rows: &[Vec<f64>], powers: &[(usize, i32)]) -> f64 {
        rows.iter()
            .map(|row| {
                powers.iter().map(|&(column, power)| row[column].powi(power)).product::<f64>()
            })
            .sum()
    }

    proptest! {
        /// Rotatability asks for fourth moments three times the mixed ones, and no odd moments
        /// (Box and Hunter, 1957).
        #[test]
        fn rotatable_designs_have_rotatable_moments(
            factors in 2usize..8, cube in 0usize..5, centre in 0usize..5,
        ) {
            for star in [Star::Circumscribed(Alpha::Rotatable), Star::Inscribed(Alpha::Rotatable)] {
                let design = design(factors, star, cube, centre);
                let pure = moment(design.rows(), &[(0, 4)]);
                let mixed = moment(design.rows(), &[(0, 2), (1, 2)]);
                prop_assert!((pure / mixed - 3.0).abs() < 1e-12, "{pure} and {mixed}");
                for powers in [&[(0, 1)][..], &[(0, 1), (1, 1)], &[(0, 3)], &[(0, 2), (1, 1)]] {
                    prop_assert!(moment(design.rows(), powers).abs() < 1e-9, "{powers:?}");
                }
            }
        }

        /// Blocks are orthogonal where each has its share of every factor's sum of squares.
        #[test]
        fn orthogonal_designs_have_orthogonal_blocks(
            factors in 2usize..8, cube in 0usize..9, centre in 0usize..9,
        ) {
            let design = design(factors, Star::Circumscribed(Alpha::Orthogonal), cube, centre);
            let (first, second) = design.rows().split_at((1 << factors) + cube);
            let mean_square = |rows: &[Vec<f64>]| moment(rows, &[(0, 2)]) / rows.len() as f64;
            prop_assert!((mean_square(first) - mean_square(second)).abs() < 1e-12);
        }
    }

    #[test]
    fn kinds_differ_in_scale_alone() {
        let outer = design(3, Star::Circumscribed(Alpha::Rotatable), 2, 2);
        let inner = design(3, Star::Inscribed(Alpha::Rotatable), 2, 2);
        for (wide, narrow) in outer.rows().iter().flatten().zip(inner.rows().iter().flatten()) {
            assert!((wide / outer.alpha() - narrow).abs() < 1e-15);
        }
        let faced = design(3, Star::FaceCentred, 2, 2);
        assert!(faced.rows().iter().flatten().all(|value| [-1.0, 0.0, 1.0].contains(value)));
        assert_eq!(faced.alpha(), 1.0);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let refused = |factors, cube| {
            CentralComposite::new(factors, Star::FaceCentred, CentrePoints { cube, star: 0 })
                .unwrap_err()
        };
        assert_eq!(
            refused(1, 0).to_string(),
            "a central composite design has 2 to 19 factors, not 1"
        );
        assert!(matches!(refused(20, 0), DesignError::FactorsOutOfRange { .. }));
        assert!(matches!(refused(2, usize::MAX), DesignError::TooManyCentrePoints { .. }));
    }
}
