//! Successive looks at a tree, turned into series and totals.

use std::collections::BTreeMap;

use trainwright_study::Series;

use crate::growth::{Growth, Tree, growth};
use crate::{CoreTicks, NetworkCounters};

/// The machine-wide counters at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct MachineCounters {
    pub(crate) cores: BTreeMap<u32, CoreTicks>,
    pub(crate) network: NetworkCounters,
}

/// What a process tree is known to have used up to the last look.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TreeTotals {
    /// CPU seconds in user mode.
    pub user_s: f64,
    /// CPU seconds in kernel mode.
    pub system_s: f64,
    /// Bytes read from storage, unless the kernel showed no member's.
    pub disk_read_bytes: Option<u64>,
    /// Bytes written to storage, unless the kernel showed no member's.
    pub disk_write_bytes: Option<u64>,
    /// Seconds that threads were ready and had no core, unless the kernel keeps no such account.
    pub run_queue_s: Option<f64>,
    /// Largest sum of resident memory over the members; pages they share count in each.
    pub peak_memory_bytes: Option<u64>,
}

/// Looks at one tree so far.
#[derive(Debug)]
pub(crate) struct History {
    ticks_per_s: f64,
    at_s: f64,
    tree: Tree,
    sum: Growth,
    saw_io: bool,
    saw_run_queue: bool,
    peak_memory_bytes: Option<u64>,
    machine: Option<(f64, MachineCounters)>,
    series: BTreeMap<String, Series>,
}

impl History {
    /// A tree that starts now, with nothing used.
    pub(crate) fn new(ticks_per_s: f64) -> Self {
        Self {
            ticks_per_s,
            at_s: 0.0,
            tree: Tree::new(),
            sum: Growth::default(),
            saw_io: false,
            saw_run_queue: false,
            peak_memory_bytes: None,
            machine: None,
            series: BTreeMap::new(),
        }
    }

    /// Adds a look at the tree, `at_s` seconds after its start.
    pub(crate) fn add_tree(&mut self, at_s: f64, tree: Tree) {
        let seconds = at_s - self.at_s;
        if tree.is_empty() || seconds <= 0.0 {
            return;
        }
        let growth = growth(&self.tree, &tree);
        let cores = |ticks: u64| ticks as f64 / self.ticks_per_s / seconds;
        let (user, system) = (cores(growth.user_ticks), cores(growth.system_ticks));
        let memory: u64 = tree.values().map(|member| member.resident_bytes).sum();
        self.push("cpu.user", "cores", at_s, user);
        self.push("cpu.system", "cores", at_s, system);
        self.push("memory", "bytes", at_s, memory as f64);
        if tree.values().any(|member| member.io.is_some()) {
            self.saw_io = true;
            self.push("disk.read", "bytes/s", at_s, growth.read_bytes as f64 / seconds);
            self.push("disk.write", "bytes/s", at_s, growth.write_bytes as f64 / seconds);
        }
        if tree.values().any(|member| member.run_queue_ns.is_some()) {
            self.saw_run_queue = true;
            let waited = growth.run_queue_ns as f64 * 1e-9 / seconds;
            self.push("cpu.waiting", "cores", at_s, waited);
        }
        self.peak_memory_bytes = self.peak_memory_bytes.max(Some(memory));
        self.sum.user_ticks += growth.user_ticks;
        self.sum.system_ticks += growth.system_ticks;
        self.sum.read_bytes += growth.read_bytes;
        self.sum.write_bytes += growth.write_bytes;
        self.sum.run_queue_ns += growth.run_queue_ns;
        (self.at_s, self.tree) = (at_s, tree);
    }

    /// Adds a reading of the machine-wide counters; the first one only sets the start.
    pub(crate) fn add_machine(&mut self, at_s: f64, now: MachineCounters) {
        if let Some((before_s, before)) = self.machine.take() {
            let seconds = at_s - before_s;
            for (core, ticks) in &now.cores {
                let percent = before.cores.get(core).and_then(|old| ticks.percent_since(*old));
                if let Some(percent) = percent {
                    self.push(&format!("cpu.core{core}"), "percent", at_s, percent);
                }
            }
            if let Some(bytes) = now.network.since(&before.network).filter(|_| seconds > 0.0) {
                let received = bytes.received_bytes as f64 / seconds;
                self.push("network.received", "bytes/s", at_s, received);
                self.push("network.sent", "bytes/s", at_s, bytes.sent_bytes as f64 / seconds);
            }
        }
        self.machine = Some((at_s, now));
    }

