//! A time that a queue should keep within.

use std::fmt;

use crate::error::QueueingError;
use crate::limits::{fraction, positive};
use crate::queue::Queue;
use crate::steady_state::SteadyState;

/// Which time a target is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The time a job waits.
    Wait,
    /// The time from a job's arrival to its end.
    Response,
}

/// Which figure of that time a target limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// The mean over all accepted jobs.
    Mean,
    /// What this fraction of the accepted jobs keeps within.
    Quantile(f64),
}

/// A time that a queue should keep within.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    measure: Measure,
    statistic: Statistic,
    limit: f64,
}

impl Target {
    /// At most `limit` for this figure.
    ///
    /// # Errors
    /// A limit that is not positive, or a quantile outside 0 to 1.
    pub fn new(measure: Measure, statistic: Statistic, limit: f64) -> Result<Self, QueueingError> {
        if let Statistic::Quantile(part) = statistic {
            fraction("quantile", part)?;
        }
        Ok(Self { measure, statistic, limit: positive("target", limit)? })
    }

    /// Which time is limited.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Which figure is limited.
    pub fn statistic(&self) -> Statistic {
        self.statistic
    }

    /// The limit.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Whether a queue keeps the target.
    ///
    /// # Errors
    /// The target is a quantile, which this queue has no closed form for.
    pub fn is_met(&self, queue: &Queue) -> Result<bool, QueueingError> {
        match self.statistic {
            Statistic::Mean => {
                let SteadyState { mean_wait, mean_response, .. } = queue.steady_state();
                Ok(self.mean_is_met(mean_wait, mean_response))
            }
            Statistic::Quantile(part) => {
                let tail = match self.measure {
                    Measure::Wait => queue.wait_tail(self.limit),
                    Measure::Response => queue.response_tail(self.limit),
                };
                let name = if matches!(queue, Queue::Mg1(_)) { "M/G/1" } else { "G/G/c" };
                let tail = tail.ok_or(QueueingError::NoQuantiles { queue: name })?;
                Ok(tail <= 1.0 - part)
            }
        }
    }

    /// Whether means keep a target for means.
    pub(crate) fn mean_is_met(&self, mean_wait: f64, mean_response: f64) -> bool {
        match self.measure {
            Measure::Wait => mean_wait <= self.limit,
            Measure::Response => mean_response <= self.limit,
        }
    }

    /// What the figure is without any waiting; only a larger limit can be kept.
    pub(crate) fn floor(&self, service_rate: f64) -> Result<f64, QueueingError> {
        let floor = match (self.measure, self.statistic) {
            (Measure::Wait, _) => 0.0,
            (Measure::Response, Statistic::Mean) => 1.0 / service_rate,
            (Measure::Response, Statistic::Quantile(part)) => -(-part).ln_1p() / service_rate,
        };
        if self.limit > floor { Ok(floor) } else { Err(self.unreachable(floor)) }
    }

    pub(crate) fn unreachable(&self, floor: f64) -> QueueingError {
        QueueingError::Unreachable { what: self.to_string(), limit: self.limit, floor }
    }
}

/// Names the figure, without its limit.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let measure = match self.measure {
            Measure::Wait => "wait",
            Measure::Response => "response",
        };
        match self.statistic {
            Statistic::Mean => write!(f, "mean {measure}"),
            Statistic::Quantile(part) => write!(f, "{part} quantile of the {measure}"),
        }
    }
}
