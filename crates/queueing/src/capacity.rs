//! Questions backwards: the servers that a target needs, the largest rate that keeps it.

use std::fmt;

use crate::bisection::last_where;
use crate::error::QueueingError;
use crate::limits::{MOST_PLACES, RATES, fraction, least_servers, positive};
use crate::queue::{Queue, QueueKind};

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

/// The largest arrival rate that keeps a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LargestRate {
    /// This rate; a larger one misses the target.
    Rate(f64),
    /// Every stable rate keeps it; those below this one are stable.
    EveryBelow(f64),
    /// Every rate keeps it: the queue turns away what would make it miss.
    Every,
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
                let state = queue.steady_state();
                Ok(match self.measure {
                    Measure::Wait => state.mean_wait <= self.limit,
                    Measure::Response => state.mean_response <= self.limit,
                })
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

    /// What the figure is without any waiting; only a larger limit can be kept.
    fn floor(&self, service_rate: f64) -> Result<f64, QueueingError> {
        let floor = match (self.measure, self.statistic) {
            (Measure::Wait, _) => 0.0,
            (Measure::Response, Statistic::Mean) => 1.0 / service_rate,
            (Measure::Response, Statistic::Quantile(part)) => -(-part).ln_1p() / service_rate,
        };
        if self.limit > floor { Ok(floor) } else { Err(self.unreachable(floor)) }
    }

    fn unreachable(&self, floor: f64) -> QueueingError {
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

/// The smallest number of servers that keeps a target at these rates.
///
/// A limited queue keeps its number of places, so it has at most that many servers.
///
/// # Errors
/// A number out of range, a target below the service time itself, or a quantile without a closed
/// form.
pub fn servers_needed(
    kind: QueueKind,
    arrival_rate: f64,
    service_rate: f64,
    target: &Target,
) -> Result<u32, QueueingError> {
    positive("arrival rate", arrival_rate)?;
    positive("service rate", service_rate)?;
    target.floor(service_rate)?;
    let met = |servers| target.is_met(&kind.queue(arrival_rate, service_rate, servers)?);
    let (least, most) = match kind {
        QueueKind::Mmck { capacity } => (Some(1), capacity),
        _ => (least_servers(arrival_rate, service_rate), MOST_PLACES),
    };
    let too_many =
        || QueueingError::TooManyServers { what: target.to_string(), limit: target.limit, most };
    let least = least.ok_or_else(too_many)?;
    if met(least)? {
        return Ok(least);
    }
    // Servers that miss the target, and twice as many until some keep it.
    let (mut low, mut high) = (least, least.saturating_mul(2).min(most));
    while !met(high)? {
        if high == most {
            return Err(too_many());
        }
        (low, high) = (high, high.saturating_mul(2).min(most));
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if met(middle)? { high = middle } else { low = middle }
    }
    Ok(high)
}

/// The largest arrival rate at which a number of servers keeps a target.
///
/// # Errors
/// A number out of range, a target below the service time itself, or a quantile without a closed
/// form.
pub fn largest_rate(
    kind: QueueKind,
    service_rate: f64,
    servers: u32,
    target: &Target,
) -> Result<LargestRate, QueueingError> {
    let met = |rate| target.is_met(&kind.queue(rate, service_rate, servers)?);
    // A queue at the smallest rate checks the other numbers.
    let [low, high] = RATES;
    kind.queue(low, service_rate, servers)?;
    let floor = target.floor(service_rate)?;
    if !met(low)? {
        return Err(target.unreachable(floor));
    }
    let limit = f64::from(servers) * service_rate;
    let every = match kind {
        QueueKind::Mmck { .. } => met(high)?.then_some(LargestRate::Every),
        _ => clockwork(kind).then_some(LargestRate::EveryBelow(limit)),
    };
    // A rate that cannot be served misses every target.
    let kept = |rate| met(rate).unwrap_or(false);
    let high = if matches!(kind, QueueKind::Mmck { .. }) { high } else { limit };
    Ok(every.unwrap_or_else(|| LargestRate::Rate(last_where(kept, low, high))))
}

/// Whether jobs come and are served so regularly that none ever waits.
fn clockwork(kind: QueueKind) -> bool {
    matches!(kind, QueueKind::Ggc { scv_arrival, scv_service } if scv_arrival + scv_service <= 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mean_response(limit: f64) -> Target {
        Target::new(Measure::Response, Statistic::Mean, limit).unwrap()
    }

    #[test]
    fn one_server_answers_by_hand() {
        // M/M/1: response 1 / (service - arrival).
        let rate = largest_rate(QueueKind::Mmc, 10.0, 1, &mean_response(0.5)).unwrap();
        let LargestRate::Rate(rate) = rate else { panic!("{rate:?}") };
        assert!((rate - 8.0).abs() < 1e-12);
        let p90 = Target::new(Measure::Response, Statistic::Quantile(0.9), 1.0).unwrap();
        let rate = largest_rate(QueueKind::Mmc, 10.0, 1, &p90).unwrap();
        let LargestRate::Rate(rate) = rate else { panic!("{rate:?}") };
        assert!((rate - (10.0 - 10f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn impossible_targets_say_why() {
        let error = servers_needed(QueueKind::Mmc, 5.0, 2.0, &mean_response(0.4)).unwrap_err();
        let expected = "a mean response of 0.4 cannot be reached at any load: without any waiting \
                        it is already 0.5";
        assert_eq!(error.to_string(), expected);
        let p90 = Target::new(Measure::Response, Statistic::Quantile(0.9), 9.0).unwrap();
        let general = QueueKind::Mgc { scv_service: 2.0 };
        let error = servers_needed(general, 0.5, 1.0, &p90).unwrap_err();
        assert!(matches!(error, QueueingError::NoQuantiles { queue: "M/G/1" }), "{error}");
        assert!(Target::new(Measure::Wait, Statistic::Quantile(90.0), 1.0).is_err());
        assert!(Target::new(Measure::Wait, Statistic::Mean, 0.0).is_err());
    }

    #[test]
    fn queues_that_never_miss_say_so() {
        let full = QueueKind::Mmck { capacity: 8 };
        // Eight places at two servers: at most four service times on average.
        let found = largest_rate(full, 1.0, 2, &mean_response(4.1)).unwrap();
        assert_eq!(found, LargestRate::Every);
        let found = largest_rate(full, 1.0, 2, &mean_response(3.0)).unwrap();
        assert!(matches!(found, LargestRate::Rate(_)));
        let clockwork = QueueKind::Ggc { scv_arrival: 0.0, scv_service: 0.0 };
        let found = largest_rate(clockwork, 1.0, 3, &mean_response(1.5)).unwrap();
        assert_eq!(found, LargestRate::EveryBelow(3.0));
    }

    fn kinds() -> impl Strategy<Value = QueueKind> {
        prop_oneof![
            Just(QueueKind::Mmc),
            (60u32..90).prop_map(|capacity| QueueKind::Mmck { capacity }),
            (0f64..4.0).prop_map(|scv_service| QueueKind::Mgc { scv_service }),
            (0.1f64..4.0, 0f64..4.0)
                .prop_map(|(scv_arrival, scv_service)| QueueKind::Ggc { scv_arrival, scv_service }),
        ]
    }

    proptest! {
        #[test]
        fn one_server_fewer_misses(
            kind in kinds(), arrival in 0.2f64..30.0, slack in 0.001f64..3.0, part in 0.5f64..0.99,
            by_quantile in any::<bool>(), wait in any::<bool>(),
        ) {
            let markov = matches!(kind, QueueKind::Mmc | QueueKind::Mmck { .. });
            let statistic =
                if by_quantile && markov { Statistic::Quantile(part) } else { Statistic::Mean };
            let floor = match statistic {
                Statistic::Mean => 1.0,
                Statistic::Quantile(part) => -(1.0 - part).ln(),
            };
            let (measure, limit) =
                if wait { (Measure::Wait, slack) } else { (Measure::Response, floor + slack) };
            let target = Target::new(measure, statistic, limit).unwrap();
            let needed = servers_needed(kind, arrival, 1.0, &target).unwrap();
            let met = |servers| {
                kind.queue(arrival, 1.0, servers).is_ok_and(|queue| target.is_met(&queue).unwrap())
            };
            prop_assert!(met(needed) && (1..needed).all(|fewer| !met(fewer)));
            // The largest rate of that many servers is no smaller, and the target is met there.
            if let LargestRate::Rate(rate) = largest_rate(kind, 1.0, needed, &target).unwrap() {
                prop_assert!(rate >= arrival);
                let at = |rate| kind.queue(rate, 1.0, needed);
                prop_assert!(target.is_met(&at(rate).unwrap()).unwrap());
                prop_assert!(!at(rate * 1.000001).is_ok_and(|q| target.is_met(&q).unwrap()));
            }
        }
    }
}