    /// Start times of the members last seen, by process id.
    pub(crate) fn known(&self) -> BTreeMap<u32, u64> {
        self.tree.iter().map(|(&pid, member)| (pid, member.stat.start_ticks)).collect()
    }

    pub(crate) fn totals(&self) -> TreeTotals {
        TreeTotals {
            user_s: self.sum.user_ticks as f64 / self.ticks_per_s,
            system_s: self.sum.system_ticks as f64 / self.ticks_per_s,
            disk_read_bytes: self.saw_io.then_some(self.sum.read_bytes),
            disk_write_bytes: self.saw_io.then_some(self.sum.write_bytes),
            run_queue_s: self.saw_run_queue.then_some(self.sum.run_queue_ns as f64 * 1e-9),
            peak_memory_bytes: self.peak_memory_bytes,
        }
    }

    pub(crate) fn into_series(self) -> Vec<Series> {
        self.series.into_values().collect()
    }

    pub(crate) fn push(&mut self, name: &str, unit: &str, at_s: f64, value: f64) {
        let series = self.series.entry(name.to_owned()).or_insert_with(|| Series {
            name: name.to_owned(),
            axis: "s".to_owned(),
            unit: unit.to_owned(),
            at: Vec::new(),
            values: Vec::new(),
        });
        series.at.push(at_s);
        series.values.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::Member;
    use crate::{ProcessIo, ProcessStat};

    fn tree(user_ticks: u64, resident_bytes: u64, read_bytes: Option<u64>) -> Tree {
        let stat = ProcessStat {
            pid: 7,
            state: 'R',
            parent: 1,
            group: 7,
            session: 7,
            terminal: 0,
            user_ticks,
            system_ticks: 0,
            reaped_user_ticks: 0,
            reaped_system_ticks: 0,
            start_ticks: 1,
        };
        let io = read_bytes.map(|read_bytes| ProcessIo { read_bytes, write_bytes: 0 });
        let run_queue_ns = read_bytes.map(|bytes| 1_000_000 * bytes);
        Tree::from([(7, Member { stat, resident_bytes, io, run_queue_ns })])
    }

    fn machine(busy: u64, total: u64, received: u64) -> MachineCounters {
        MachineCounters {
            cores: BTreeMap::from([(0, CoreTicks { busy, total })]),
            network: NetworkCounters {
                interfaces: BTreeMap::from([("eth0".to_owned(), (received, 0))]),
            },
        }
    }

    fn named(history: History) -> BTreeMap<String, Series> {
        history.into_series().into_iter().map(|series| (series.name.clone(), series)).collect()
    }

    #[test]
    fn counters_become_rates_between_looks() {
        let mut history = History::new(100.0);
        history.add_tree(0.5, tree(25, 1000, Some(50)));
        history.add_tree(1.5, tree(125, 800, Some(70)));
        let totals = history.totals();
        assert_eq!((totals.user_s, totals.disk_read_bytes), (1.25, Some(70)));
        assert_eq!(totals.peak_memory_bytes, Some(1000));
        assert_eq!(totals.run_queue_s, Some(0.07));
        let series = named(history);
        assert_eq!(series["cpu.user"].at, [0.5, 1.5]);
        assert_eq!(series["cpu.user"].values, [0.5, 1.0]);
        assert_eq!(series["memory"].values, [1000.0, 800.0]);
        assert_eq!(series["disk.read"].values, [100.0, 20.0]);
        assert_eq!(series["cpu.waiting"].values, [0.1, 0.02]);
    }

    #[test]
    fn unreadable_storage_counters_give_no_series() {
        let mut history = History::new(100.0);
        history.add_tree(1.0, tree(1, 1, None));
        assert_eq!(history.totals().disk_read_bytes, None);
        assert_eq!(history.totals().run_queue_s, None);
        assert!(!named(history).contains_key("disk.read"));
    }

    #[test]
    fn the_first_machine_reading_only_sets_the_start() {
        let mut history = History::new(100.0);
        history.add_machine(0.0, machine(500, 1000, 5_000));
        history.add_machine(2.0, machine(550, 1200, 7_000));
        let series = named(history);
        assert_eq!(series["cpu.core0"].at, [2.0]);
        assert_eq!(series["cpu.core0"].values, [25.0]);
        assert_eq!(series["network.received"].values, [1_000.0]);
    }
}
