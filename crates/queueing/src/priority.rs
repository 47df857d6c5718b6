//! M/M/c with classes of jobs: whoever is free takes the first job of the highest class, and
//! finishes what it has begun.

use serde::Serialize;

use crate::error::QueueingError;
use crate::limits::{class_rate, stable};
use crate::mmc::Mmc;

/// Means of one class of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClassMeans {
    /// Jobs of the class that wait.
    pub mean_queue: f64,
    /// Time that a job of the class waits.
    pub mean_wait: f64,
    /// Time from a job's arrival to its end.
    pub mean_response: f64,
}

/// Means of each class, the most urgent first, where all classes need the same service.
///
/// The wait of class i is W0 / ((1 - s(i-1)) (1 - s(i))), where s(i) is the load of the classes
/// up to i for each server, and W0 the probability of waiting over the rate of all servers
/// (Cobham, "Priority Assignment in Waiting Line Problems", Operations Research 2, 1954). It
/// does not hold for classes of different service rates.
///
/// # Errors
/// No class, a number out of range, or arrivals that the servers cannot keep up with.
pub fn priority_classes(
    arrival_rates: &[f64],
    service_rate: f64,
    servers: u32,
) -> Result<Vec<ClassMeans>, QueueingError> {
    if arrival_rates.is_empty() {
        return Err(QueueingError::TooFew { what: "a queue with classes", needed: 1, found: 0 });
    }
    for (class, &rate) in (1..).zip(arrival_rates) {
        class_rate(class, rate)?;
    }
    let all: f64 = arrival_rates.iter().sum();
    stable(all, service_rate, servers)?;
    let full_rate = f64::from(servers) * service_rate;
    let p_wait = Mmc::new(all, service_rate, servers)?.wait_tail(0.0);
    let mut taken = 0.0;
    let mean = |rate: &f64| {
        let before = full_rate - taken;
        taken += rate;
        let mean_wait = p_wait * full_rate / (before * (full_rate - taken));
        ClassMeans {
            mean_queue: rate * mean_wait,
            mean_wait,
            mean_response: mean_wait + 1.0 / service_rate,
        }
    };
    Ok(arrival_rates.iter().map(mean).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn classes_only_share_out_the_same_waiting(
            rates in proptest::collection::vec(0.01f64..1.0, 1..6), servers in 1u32..6,
        ) {
            let all: f64 = rates.iter().sum();
            let service = 1.2 * all / f64::from(servers);
            let classes = priority_classes(&rates, service, servers).unwrap();
            let queue: f64 = classes.iter().map(|class| class.mean_queue).sum();
            // Kleinrock's conservation law: order does not change how many wait.
            let plain = Mmc::new(all, service, servers).unwrap().steady_state();
            prop_assert!((queue / plain.mean_queue - 1.0).abs() < 1e-11);
            prop_assert!(classes.is_sorted_by(|a, b| a.mean_wait < b.mean_wait));
        }
    }

    #[test]
    fn faulty_classes_are_named() {
        let error = priority_classes(&[0.1, -0.2], 1.0, 1).unwrap_err();
        assert!(error.to_string().starts_with("class 2 has an arrival rate of -0.2"), "{error}");
        assert!(priority_classes(&[], 1.0, 1).is_err());
        assert!(priority_classes(&[0.6, 0.6], 1.0, 1).is_err());
    }
}
