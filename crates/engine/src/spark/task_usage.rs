//! What this process used, by the kernel's accounts, between two looks.

use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use trainwright_probe::{NetworkCounters, peak_memory, read_network};
use trainwright_study::{NetworkScope, NetworkUsage, Usage};

/// Bytes of a block that the kernel counts reads and writes in.
const BLOCK: u64 = 512;

/// Measures what this process uses. Spark does not see it: its own figures are of the Python and
/// Java processes beside it.
#[derive(Debug)]
pub struct UsageMeter {
    begun: Instant,
    before: Option<Account>,
    network: Option<NetworkCounters>,
}

/// What the kernel has counted for this process.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    user_s: f64,
    system_s: f64,
    block_reads: i64,
    block_writes: i64,
    major_faults: i64,
}

impl Account {
    fn now() -> Option<Self> {
        let own = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        Some(Self {
            user_s: seconds(own.user_time()),
            system_s: seconds(own.system_time()),
            block_reads: own.block_reads(),
            block_writes: own.block_writes(),
            major_faults: own.major_page_faults(),
        })
    }
}

impl UsageMeter {
    /// Begins to measure.
    pub fn start() -> Self {
        Self { begun: Instant::now(), before: Account::now(), network: read_network().ok() }
    }

    /// The same with what this process has used since it began; the time counts from now.
    pub fn of_whole_process() -> Self {
        Self { before: Some(Account::default()), ..Self::start() }
    }

    /// What was used since; the peak of memory is that of the whole process, the network is that of
    /// the machine.
    pub fn used(&self) -> Usage {
        let mut usage = Usage { wall_s: self.begun.elapsed().as_secs_f64(), ..Usage::default() };
        if let (Some(before), Some(now)) = (self.before, Account::now()) {
            let more = |now: i64, before: i64| u64::try_from(now - before).ok();
            let bytes = |now: i64, before: i64| more(now, before).map(|blocks| blocks * BLOCK);
            usage.user_s = now.user_s - before.user_s;
            usage.system_s = now.system_s - before.system_s;
            usage.disk_read_bytes = bytes(now.block_reads, before.block_reads);
            usage.disk_write_bytes = bytes(now.block_writes, before.block_writes);
            usage.major_faults = more(now.major_faults, before.major_faults);
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
        let whole = UsageMeter::of_whole_process().used();
        assert!(whole.user_s + whole.system_s >= used.user_s + used.system_s, "{whole:?}");
    }
}
