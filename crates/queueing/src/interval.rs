//! An estimate and how sure it is.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// An estimate with a confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies within.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Mean of at least two values with Student's interval.
    pub(crate) fn of_mean(values: &[f64], confidence: f64) -> Self {
        let count = values.len() as f64;
        let (mean, variance) = mean_and_variance(values);
        let t = StudentsT::new(0.0, 1.0, count - 1.0)
            .expect("two values leave a degree of freedom")
            .inverse_cdf(0.5 + 0.5 * confidence);
        let half = t * (variance / count).sqrt();
        Self { estimate: mean, low: mean - half, high: mean + half }
    }
}

/// Mean and sample variance (over n - 1).
pub(crate) fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0))
}

/// The value below which a fraction of sorted values lies, interpolated between neighbours.
pub(crate) fn sorted_quantile(sorted: &[f64], fraction: f64) -> f64 {
    let place = fraction * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - place.floor()) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // t(0.975, 2) = 4.302652729911275 (tables); variance 1, three values.
        let found = Interval::of_mean(&[1.0, 2.0, 3.0], 0.95);
        let half = 4.302652729911275 / 3f64.sqrt();
        assert!((found.high - 2.0 - half).abs() < 1e-9 && (found.low - 2.0 + half).abs() < 1e-9);
        assert!(found.contains(2.0) && !found.contains(9.0));
        assert_eq!(sorted_quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!(sorted_quantile(&[5.0], 0.9), 5.0);
    }
}
