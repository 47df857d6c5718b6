//! What a queue does in the long run.

use serde::Serialize;

/// Averages and probabilities of a queue in the long run. Times are in the unit of 1 / rate.
///
/// What rates and variations alone do not decide is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SteadyState {
    /// Fraction of the servers that is busy.
    pub utilisation: f64,
    /// Probability of an empty system.
    pub p0: Option<f64>,
    /// Probability that an accepted job waits.
    pub p_wait: Option<f64>,
    /// Probability that a job is turned away.
    pub p_block: f64,
    /// Jobs accepted in a unit of time.
    pub throughput: f64,
    /// Jobs waiting or in service.
    pub mean_jobs: f64,
    /// Jobs waiting.
    pub mean_queue: f64,
    /// Time that an accepted job waits.
    pub mean_wait: f64,
    /// Time from an accepted job's arrival to its end.
    pub mean_response: f64,
}

/// Quantiles of the times of accepted jobs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantiles {
    /// Time spent waiting.
    pub wait: TimeQuantiles,
    /// Time from arrival to end.
    pub response: TimeQuantiles,
}

/// Four quantiles of a time; `None` where there is no closed form.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimeQuantiles {
    /// Half of the jobs take at most this.
    pub p50: Option<f64>,
    /// Nine of ten jobs take at most this.
    pub p90: Option<f64>,
    /// Nineteen of twenty jobs take at most this.
    pub p95: Option<f64>,
    /// Ninety-nine of a hundred jobs take at most this.
    pub p99: Option<f64>,
}

impl TimeQuantiles {
    pub(crate) const UNKNOWN: Self = Self { p50: None, p90: None, p95: None, p99: None };

    pub(crate) fn of(quantile: impl Fn(f64) -> f64) -> Self {
        // Tails, not fractions: 1 - 0.99 is not 0.01 in floats.
        let known = |beyond: f64| Some(quantile(beyond));
        Self { p50: known(0.5), p90: known(0.1), p95: known(0.05), p99: known(0.01) }
    }
}
