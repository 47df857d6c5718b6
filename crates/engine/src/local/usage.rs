//! What a trial used, by the kernel's accounts and our samples.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use trainwright_probe::{NetworkCounters, TreeTotals, peak_memory, read_network};
use trainwright_study::{NetworkScope, NetworkUsage, Usage};

use super::process::Reaped;

/// What was read just before a trial started.
#[derive(Debug)]
pub(crate) struct UsageStart {
    network: Option<NetworkCounters>,
}

impl UsageStart {
    pub(crate) fn now() -> Self {
        Self { network: read_network().ok() }
    }

    /// The usage of a trial that started then; `alone` where no other ran meanwhile.
    pub(crate) fn until_now(
        self,
        wall: Duration,
        reaped: &Reaped,
        sampled: TreeTotals,
        alone: bool,
    ) -> Usage {
        let network = if alone { self.network_use() } else { None };
        Usage {
            wall_s: wall.as_secs_f64(),
            // Processes that were killed with the group were not reaped by the trial, so the
            // kernel's sum lacks them; what was seen of them is a lower bound, too.
            user_s: reaped.user_s.max(sampled.user_s),
            system_s: reaped.system_s.max(sampled.system_s),
            peak_memory_bytes: peak(
                reaped.peak_memory_bytes,
                sampled.peak_memory_bytes,
                is_below_own_peak,
            ),
            disk_read_bytes: Some(reaped.disk_read_bytes).max(sampled.disk_read_bytes),
            disk_write_bytes: Some(reaped.disk_write_bytes).max(sampled.disk_write_bytes),
            network,
            run_queue_s: sampled.run_queue_s,
            major_faults: Some(reaped.major_faults),
            gpus: Vec::new(),
            earlier_s: None,
            exit_code: reaped.exit_code,
            signal: reaped.signal,
        }
    }

    fn network_use(&self) -> Option<NetworkUsage> {
        let growth = read_network().ok()?.since(self.network.as_ref()?)?;
        Some(NetworkUsage {
            received_bytes: growth.received_bytes,
            sent_bytes: growth.sent_bytes,
            loopback_bytes: growth.loopback_bytes,
            scope: NetworkScope::Machine,
        })
    }
}

/// The largest memory of a trial, by the kernel's figure and by what was seen.
///
/// Linux counts the starting program's own peak into `ru_maxrss` of whatever it starts, because
/// the new process shares its memory until `exec`. A figure above our own peak is the trial's; one
/// below may be ours and says nothing.
fn peak(kernel: u64, seen: Option<u64>, is_ours: impl FnOnce(u64) -> bool) -> Option<u64> {
    if is_ours(kernel) { seen } else { seen.max(Some(kernel)) }
}

/// Whether our own largest memory is at least this. It only grows, so that it is read again only
/// where what was known does not settle the question.
fn is_below_own_peak(bytes: u64) -> bool {
    static KNOWN: AtomicU64 = AtomicU64::new(0);
    if bytes <= KNOWN.load(Ordering::Relaxed) {
        return true;
    }
    let now = peak_memory(std::process::id()).unwrap_or(0);
    KNOWN.fetch_max(now, Ordering::Relaxed);
    bytes <= now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_peak(kernel: u64, seen: Option<u64>, expected: Option<u64>) {
        assert_eq!(peak(kernel, seen, |bytes| bytes <= 100), expected);
    }

    #[test]
    fn memory_of_the_runner_is_not_blamed_on_the_trial() {
        check_peak(100, Some(7), Some(7));
        check_peak(150, Some(7), Some(150));
        check_peak(150, Some(200), Some(200));
        check_peak(150, None, Some(150));
        check_peak(100, None, None);
    }

    #[test]
    fn our_own_peak_is_followed_as_it_grows() {
        assert!(is_below_own_peak(1));
        let far = 64 * peak_memory(std::process::id()).unwrap();
        assert!(!is_below_own_peak(far));
        let block = vec![1_u8; 64 << 20];
        assert!(is_below_own_peak(block.len() as u64), "{} bytes were written", block.len());
    }

    #[test]
    fn what_was_seen_of_killed_children_counts_too() {
        let reaped = Reaped {
            exit_code: Some(0),
            signal: None,
            user_s: 1.0,
            system_s: 3.0,
            peak_memory_bytes: 0,
            disk_read_bytes: 0,
            disk_write_bytes: 512,
            major_faults: 3,
        };
        let sampled = TreeTotals {
            user_s: 2.0,
            system_s: 2.0,
            disk_read_bytes: Some(4096),
            run_queue_s: Some(0.5),
            ..TreeTotals::default()
        };
        let start = UsageStart { network: None };
        let usage = start.until_now(Duration::from_secs(2), &reaped, sampled, true);
        assert_eq!((usage.wall_s, usage.user_s, usage.system_s), (2.0, 2.0, 3.0));
        assert_eq!((usage.disk_read_bytes, usage.disk_write_bytes), (Some(4096), Some(512)));
        assert_eq!((usage.run_queue_s, usage.major_faults), (Some(0.5), Some(3)));
        assert_eq!(usage.network, None);
    }
}
