//! What this process used, by the kernel's accounts, between two looks.

use std::time::Instant;

use nix::sys::resource::{Usage as Account, UsageWho, getrusage};
use trainwright_probe::{NetworkCounters, peak_memory, read_network};
use trainwright_study::{NetworkScope, NetworkUsage, Usage};

/// Bytes of a block that the kernel counts reads and writes in.
const BLOCK: u64 = 512;

/// Measures what this process uses from now on. Spark does not see it: its own figures are of the
/// Python and Java processes beside it.
#[derive(Debug)]
pub struct UsageMeter {
    begun: Instant,
    before: Option<Account>,
    network: Option<NetworkCounters>,
}

impl UsageMeter {
    /// Begins to measure.
    pub fn start() -> Self {
        Self {
            begun: Instant::now(),
            before: getrusage(UsageWho::RUSAGE_SELF).ok(),
            network: read_network().ok(),
        }
    }

    /// What was used since; the peak of memory is that of the whole process, the network is that of
    /// the machine.
    pub fn used(&self) -> Usage {
        let mut usage = Usage { wall_s: self.begun.elapsed().as_secs_f64(), ..Usage::default() };
        if let (Some(before), Ok(now)) = (&self.before, getrusage(UsageWho::RUSAGE_SELF)) {
            let seconds =
                |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
            let blocks =
                |now: i64, before: i64| u64::try_from(now - before).ok().map(|n| n * BLOCK);
            usage.user_s = seconds(now.user_time()) - seconds(before.user_time());
            usage.system_s = seconds(now.system_time()) - seconds(before.system_time());
            usage.disk_read_bytes = blocks(now.block_reads(), before.block_reads());
            usage.disk_write_bytes = blocks(now.block_writes(), before.block_writes());
            usage.major_faults =
                u64::try_from(now.major_page_faults() - before.major_page_faults()).ok();
        }
        usage.peak_memory_bytes = peak_memory(std::process::id());
        usage.network = self.network.as_ref().and_then(|before| {
            let growth = read_network().ok()?.since(before)?;
            Some(NetworkUsage {
                received_bytes: growth.received_bytes,
                sent_bytes: growth.sent_bytes,
                loopback_bytes: growth.loopback_bytes,
                scope: NetworkScope::Machine,
            })
        });
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_as_processor_time() {
        let meter = UsageMeter::start();
        let mut sum = 0_u64;
        while meter.begun.elapsed().as_millis() < 300 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        let used = meter.used();
        assert!(used.user_s + used.system_s > 0.02, "{used:?}");
        // Other tests run on other threads of this process.
        assert!(used.wall_s >= 0.3 && used.peak_memory_bytes > Some(1 << 20), "{used:?}");
    }
}
