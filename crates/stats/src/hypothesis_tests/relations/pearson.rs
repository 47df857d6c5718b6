//! Pearson's correlation of two samples.

use crate::distributions::{Normal, StudentT};
use crate::error::StatsError;
use crate::sample;

/// A correlation with its test and 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// Coefficient, from -1 to 1.
    pub r: f64,
    /// Its t statistic; `None` for a perfect correlation or two pairs.
    pub t: Option<f64>,
    /// Two-sided p-value of `t`, 0 for a perfect correlation; `None` for two pairs.
    pub p: Option<f64>,
    /// Interval by Fisher's transformation, a point for a perfect correlation; `None` below four
    /// pairs.
    pub interval: Option<[f64; 2]>,
}

/// Pearson's correlation of paired values.
///
/// # Errors
/// Fewer than two pairs, lengths that differ, or a constant sample.
pub fn pearson(x: &[f64], y: &[f64]) -> Result<Correlation, StatsError> {
    let what = "a correlation";
    sample::check(x, what, 2)?;
    sample::check(y, what, 2)?;
    if x.len() != y.len() {
        return Err(StatsError::LengthMismatch { what, expected: x.len(), found: y.len() });
    }
    sample::check_varies(x, what)?;
    sample::check_varies(y, what)?;
    let (mx, my) = (sample::mean_of(x), sample::mean_of(y));
    let along: f64 = x.iter().zip(y).map(|(a, b)| (a - mx) * (b - my)).sum();
    let lengths = (sample::squares_about_mean(x) * sample::squares_about_mean(y)).sqrt();
    // Rounding can carry a perfect correlation past 1.
    let r = (along / lengths).clamp(-1.0, 1.0);
    let n = x.len() as f64;
    let open = r.abs() < 1.0;
    let t = (open && x.len() > 2).then(|| r * ((n - 2.0) / ((1.0 - r) * (1.0 + r))).sqrt());
    let p = match t {
        Some(t) => Some(StudentT::new(n - 2.0)?.two_sided(t)),
        None => (x.len() > 2).then_some(0.0),
    };
    let interval = if x.len() > 3 {
        let half = Normal.quantile(0.975)? / (n - 3.0).sqrt();
        // The endless transform of a perfect correlation comes back as the correlation.
        Some([(r.atanh() - half).tanh(), (r.atanh() + half).tanh()])
    } else {
        None
    };
    Ok(Correlation { r, t, p, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_line_leaves_no_doubt() {
        for sign in [1.0, -1.0] {
            let y = [2.0, 4.0, 6.0, 8.0].map(|y| sign * y);
            let found = pearson(&[1.0, 2.0, 3.0, 4.0], &y).unwrap();
            assert_eq!((found.r, found.t, found.p), (sign, None, Some(0.0)));
            assert_eq!(found.interval, Some([sign, sign]));
        }
        let two = pearson(&[1.0, 2.0], &[2.0, 4.0]).unwrap();
        assert_eq!((two.p, two.interval), (None, None));
    }

    #[test]
    fn samples_that_cannot_correlate_are_errors() {
        assert!(pearson(&[1.0], &[1.0]).is_err());
        assert!(pearson(&[1.0, 2.0], &[1.0]).is_err());
        assert!(pearson(&[1.0, 2.0], &[3.0, 3.0]).is_err());
    }
}
