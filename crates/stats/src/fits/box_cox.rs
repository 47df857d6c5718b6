//! Box-Cox choice of a power for the response (Box and Cox, Journal of the Royal Statistical
//! Society B 26, 1964).

use crate::distributions::ChiSquared;
use crate::error::StatsError;
use crate::fits::least_squares::check_response;
use crate::linear_algebra::orthogonal::{Columns, Orthogonal};
use crate::root::root;
use crate::sample;

/// Exponents up to which powers of the response, and squares of them, are ordinary numbers.
const MOST_EXPONENT: f64 = 300.0;

/// Powers are searched from minus to plus this value.
pub const LARGEST_POWER: f64 = 8.0;

/// The most likely power, with its 95 % likelihood interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxCox {
    /// Power that maximises the profile likelihood; 0 stands for the logarithm, 1 for no change.
    pub lambda: f64,
    /// Lower end of the interval; `None` if it lies below the powers searched.
    pub low: Option<f64>,
    /// Upper end of the interval; `None` if it lies above the powers searched.
    pub high: Option<f64>,
    /// Profile log-likelihood at the maximum, without its constants.
    pub log_likelihood: f64,
    /// p-value of the likelihood ratio of no change, the power 1.
    pub p_unchanged: f64,
}

/// Finds the power of the response under which the model fits best with normal residuals.
///
/// # Errors
/// A response with values that are not positive, a model that fits exactly, or a likelihood
/// that still rises at the largest power searched.
pub fn box_cox(matrix: &Columns, response: &[f64]) -> Result<BoxCox, StatsError> {
    let profile = Profile::new(matrix, response)?;
    let (lambda, log_likelihood) = profile.maximum()?;
    if !log_likelihood.is_finite() {
        let reason = "the model leaves no residuals";
        return Err(StatsError::Undefined { what: "the Box-Cox likelihood", reason });
    }
    let ratio = ChiSquared::new(1.0)?;
    let drop = 0.5 * ratio.quantile(0.95)?;
    let p_unchanged = ratio.upper_tail((2.0 * (log_likelihood - profile.at(1.0))).max(0.0));
    let gap = |power: f64| profile.at(power) - (log_likelihood - drop);
    let end = |limit: f64| (gap(limit) < 0.0).then(|| root(gap, lambda, limit));
    let (low, high) = (end(-LARGEST_POWER), end(LARGEST_POWER));
    Ok(BoxCox { lambda, low, high, log_likelihood, p_unchanged })
}

/// Profile log-likelihood of each power, the Jacobian included and constants left out.
///
/// # Errors
/// As [`box_cox`].
pub fn profile(matrix: &Columns, response: &[f64], powers: &[f64]) -> Result<Vec<f64>, StatsError> {
    let profile = Profile::new(matrix, response)?;
    Ok(powers.iter().map(|&power| profile.at(power)).collect())
}

struct Profile {
    decomposition: Orthogonal,
    /// Logarithms of the response, less their mean.
    logs: Vec<f64>,
    mean_log: f64,
}

impl Profile {
    fn new(matrix: &Columns, response: &[f64]) -> Result<Self, StatsError> {
        check_response(matrix, response)?;
        if let Some(at) = response.iter().position(|&v| v <= 0.0) {
            return Err(StatsError::NotPositive { position: at + 1, value: response[at] });
        }
        let raw: Vec<f64> = response.iter().map(|v| v.ln()).collect();
        let mean_log = sample::mean_of(&raw);
        let logs: Vec<f64> = raw.iter().map(|v| v - mean_log).collect();
        let decomposition = Orthogonal::new(matrix);
        let squares: f64 = logs.iter().map(|v| v * v).sum();
        let left = decomposition.residual_squares(&logs);
        if decomposition.rank() >= response.len() || left <= 1e-26 * squares {
            let reason = "the model leaves no residuals";
            return Err(StatsError::Undefined { what: "the Box-Cox likelihood", reason });
        }
        Ok(Self { decomposition, logs, mean_log })
    }

