//! When bytes arrive over a link that several requests share. Plain arithmetic without a clock,
//! so that it can be tested; `limited.rs` waits.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::limits::Bandwidth;

/// Requests take turns by pieces of this size, so that a short one need not wait for the whole of
/// a long one.
pub(super) const PIECE_BYTES: u64 = 1 << 16;

/// A link and how far into the future it is taken. Times are since its making.
#[derive(Debug)]
pub(super) struct Link {
    bandwidth: Bandwidth,
    free_from: Mutex<Duration>,
}

impl Link {
    pub(super) fn new(bandwidth: Bandwidth) -> Self {
        Self { bandwidth, free_from: Mutex::new(Duration::ZERO) }
    }

    /// Takes the link for some bytes that are ready at a time; tells when the last one arrives.
    pub(super) fn take(&self, ready: Duration, bytes: u64) -> Duration {
        // The time is one number, whole whatever a thread that panicked was doing.
        let mut free_from = self.free_from.lock().unwrap_or_else(PoisonError::into_inner);
        *free_from = ready.max(*free_from) + self.bandwidth.time_of(bytes);
        *free_from
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn link(bytes_per_s: u64) -> Link {
        Link::new(Bandwidth::new(bytes_per_s).unwrap())
    }

    #[test]
    fn an_idle_link_starts_when_the_bytes_are_ready() {
        let link = link(1_000_000);
        let ms = Duration::from_millis;
        assert_eq!(link.take(ms(20), 5_000), ms(25));
        assert_eq!(link.take(ms(21), 5_000), ms(30), "waits for the first");
        assert_eq!(link.take(ms(100), 1_000), ms(101), "idle time is not saved up");
    }

    proptest! {
        #[test]
        fn no_order_of_requests_beats_the_bandwidth(
            requests in prop::collection::vec((0_u64..1_000, 1_u64..100_000), 1..20),
        ) {
            let link = link(1_000_000);
            let total: u64 = requests.iter().map(|(_, bytes)| bytes).sum();
            let last_ready = requests.iter().map(|(ready, _)| *ready).max().unwrap();
            let take = |(ready, bytes): &(u64, u64)| link.take(Duration::from_millis(*ready), *bytes);
            let end = requests.iter().map(take).max().unwrap();
            prop_assert!(end >= Duration::from_micros(total));
            prop_assert!(end <= Duration::from_millis(last_ready) + Duration::from_micros(total));
        }
    }
}
