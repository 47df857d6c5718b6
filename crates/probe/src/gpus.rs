//! What GPUs do while a process tree runs: readings of the driver, turned into series and usage.
//!
//! `nvml.rs` talks to the driver; here are values alone.

pub(crate) mod nvml;

use std::collections::{BTreeMap, BTreeSet};

use trainwright_study::{GpuScope, GpuUsage};

use crate::history::History;
use nvml::Nvml;

/// A GPU as its driver describes it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct GpuDescription {
    /// Number, as the driver counts.
    pub device: u32,
    /// Name.
    pub name: String,
    /// Memory; absent where the driver does not tell.
    pub memory_bytes: Option<u64>,
}

/// What one GPU did at one look.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct GpuReading {
    /// Share of the last moments in which it computed for anybody, in percent.
    pub(crate) utilization_percent: Option<f64>,
    /// The same for the tree; absent where the driver tells of no processes.
    pub(crate) tree_utilization_percent: Option<f64>,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) tree_memory_bytes: Option<u64>,
    pub(crate) power_w: Option<f64>,
}

/// The looks at the GPUs over the life of a tree.
#[derive(Debug, Default)]
pub(crate) struct GpuHistory {
    devices: BTreeMap<u32, Looks>,
    /// When the driver last sampled what each GPU did for processes, in its own time.
    sampled: BTreeMap<u32, u64>,
}

/// The looks at one GPU.
#[derive(Debug, Default)]
struct Looks {
    utilization: Mean,
    tree_utilization: Mean,
    /// Looks that told of the tree's own computing, of its own memory, of the device's memory.
    without_tree_utilization: bool,
    without_tree_memory: bool,
    memory_bytes: Option<u64>,
    tree_memory_bytes: Option<u64>,
    power: Mean,
    energy_j: f64,
    at_s: f64,
}

/// A mean over the looks that told.
#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
        }
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl GpuHistory {
    /// Looks at all GPUs for a tree of these processes.
    pub(crate) fn look(
        &mut self,
        driver: &Nvml,
        at_s: f64,
        tree: &BTreeSet<u32>,
        history: &mut History,
    ) {
        for device in 0..driver.devices() {
            let sampled = self.sampled.entry(device).or_default();
            let reading = driver.read(device, tree, sampled);
            self.add(device, at_s, reading, history);
        }
    }

    /// Adds what one GPU did; series are of the whole device.
    fn add(&mut self, device: u32, at_s: f64, reading: GpuReading, history: &mut History) {
        let mut push = |name: &str, unit: &str, value: Option<f64>| {
            if let Some(value) = value {
                history.push(&format!("gpu{device}.{name}"), unit, at_s, value);
            }
        };
        push("utilization", "percent", reading.utilization_percent);
        push("memory", "bytes", reading.memory_bytes.map(|bytes| bytes as f64));
        push("power", "W", reading.power_w);
        let looks = self.devices.entry(device).or_default();
        looks.utilization.add(reading.utilization_percent);
        looks.tree_utilization.add(reading.tree_utilization_percent);
        looks.without_tree_utilization |= reading.tree_utilization_percent.is_none();
        looks.without_tree_memory |= reading.tree_memory_bytes.is_none();
        looks.memory_bytes = looks.memory_bytes.max(reading.memory_bytes);
        looks.tree_memory_bytes = looks.tree_memory_bytes.max(reading.tree_memory_bytes);
        looks.power.add(reading.power_w);
        // Power is taken to have been the same since the look before.
        looks.energy_j += reading.power_w.unwrap_or(0.0) * (at_s - looks.at_s);
        looks.at_s = at_s;
    }

    /// What was used of each GPU. Figures of the whole device mean something only where no other
    /// trial ran, so they are left out unless the tree was `alone`.
    pub(crate) fn usage(&self, names: &[GpuDescription], alone: bool) -> Vec<GpuUsage> {
        let of = |(device, looks): (&u32, &Looks)| {
            let own = |missing: bool| if missing { GpuScope::Device } else { GpuScope::Tree };
            let utilization_scope = own(looks.without_tree_utilization);
            let memory_scope = own(looks.without_tree_memory);
            let shared = |scope: GpuScope| scope == GpuScope::Device && !alone;
            let utilization_percent = match utilization_scope {
                GpuScope::Tree => looks.tree_utilization.value(),
                GpuScope::Device => looks.utilization.value(),
            };
            let peak_memory_bytes = match memory_scope {
                GpuScope::Tree => looks.tree_memory_bytes,
                GpuScope::Device => looks.memory_bytes,
            };
            let power_w = looks.power.value().filter(|_| alone);
            GpuUsage {
                device: *device,
                name: names
                    .iter()
                    .find(|own| own.device == *device)
                    .map_or_else(String::new, |own| own.name.clone()),
                utilization_percent: utilization_percent.filter(|_| !shared(utilization_scope)),
                utilization_scope,
                peak_memory_bytes: peak_memory_bytes.filter(|_| !shared(memory_scope)),
                memory_scope,
                power_w,
                energy_j: power_w.map(|_| looks.energy_j),
            }
        };
        self.devices.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(device: f64, tree: Option<f64>, bytes: u64, power_w: f64) -> GpuReading {
        GpuReading {
            utilization_percent: Some(device),
            tree_utilization_percent: tree,
            memory_bytes: Some(10 * bytes),
            tree_memory_bytes: Some(bytes),
            power_w: Some(power_w),
        }
    }

    #[test]
    fn means_peaks_and_energy_are_those_of_the_looks() {
        let (mut gpus, mut history) = (GpuHistory::default(), History::new(100.0));
        gpus.add(0, 1.0, reading(50.0, Some(40.0), 7, 100.0), &mut history);
        gpus.add(0, 3.0, reading(90.0, Some(20.0), 5, 200.0), &mut history);
        let names = [GpuDescription { device: 0, name: "G".into(), memory_bytes: None }];
        let used = gpus.usage(&names, true).remove(0);
        assert_eq!((used.name.as_str(), used.utilization_percent), ("G", Some(30.0)));
        assert_eq!((used.utilization_scope, used.memory_scope), (GpuScope::Tree, GpuScope::Tree));
        assert_eq!(used.peak_memory_bytes, Some(7));
        // 100 W for the first second, 200 W for the two after it.
        assert_eq!((used.power_w, used.energy_j), (Some(150.0), Some(500.0)));
        let series = history.into_series();
        let names: Vec<&str> = series.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["gpu0.memory", "gpu0.power", "gpu0.utilization"]);
        assert_eq!(series[2].values, [50.0, 90.0]);
    }

    #[test]
    fn one_look_without_processes_makes_a_figure_the_devices() {
        let (mut gpus, mut history) = (GpuHistory::default(), History::new(100.0));
        gpus.add(1, 1.0, reading(50.0, Some(40.0), 7, 100.0), &mut history);
        gpus.add(1, 2.0, reading(70.0, None, 5, 100.0), &mut history);
        let used = gpus.usage(&[], true).remove(0);
        assert_eq!((used.device, used.utilization_scope), (1, GpuScope::Device));
        assert_eq!(used.utilization_percent, Some(60.0));
        let shared = gpus.usage(&[], false).remove(0);
        assert_eq!((shared.utilization_percent, shared.power_w), (None, None));
        assert_eq!(shared.peak_memory_bytes, Some(7), "the tree's own figure stays");
    }
}
