//! Serial correlation of residuals (Durbin and Watson, Biometrika 37 and 38, 1950-51).

use crate::distributions::Normal;
use crate::error::StatsError;
use crate::hypothesis_tests::residuals::durbin_watson_exact::lower_tail;
use crate::linear_algebra::orthogonal::Orthogonal;
use crate::ranks::TailMethod;

/// Observations from which the normal approximation serves; `dwtest` in R's lmtest changes over
/// at the same number, where the two differ by about 0.001.
const LARGE: usize = 100;

/// The Durbin-Watson statistic with its p-values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DurbinWatson {
    /// Squared steps between neighbouring residuals over squared residuals: 2 without serial
    /// correlation, towards 0 with positive and 4 with negative correlation.
    pub statistic: f64,
    /// Chance of a smaller statistic without serial correlation: evidence that neighbours
    /// resemble each other.
    pub p_positive: f64,
    /// Chance of a larger statistic: evidence that neighbours oppose each other.
    pub p_negative: f64,
    /// Two-sided p-value.
    pub p: f64,
    /// Exact, or by the normal approximation with exact mean and variance.
    pub method: TailMethod,
}

/// Statistic and p-value: exact below 100 observations, and from the normal distribution with
/// the statistic's mean and variance (Durbin and Watson, Biometrika 38, 1951) beyond, or where
/// the exact integral does not settle.
pub(crate) fn durbin_watson(
    decomposition: &Orthogonal,
    residuals: &[f64],
) -> Result<DurbinWatson, StatsError> {
    let what = "the Durbin-Watson statistic";
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let df = residuals.len() as f64 - decomposition.rank() as f64;
    if df < 3.0 || squares <= 0.0 {
        return Err(StatsError::Undefined { what, reason: "the fit leaves too few residuals" });
    }
    let steps: f64 = residuals.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum();
    let statistic = steps / squares;
    let exact = (residuals.len() < LARGE)
        .then(|| lower_tail(decomposition, statistic))
        .and_then(Result::ok);
    let (p_positive, p_negative, method) = match exact {
        Some(lower) => (lower, 1.0 - lower, TailMethod::Exact),
        None => {
            let (mean, variance) = moments(decomposition, residuals.len(), df);
            // Directions left that all have the same statistic leave nothing to chance.
            if variance <= 1e-12 {
                let reason = "the model leaves only one possible value";
                return Err(StatsError::Undefined { what, reason });
            }
            let score = (statistic - mean) / variance.sqrt();
            (Normal.upper_tail(-score), Normal.upper_tail(score), TailMethod::Normal)
        }
    };
    let p = (2.0 * p_positive.min(p_negative)).min(1.0);
    Ok(DurbinWatson { statistic, p_positive, p_negative, p, method })
}

/// Mean and variance of the statistic under independence, from traces of MA and (MA)^2, where M
/// projects off the model and A is the squared-step form.
fn moments(decomposition: &Orthogonal, n: usize, df: f64) -> (f64, f64) {
    let basis = decomposition.basis();
    let stepped: Vec<Vec<f64>> = basis.iter().map(|q| second_difference(q)).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let n = n as f64;
    let trace_a = 2.0 * (n - 1.0);
    let trace_a2 = 6.0 * n - 8.0;
    let mut trace = trace_a;
    let mut trace2 = trace_a2;
    for (i, q) in basis.iter().enumerate() {
        trace -= dot(q, &stepped[i]);
        trace2 -= 2.0 * dot(&stepped[i], &stepped[i]);
        trace2 += stepped.iter().map(|s| dot(q, s).powi(2)).sum::<f64>();
    }
    let mean = trace / df;
    (mean, 2.0 * (trace2 - trace * mean) / (df * (df + 2.0)))
}

/// A times a vector: A has 2 on the diagonal (1 at both ends) and -1 beside it.
fn second_difference(vector: &[f64]) -> Vec<f64> {
    let last = vector.len() - 1;
    (0..=last)
        .map(|i| {
            let before = if i > 0 { vector[i] - vector[i - 1] } else { 0.0 };
            let after = if i < last { vector[i] - vector[i + 1] } else { 0.0 };
            before + after
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{Columns, StatsError, least_squares};

    fn of(y: &[f64]) -> Result<super::DurbinWatson, StatsError> {
        least_squares(&Columns::new(vec![vec![1.0; y.len()]])?, y)?.durbin_watson()
    }

    #[test]
    fn a_drift_and_a_zigzag_lie_at_opposite_ends() {
        let drift: Vec<f64> = (0..30).map(f64::from).collect();
        let zigzag: Vec<f64> = (0..30).map(|i| f64::from(i % 2)).collect();
        let (low, high) = (of(&drift).unwrap(), of(&zigzag).unwrap());
        assert!(low.statistic < 0.1 && low.p_positive < 1e-6 && low.p < 1e-6);
        assert!(high.statistic > 3.8 && high.p_positive > 0.999 && high.p < 1e-6);
    }

    #[test]
    fn too_few_residuals_are_an_error() {
        assert!(matches!(of(&[1.0, 2.0, 4.0]), Err(StatsError::Undefined { .. })));
    }
}
