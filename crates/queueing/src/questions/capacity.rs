//! Questions backwards: the servers that a target needs, the largest arrival rate and the smallest
//! service rate that keep it.

use crate::bisection::last_where;
use crate::error::QueueingError;
use crate::limits::{MOST_PLACES, RATES, least_servers, positive};
use crate::questions::target::{Measure, Target};
use crate::queue::QueueKind;

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

/// The smallest service rate that keeps a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SmallestServiceRate {
    /// This rate; a smaller one misses the target.
    Rate(f64),
    /// Every rate that serves all arrivals keeps it; those above this one do.
    EveryAbove(f64),
    /// Every rate keeps it: no job ever waits.
    Every,
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
    let (least, most) = match kind.places() {
        Some(places) => (Some(1), places),
        None => (least_servers(arrival_rate, service_rate), MOST_PLACES),
    };
    let too_many =
        || QueueingError::TooManyServers { what: target.to_string(), limit: target.limit(), most };
    let least = least.ok_or_else(too_many)?;
    fewest(met, least, most)?.ok_or_else(too_many)
}

/// The smallest number from `least` to `most` that meets a condition which, once met, stays met.
pub(crate) fn fewest(
    mut met: impl FnMut(u32) -> Result<bool, QueueingError>,
    least: u32,
    most: u32,
) -> Result<Option<u32>, QueueingError> {
    if met(least)? {
        return Ok(Some(least));
    }
    // Servers that miss the target, and twice as many until some keep it.
    let (mut low, mut high) = (least, least.saturating_mul(2).min(most));
    while !met(high)? {
        if high == most {
            return Ok(None);
        }
        (low, high) = (high, high.saturating_mul(2).min(most));
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if met(middle)? { high = middle } else { low = middle }
    }
    Ok(Some(high))
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
    let (every, high) = match kind.places() {
        Some(_) => (met(high)?.then_some(LargestRate::Every), high),
        None => (clockwork(kind).then_some(LargestRate::EveryBelow(limit)), limit),
    };
    // A rate that cannot be served misses every target.
    let kept = |rate| met(rate).unwrap_or(false);
    Ok(every.unwrap_or_else(|| LargestRate::Rate(last_where(kept, low, high))))
}

/// The smallest service rate of one server that keeps a target, which is the longest service
/// that does.
///
/// # Errors
/// A number out of range, or a quantile without a closed form.
pub fn smallest_service_rate(
    kind: QueueKind,
    arrival_rate: f64,
    servers: u32,
    target: &Target,
) -> Result<SmallestServiceRate, QueueingError> {
    let [low, most] = RATES;
    let met = |rate| target.is_met(&kind.queue(arrival_rate, rate, servers)?);
    // The fastest service checks the other numbers.
    kind.queue(arrival_rate, most, servers)?;
    if kind.places().is_none() && clockwork(kind) && target.measure() == Measure::Wait {
        return Ok(SmallestServiceRate::EveryAbove(arrival_rate / f64::from(servers)));
    }
    // A rate that cannot serve all arrivals misses every target.
    let missed = |rate| !met(rate).unwrap_or(false);
    if !missed(low) {
        return Ok(SmallestServiceRate::Every);
    }
    // Twice what serves all arrivals, and more until the target is kept.
    let mut high = (2.0 * arrival_rate / f64::from(servers)).max(1.0 / target.limit());
    while !met(high)? {
        high *= 2.0;
        if high > most {
            return Err(QueueingError::TooFast { what: target.to_string(), limit: target.limit() });
        }
    }
    Ok(SmallestServiceRate::Rate(last_where(missed, low, high).next_up()))
}

/// Whether jobs come and are served so regularly that none ever waits.
fn clockwork(kind: QueueKind) -> bool {
    matches!(kind, QueueKind::Ggc { scv_arrival, scv_service } if scv_arrival + scv_service <= 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::questions::target::Statistic;

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
        let rate = smallest_service_rate(QueueKind::Mmc, 8.0, 1, &mean_response(0.5)).unwrap();
        let SmallestServiceRate::Rate(rate) = rate else { panic!("{rate:?}") };
        assert!((rate - 10.0).abs() < 1e-12);
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
        let wait = Target::new(Measure::Wait, Statistic::Mean, 0.1).unwrap();
        let found = smallest_service_rate(clockwork, 6.0, 3, &wait).unwrap();
        assert_eq!(found, SmallestServiceRate::EveryAbove(2.0));
        let found = smallest_service_rate(QueueKind::Mmck { capacity: 2 }, 6.0, 2, &wait).unwrap();
        assert_eq!(found, SmallestServiceRate::Every);
    }

    fn kinds() -> impl Strategy<Value = QueueKind> {
        prop_oneof![
            Just(QueueKind::Mmc),
            (60u32..90).prop_map(|capacity| QueueKind::Mmck { capacity }),
            (60u32..90).prop_map(|population| QueueKind::Finite { population }),
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
            let markov = !matches!(kind, QueueKind::Mgc { .. } | QueueKind::Ggc { .. });
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
            // So is the smallest service rate no larger.
            let slowest = smallest_service_rate(kind, arrival, needed, &target).unwrap();
            if let SmallestServiceRate::Rate(rate) = slowest {
                prop_assert!(rate <= 1.0);
                let at = |rate| kind.queue(arrival, rate, needed);
                prop_assert!(target.is_met(&at(rate).unwrap()).unwrap());
                prop_assert!(!at(rate * 0.999999).is_ok_and(|q| target.is_met(&q).unwrap()));
            }
        }
    }
}
