//! What a number must be to describe a queue. Every constructor asks here.

use crate::error::QueueingError;

/// Most servers or places that a queue may have: its probabilities are listed one by one.
pub const MOST_PLACES: u32 = 10_000_000;

/// Smallest and largest rate; products and quotients of rates and counts stay finite between.
pub(crate) const RATES: [f64; 2] = [1e-100, 1e100];
const RATE: &str = "a number between 1e-100 and 1e100";

/// A rate, mean or limit that is positive and far from overflow.
///
/// # Errors
/// A number outside 1e-100 to 1e100.
pub fn positive(what: &'static str, value: f64) -> Result<f64, QueueingError> {
    if (RATES[0]..=RATES[1]).contains(&value) {
        Ok(value)
    } else {
        Err(QueueingError::OutOfRange { what, value, range: RATE })
    }
}

/// The arrival rate of a class of jobs, numbered from 1.
pub(crate) fn class_rate(class: usize, value: f64) -> Result<f64, QueueingError> {
    positive("arrival rate", value).map_err(|_| QueueingError::BadClass {
        class,
        value,
        range: RATE,
    })
}

/// A squared coefficient of variation.
pub(crate) fn scv(what: &'static str, value: f64) -> Result<f64, QueueingError> {
    if (0.0..=1e6).contains(&value) {
        Ok(value)
    } else {
        Err(QueueingError::OutOfRange { what, value, range: "between 0 and 1000000" })
    }
}

/// A probability that is neither 0 nor 1.
pub(crate) fn fraction(what: &'static str, value: f64) -> Result<f64, QueueingError> {
    if value > 0.0 && value < 1.0 {
        Ok(value)
    } else {
        let range = "above 0 and below 1, such as 0.9";
        Err(QueueingError::OutOfRange { what, value, range })
    }
}

/// A number of servers, places or machines.
pub(crate) fn count(what: &'static str, value: u32) -> Result<u32, QueueingError> {
    if (1..=MOST_PLACES).contains(&value) {
        Ok(value)
    } else {
        let (value, most) = (u64::from(value), u64::from(MOST_PLACES));
        Err(QueueingError::Count { what, value, least: 1, most })
    }
}

/// Rates and servers of a queue without a limit, which must be stable.
pub(crate) fn stable(
    arrival_rate: f64,
    service_rate: f64,
    servers: u32,
) -> Result<(), QueueingError> {
    positive("arrival rate", arrival_rate)?;
    positive("service rate", service_rate)?;
    count("servers", servers)?;
    let limit = f64::from(servers) * service_rate;
    if arrival_rate < limit {
        return Ok(());
    }
    let needed = least_servers(arrival_rate, service_rate);
    Err(QueueingError::Unstable { arrival_rate, service_rate, servers, limit, needed })
}

/// The smallest stable number of servers, where it is not absurdly large.
pub(crate) fn least_servers(arrival_rate: f64, service_rate: f64) -> Option<u32> {
    let near = (arrival_rate / service_rate).floor();
    if near >= f64::from(MOST_PLACES) {
        return None;
    }
    // The quotient is rounded: only the product decides.
    let near = near as u32;
    (near.max(1)..=near + 2).find(|&c| arrival_rate < f64::from(c) * service_rate)
}