    /// In units of the geometric mean the Jacobian is 1, and what remains is a constant.
    fn at(&self, lambda: f64) -> f64 {
        let n = self.logs.len() as f64;
        let largest = self.logs.iter().fold(0.0f64, |most, v| most.max(lambda * v));
        // Powers too large for a float are taken in units of the largest, whose logarithm counts.
        let unit = if largest > MOST_EXPONENT { largest } else { 0.0 };
        let power = |&v: &f64| {
            if lambda == 0.0 {
                v
            } else if unit > 0.0 {
                ((lambda * v - unit).exp() - (-unit).exp()) / lambda
            } else {
                (lambda * v).exp_m1() / lambda
            }
        };
        let powers: Vec<f64> = self.logs.iter().map(power).collect();
        let squares = self.decomposition.residual_squares(&powers);
        -0.5 * n * ((squares / n).ln() + 2.0 * unit) - n * self.mean_log
    }

    /// Best power of a grid, refined between its neighbours.
    fn maximum(&self) -> Result<(f64, f64), StatsError> {
        const STEP: f64 = 0.5;
        let steps = (2.0 * LARGEST_POWER / STEP) as i32;
        let powers = (0..=steps).map(|i| -LARGEST_POWER + STEP * f64::from(i));
        let best = powers
            .map(|power| (power, self.at(power)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(0.0, |(power, _)| power);
        if best.abs() >= LARGEST_POWER {
            let reason = "the likelihood still rises at the largest power searched";
            return Err(StatsError::Undefined { what: "the Box-Cox power", reason });
        }
        Ok(self.golden_section(best - STEP, best + STEP))
    }

    /// Maximum between two powers by golden-section search, one evaluation a step.
    fn golden_section(&self, mut low: f64, mut high: f64) -> (f64, f64) {
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        let mut left = high - golden * (high - low);
        let mut right = low + golden * (high - low);
        let (mut at_left, mut at_right) = (self.at(left), self.at(right));
        while high - low > 1e-8 {
            if at_left < at_right {
                low = left;
                (left, at_left) = (right, at_right);
                right = low + golden * (high - low);
                at_right = self.at(right);
            } else {
                high = right;
                (right, at_right) = (left, at_left);
                left = high - golden * (high - low);
                at_left = self.at(left);
            }
        }
        let power = 0.5 * (low + high);
        (power, self.at(power))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design() -> Columns {
        let x: Vec<f64> = (0..24).map(|i| f64::from(i % 4)).collect();
        Columns::new(vec![vec![1.0; 24], x]).unwrap()
    }

    fn noise(i: u32) -> f64 {
        // A fixed, roughly symmetric spread of offsets.
        f64::from((i * 7) % 24) / 24.0 - 0.5
    }

    #[test]
    fn a_value_of_another_size_leaves_the_likelihood_finite() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let matrix = Columns::new(vec![vec![1.0; 6], x.to_vec()]).unwrap();
        let response = [2.0, 1e-95, 3.0, 5.0, 4.0, 7.0];
        let powers: Vec<f64> = (-16..=16).map(|i| 0.5 * f64::from(i)).collect();
        let found = profile(&matrix, &response, &powers).unwrap();
        assert!(found.iter().all(|own| own.is_finite()), "{found:?}");
        let best = box_cox(&matrix, &response).unwrap();
        assert!(best.low.is_some() && best.high.is_some(), "{best:?}");
    }

    #[test]
    fn exponentials_ask_for_the_logarithm_and_squares_for_the_root() {
        let of = |f: fn(f64) -> f64| {
            let y: Vec<f64> = (0..24).map(|i| f(f64::from(i % 4) + 3.0 + noise(i))).collect();
            box_cox(&design(), &y).unwrap()
        };
        let log = of(f64::exp);
        assert!(log.low.unwrap() < 0.0 && log.high.unwrap() > 0.0 && log.high.unwrap() < 1.0);
        let root = of(|v| v * v);
        assert!(root.low.unwrap() < 0.5 && root.high.unwrap() > 0.5);
    }

    #[test]
    fn a_scaled_response_keeps_its_power() {
        let y: Vec<f64> = (0..24).map(|i| (f64::from(i % 4) + noise(i)).exp()).collect();
        let scaled: Vec<f64> = y.iter().map(|v| v * 1e-6).collect();
        let (a, b) = (box_cox(&design(), &y).unwrap(), box_cox(&design(), &scaled).unwrap());
        assert!((a.lambda - b.lambda).abs() < 1e-6);
    }

    #[test]
    fn values_at_or_below_zero_are_named() {
        let mut y: Vec<f64> = (0..24).map(|i| f64::from(i + 1)).collect();
        y[4] = 0.0;
        let expected = StatsError::NotPositive { position: 5, value: 0.0 };
        assert_eq!(box_cox(&design(), &y), Err(expected));
    }
}
