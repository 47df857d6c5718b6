//! How alike the values at two points are: Matern 5/2 with a length a dimension.
//!
//! Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section 4.2.

use super::exponential::exponential;

const ROOT_5: f64 = 2.236_067_977_499_79;

/// How far two values of a dimension are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// By their difference.
    Difference,
    /// 1 where they differ, as categories do.
    Mismatch,
}

impl Distance {
    /// The square of the distance of two values.
    pub fn squared(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Difference => (a - b) * (a - b),
            Self::Mismatch => f64::from(u8::from(a != b)),
        }
    }
}

/// Correlation at a squared distance, measured in lengths.
#[inline]
pub(crate) fn correlation(squared: f64) -> f64 {
    let scaled = ROOT_5 * squared.sqrt();
    (1.0 + scaled + squared * (5.0 / 3.0)) * exponential(-scaled)
}

/// The correlation, and minus twice its slope along the squared distance.
#[inline]
fn correlation_and_steepness(squared: f64) -> (f64, f64) {
    let scaled = ROOT_5 * squared.sqrt();
    let fall = exponential(-scaled);
    ((1.0 + scaled + squared * (5.0 / 3.0)) * fall, (5.0 / 3.0) * (1.0 + scaled) * fall)
}

/// Squared distances of all pairs of points, dimension by dimension.
#[derive(Debug, Clone)]
pub(super) struct Pairs {
    points: usize,
    /// For each dimension the packed lower half without its diagonal.
    squared: Vec<Vec<f64>>,
}

impl Pairs {
    pub(super) fn of(points: &[Vec<f64>], distances: &[Distance]) -> Self {
        let column = |(dimension, distance): (usize, &Distance)| -> Vec<f64> {
            let below = |row: usize| {
                let own = points[row][dimension];
                points[..row].iter().map(move |other| distance.squared(own, other[dimension]))
            };
            (0..points.len()).flat_map(below).collect()
        };
        let squared = distances.iter().enumerate().map(column).collect();
        Self { points: points.len(), squared }
    }

    pub(super) fn points(&self) -> usize {
        self.points
    }

    pub(super) fn dimension(&self, index: usize) -> &[f64] {
        &self.squared[index]
    }

    /// Squared distances of the pairs in lengths.
    fn scaled(&self, lengths: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.points * self.points.saturating_sub(1) / 2];
        for (column, length) in self.squared.iter().zip(lengths) {
            let weight = 1.0 / (length * length);
            for (sum, squared) in sums.iter_mut().zip(column) {
                *sum += weight * squared;
            }
        }
        sums
    }

    /// Correlations of the pairs.
    pub(super) fn correlations(&self, lengths: &[f64]) -> Vec<f64> {
        let mut scaled = self.scaled(lengths);
        scaled.iter_mut().for_each(|own| *own = correlation(*own));
        scaled
    }

    /// Correlations of the pairs, and how steeply they fall.
    pub(super) fn correlations_and_slopes(&self, lengths: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut correlations = self.scaled(lengths);
        let mut slopes = vec![0.0; correlations.len()];
        for (own, slope) in correlations.iter_mut().zip(&mut slopes) {
            (*own, *slope) = correlation_and_steepness(*own);
        }
        (correlations, slopes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_correlation_is_that_of_the_book() {
        // Equation 4.17 for nu = 5/2 at distances of 0, half a length, one and three lengths.
        let book = |r: f64| {
            let a = 5f64.sqrt() * r;
            (1.0 + a + 5.0 * r * r / 3.0) * (-a).exp()
        };
        for r in [0.0, 0.5, 1.0, 3.0] {
            assert!((correlation(r * r) - book(r)).abs() < 1e-15, "{r}");
        }
    }

    #[test]
    fn the_slope_is_what_differences_give() {
        for squared in [0.01, 0.3, 1.0, 4.0] {
            let step = 1e-6 * squared;
            let rise = correlation(squared + step) - correlation(squared - step);
            let (own, steepness) = correlation_and_steepness(squared);
            assert_eq!(own, correlation(squared));
            assert!((steepness + rise / step).abs() < 1e-7, "{squared}");
        }
    }

    #[test]
    fn categories_are_one_apart_or_not_at_all() {
        assert_eq!(Distance::Mismatch.squared(0.0, 3.0), 1.0);
        assert_eq!(Distance::Mismatch.squared(2.0, 2.0), 0.0);
        assert_eq!(Distance::Difference.squared(0.25, 0.75), 0.25);
    }

    #[test]
    fn pairs_are_measured_in_the_lengths_of_their_dimensions() {
        let points = [vec![0.0, 0.0], vec![0.5, 1.0], vec![1.0, 0.0]];
        let pairs = Pairs::of(&points, &[Distance::Difference, Distance::Mismatch]);
        assert_eq!(pairs.scaled(&[0.5, 2.0]), [1.25, 4.0, 1.25]);
    }
}
