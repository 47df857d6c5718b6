//! Erlang's two formulas, by recursion (Cooper, "Introduction to Queueing Theory", section 3.3).

use crate::error::QueueingError;
use crate::limits::{count, positive, stable};

/// Probability that a job finds all servers of a queue without waiting room busy.
///
/// `offered_load` is the arrival rate over the rate of one server; it may exceed `servers`.
///
/// # Errors
/// The load is not positive, or the number of servers is 0 or too large to list.
pub fn erlang_b(offered_load: f64, servers: u32) -> Result<f64, QueueingError> {
    let offered_load = positive("offered load", offered_load)?;
    let servers = count("servers", servers)?;
    // The reciprocal only ever adds positive terms; infinity means a probability of 0.
    let inverse = (1..=servers).fold(1.0, |inverse, n| 1.0 + inverse * f64::from(n) / offered_load);
    Ok(1.0 / inverse)
}

/// Probability that a job of a queue with endless waiting room must wait.
///
/// # Errors
/// The load is not positive, or not below the number of servers.
pub fn erlang_c(offered_load: f64, servers: u32) -> Result<f64, QueueingError> {
    stable(offered_load, 1.0, servers)?;
    let blocked = erlang_b(offered_load, servers)?;
    let servers = f64::from(servers);
    Ok(servers * blocked / (servers - offered_load + offered_load * blocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the defining sums, which small numbers of servers allow.
    #[test]
    fn recursions_equal_the_defining_sums() {
        for servers in 1..15u32 {
            let load = 0.7 * f64::from(servers);
            let terms: Vec<f64> = std::iter::once(1.0)
                .chain((1..=servers).scan(1.0, |term, n| {
                    *term *= load / f64::from(n);
                    Some(*term)
                }))
                .collect();
            let last = terms[servers as usize];
            let all: f64 = terms.iter().sum();
            let c = last / 0.3 / (all - last + last / 0.3);
            assert!((erlang_b(load, servers).unwrap() / (last / all) - 1.0).abs() < 1e-13);
            assert!((erlang_c(load, servers).unwrap() / c - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn many_servers_neither_overflow_nor_vanish() {
        let blocked = erlang_b(1e6, 1_000_000).unwrap();
        // sqrt(2 / (pi c)) is the leading term at equal load (Jagerman, Bell System Technical
        // Journal 53, 1974); the next is of relative order 1 / sqrt(c).
        assert!((blocked / (2e-6 / std::f64::consts::PI).sqrt() - 1.0).abs() < 2e-3, "{blocked}");
        assert_eq!(erlang_b(0.001, 1000).unwrap(), 0.0);
        assert!(erlang_c(5.0, 5).is_err() && erlang_c(-1.0, 5).is_err());
    }
}
