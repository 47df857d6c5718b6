//! Follows one process tree over its life.

use std::collections::BTreeMap;

use trainwright_study::{GpuUsage, Series};

use crate::gpus::{GpuHistory, nvml};
use crate::history::{History, TreeTotals};
use crate::read::{read_machine, read_tree, ticks_per_s};
use crate::{ProbeError, peak_memory};

/// Follows a process, its process group, its session and everything below them.
///
/// The caller says when to look and how many seconds after the start that is. Series are
/// `cpu.user`, `cpu.system` and `cpu.waiting` (ready, but without a core) in cores, `memory` in bytes, `disk.read` and `disk.write` in
/// bytes/s for the tree; `cpu.core0` and on in percent, `network.received` and `network.sent` in
/// bytes/s for the whole machine; `gpu0.utilization` in percent, `gpu0.memory` in bytes and
/// `gpu0.power` in W and so on for whole GPUs.
#[derive(Debug)]
pub struct TreeSampler {
    root: u32,
    history: History,
    gpus: GpuHistory,
    root_peak_bytes: Option<u64>,
}

impl TreeSampler {
    /// Follows the process `root`, which leads its own process group and has just started.
    pub fn new(root: u32) -> Self {
        let history = History::new(ticks_per_s());
        Self { root, history, gpus: GpuHistory::default(), root_peak_bytes: None }
    }

    /// A first, cheap look: the root's memory, and where the machine's counters stand.
    ///
    /// # Errors
    /// When the machine's counters cannot be read.
    pub fn first_look(&mut self, at_s: f64) -> Result<(), ProbeError> {
        self.look_at_root();
        self.history.add_machine(at_s, read_machine()?);
        Ok(())
    }

    /// Samples the tree and the machine.
    ///
    /// # Errors
    /// When `/proc` cannot be read; a tree that has ended is no error and adds nothing.
    pub fn sample(&mut self, at_s: f64) -> Result<(), ProbeError> {
        self.look_at_root();
        let tree = read_tree(self.root, &self.history.known())?;
        if let (Ok(driver), false) = (nvml::driver(), tree.is_empty()) {
            let members = tree.keys().copied().collect();
            self.gpus.look(driver, at_s, &members, &mut self.history);
        }
        self.history.add_tree(at_s, tree);
        self.history.add_machine(at_s, read_machine()?);
        Ok(())
    }

    /// What the tree is known to have used up to the last look.
    pub fn totals(&self) -> TreeTotals {
        let mut totals = self.history.totals();
        totals.peak_memory_bytes = totals.peak_memory_bytes.max(self.root_peak_bytes);
        totals
    }

    /// What was used of each GPU up to the last look; `alone` where no other trial ran meanwhile.
    pub fn gpus(&self, alone: bool) -> Vec<GpuUsage> {
        let names = nvml::driver().map(nvml::Nvml::described).unwrap_or_default();
        self.gpus.usage(names, alone)
    }

    /// Start times of the members last seen, by process id.
    pub fn members(&self) -> BTreeMap<u32, u64> {
        self.history.known()
    }

    /// What was seen, one series a quantity.
    pub fn into_series(self) -> Vec<Series> {
        self.history.into_series()
    }

    fn look_at_root(&mut self) {
        self.root_peak_bytes = self.root_peak_bytes.max(peak_memory(self.root));
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A shell that does what its standard input says, and says `ready` after each line.
    fn shell() -> Child {
        Command::new("sh")
            .args(["-c", "while read -r line; do eval \"$line\"; echo ready; done"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap()
    }

    #[test]
    fn work_of_a_tree_is_seen_even_after_its_children_ended() {
        let mut child = shell();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut tell = |line: &str| {
            writeln!(input, "{line}").unwrap();
            output.read_line(&mut String::new()).unwrap();
        };
        let mut sampler = TreeSampler::new(child.id());
        sampler.first_look(0.0).unwrap();
        tell("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'");
        sampler.sample(1.0).unwrap();
        tell("true");
        sampler.sample(2.0).unwrap();
        drop(input);
        child.wait().unwrap();
        sampler.sample(3.0).unwrap();
        let totals = sampler.totals();
        assert!(totals.user_s > 0.0, "{totals:?}");
        assert!(totals.peak_memory_bytes.unwrap() > 100_000, "{totals:?}");
        let series = sampler.into_series();
        let user = series.iter().find(|series| series.name == "cpu.user").unwrap();
        assert_eq!(user.at, [1.0, 2.0]);
        assert!(user.values[0] > user.values[1] && user.values[1] >= 0.0, "{:?}", user.values);
        assert!(series.iter().any(|series| series.name == "cpu.core0"));
    }
}
