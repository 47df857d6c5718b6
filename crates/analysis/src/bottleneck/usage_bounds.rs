//! What any program's use of the machine tells: upper bounds, since when it computed and when it
//! waited is not known.

use serde::{Deserialize, Serialize};
use trainwright_study::{Capacities, ReadFrom, Usage};

use super::{Attribution, Idealised, Resource, judged, words};

/// What a program used of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct UsageAccount {
    /// Time by the clock.
    pub wall_s: f64,
    /// CPU seconds of all its processes.
    pub cpu_s: f64,
    /// Seconds that its threads were ready and had no core.
    pub run_queue_s: Option<f64>,
    /// Bytes read from the disk.
    pub disk_read_bytes: Option<u64>,
    /// Bytes written to the disk.
    pub disk_write_bytes: Option<u64>,
    /// Bytes received over the network.
    pub received_bytes: Option<u64>,
    /// Bytes sent over the network.
    pub sent_bytes: Option<u64>,
    /// Bytes over loopback.
    pub loopback_bytes: Option<u64>,
    /// Share of the time in which the busiest GPU computed.
    pub gpu_share: Option<f64>,
    /// Bytes that the network carries in a second, each way.
    pub link_bytes_per_s: Option<f64>,
}

impl UsageAccount {
    /// What a trial used.
    pub fn of(usage: &Usage) -> Self {
        let network = usage.network.as_ref();
        let gpus = usage.gpus.iter().filter_map(|gpu| gpu.utilization_percent);
        Self {
            wall_s: usage.wall_s,
            cpu_s: usage.user_s + usage.system_s,
            run_queue_s: usage.run_queue_s,
            disk_read_bytes: usage.disk_read_bytes,
            disk_write_bytes: usage.disk_write_bytes,
            received_bytes: network.map(|own| own.received_bytes),
            sent_bytes: network.map(|own| own.sent_bytes),
            loopback_bytes: network.map(|own| own.loopback_bytes),
            gpu_share: gpus.reduce(f64::max).map(|percent| percent / 100.0),
            link_bytes_per_s: None,
        }
    }
}

/// Says which resource may bind a program of which only its use of the machine is known; the
/// machine's capacities tell how busy its disk and network were.
///
/// Nothing where no time passed.
pub fn attribute_usage(
    account: &UsageAccount,
    capacities: Option<&Capacities>,
) -> Option<Attribution> {
    if !(account.wall_s > 0.0 && account.wall_s.is_finite()) {
        return None;
    }
    let wall = account.wall_s;
    let queued = account.run_queue_s.unwrap_or(0.0);
    // As many threads as were at work or wanted to be, on average.
    let threads = ((account.cpu_s + queued) / wall).max(1.0);
    let bandwidth = bandwidth_seconds(account, capacities);
    let mut shares = vec![
        (Resource::Processor, account.cpu_s / wall / threads),
        (Resource::SharedCores, queued / wall / threads),
        (Resource::Disk, disk_seconds(account, capacities) / wall),
        (Resource::NetworkBandwidth, bandwidth.unwrap_or(0.0) / wall),
        (Resource::Gpu, account.gpu_share.unwrap_or(0.0)),
    ];
    let explained: f64 = shares.iter().map(|(_, share)| share.min(1.0)).sum();
    shares.push((Resource::Waiting, 1.0 - explained));
    let mut idealised: Vec<Idealised> = shares
        .into_iter()
        .map(|(resource, share)| Idealised { resource, shrinks_by: share.clamp(0.0, 1.0) })
        .collect();
    let binding = judged(&mut idealised, None);
    let mut attribution = Attribution {
        binding,
        at_most: true,
        idealised,
        covered: None,
        step_s: None,
        bandwidth_use: bandwidth.map(|seconds| seconds / wall),
        slow_rank: None,
        text: String::new(),
    };
    attribution.text = words::of_usage(&attribution, account);
    Some(attribution)
}

/// Seconds that the disk needs for the bytes.
fn disk_seconds(account: &UsageAccount, capacities: Option<&Capacities>) -> f64 {
    let Some(disk) = capacities.and_then(|own| own.disk.as_ref()) else { return 0.0 };
    let seconds = |bytes: Option<u64>, speed: f64| bytes.map_or(0.0, |bytes| bytes as f64 / speed);
    // The speed of memory says nothing of the disk.
    let read = match disk.read_from {
        ReadFrom::Storage => seconds(account.disk_read_bytes, disk.read_bytes_per_s.high),
        ReadFrom::PageCache => 0.0,
    };
    read + seconds(account.disk_write_bytes, disk.write_bytes_per_s.high)
}

/// Seconds that the link and loopback need for the bytes; each way has a lane of its own.
fn bandwidth_seconds(account: &UsageAccount, capacities: Option<&Capacities>) -> Option<f64> {
    let outside = account.received_bytes.max(account.sent_bytes).zip(account.link_bytes_per_s);
    let inside = account.loopback_bytes.zip(capacities.map(|own| own.loopback_bytes_per_s.high));
    let seconds = |own: Option<(u64, f64)>| own.map(|(bytes, speed)| bytes as f64 / speed);
    match (seconds(outside), seconds(inside)) {
        (None, None) => None,
        (outside, inside) => Some(outside.unwrap_or(0.0) + inside.unwrap_or(0.0)),
    }
}
