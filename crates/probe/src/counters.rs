//! Parsers of the machine-wide counters: `/proc/stat` and `/proc/net/dev`.

use std::collections::BTreeMap;

/// What one core did since boot, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoreTicks {
    /// At work: user, nice, system and interrupts.
    pub busy: u64,
    /// All of it: at work, idle, waiting for storage, and taken by other virtual machines.
    pub total: u64,
}

impl CoreTicks {
    /// Share of the time since `before` that the core was at work, in percent.
    ///
    /// Nothing where no tick has passed, or where the counters went back.
    pub fn percent_since(self, before: Self) -> Option<f64> {
        let total = self.total.checked_sub(before.total).filter(|&ticks| ticks > 0)?;
        let busy = self.busy.checked_sub(before.busy)?;
        Some(100.0 * busy as f64 / total as f64)
    }
}

/// Network bytes since the interfaces came up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkCounters {
    /// Received and sent bytes by interface, loopback included.
    pub interfaces: BTreeMap<String, (u64, u64)>,
}

/// Network bytes between two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetworkGrowth {
    /// Bytes received over interfaces other than loopback.
    pub received_bytes: u64,
    /// Bytes sent over interfaces other than loopback.
    pub sent_bytes: u64,
    /// Bytes over loopback.
    pub loopback_bytes: u64,
}

impl NetworkCounters {
    /// Bytes since `before`; nothing when a counter went back, as after a driver's restart.
    ///
    /// An interface that appeared in between counts from zero; one that is gone took its last
    /// bytes with it.
    pub fn since(&self, before: &Self) -> Option<NetworkGrowth> {
        let mut growth = NetworkGrowth::default();
        for (name, &(received, sent)) in &self.interfaces {
            let (old_received, old_sent) = before.interfaces.get(name).copied().unwrap_or_default();
            let received = received.checked_sub(old_received)?;
            let sent = sent.checked_sub(old_sent)?;
            if name == "lo" {
                // The kernel counts each loopback byte once as sent and once as received.
                growth.loopback_bytes += sent;
            } else {
                growth.received_bytes += received;
                growth.sent_bytes += sent;
            }
        }
        Some(growth)
    }
}

/// Reads the `cpuN` lines of `/proc/stat`, by the number of the core.
pub(crate) fn parse_cores(text: &str) -> BTreeMap<u32, CoreTicks> {
    text.lines().filter_map(parse_core).collect()
}

fn parse_core(line: &str) -> Option<(u32, CoreTicks)> {
    let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
    let core = words.next()?.parse().ok()?;
    if !line[3..].starts_with(|c: char| c.is_ascii_digit()) {
        return None; // the line `cpu`, which sums all cores
    }
    let ticks: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    // user nice system idle iowait irq softirq steal; guest time is part of user time.
    let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
    let busy = [0, 1, 2, 5, 6].map(at).iter().try_fold(0u64, |sum, &t| sum.checked_add(t))?;
    let rest = [3, 4, 7].map(at).iter().try_fold(busy, |sum, &t| sum.checked_add(t))?;
    (ticks.len() >= 4).then_some((core, CoreTicks { busy, total: rest }))
}

/// Reads `/proc/net/dev`.
pub(crate) fn parse_network(text: &str) -> NetworkCounters {
    NetworkCounters { interfaces: text.lines().filter_map(parse_interface).collect() }
}

fn parse_interface(line: &str) -> Option<(String, (u64, u64))> {
    // Names may hold colons (aliases), numbers do not.
    let (name, numbers) = line.rsplit_once(':')?;
    let numbers: Vec<u64> =
        numbers.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    Some((name.trim().to_owned(), (*numbers.first()?, *numbers.get(8)?)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NET_DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0
  eth0: 247050751    7881    0    0    0     0          0         0   611587    5296    0    0    0     0       0          0
";

    #[test]
    fn loopback_is_counted_apart() {
        let before = parse_network(NET_DEV);
        assert_eq!(before.interfaces["eth0"], (247_050_751, 611_587));
        let mut after = before.clone();
        after.interfaces.insert("eth0".into(), (247_050_851, 611_597));
        after.interfaces.insert("lo".into(), (3200, 3200));
        after.interfaces.insert("wlan0".into(), (5, 6));
        let growth = after.since(&before).unwrap();
        let expected = NetworkGrowth { received_bytes: 105, sent_bytes: 16, loopback_bytes: 7 };
        assert_eq!(growth, expected);
        assert_eq!(before.since(&after), None, "counters that went back tell nothing");
    }

    #[test]
    fn cores_are_read_without_their_sum() {
        let text = "cpu  13714 0 4791 171761 1496 0 95 95 0 0\n\
                    cpu0 5914 1 1920 87990 78 2 20 49 0 0\n\
                    cpu11 7800 0 2871 83770 1417 0 75 46 0 0\nintr 250497\n";
        let cores = parse_cores(text);
        assert_eq!(cores.keys().copied().collect::<Vec<_>>(), [0, 11]);
        assert_eq!(cores[&0], CoreTicks { busy: 7857, total: 7857 + 87990 + 78 + 49 });
    }

    #[test]
    fn a_core_is_judged_by_what_passed() {
        let before = CoreTicks { busy: 100, total: 1000 };
        let after = CoreTicks { busy: 115, total: 1020 };
        assert_eq!(after.percent_since(before), Some(75.0));
        assert_eq!(after.percent_since(after), None);
        assert_eq!(before.percent_since(after), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "(?s)(cpu|lo:)?.{0,200}") {
            let _ = (parse_cores(&text), parse_network(&text));
        }

        #[test]
        fn busy_time_stays_between_none_and_all(
            ticks in prop::collection::vec(0u64..1 << 40, 4..12),
        ) {
            let words: Vec<String> = ticks.iter().map(u64::to_string).collect();
            let cores = parse_cores(&format!("cpu3 {}", words.join(" ")));
            prop_assert!(cores[&3].busy <= cores[&3].total);
        }
    }
}
