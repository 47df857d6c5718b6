//! What trials used of the machine, as columns of an exported table.

use std::collections::BTreeSet;

use trainwright_store::StoredTrial;
use trainwright_study::{GpuScope, GpuUsage, Level, NetworkUsage, Usage};

/// A column with its cells.
type Column = (String, Vec<Option<Level>>);

/// One column a figure, `usage.wall_s` and on; GPUs have columns where a trial has figures of one.
pub(crate) fn usage_columns(trials: &[StoredTrial]) -> Vec<Column> {
    let number = |value: f64| Some(Level::Number(value));
    let whole =
        |value: Option<u64>| value.and_then(|own| i64::try_from(own).ok()).map(Level::Integer);
    let of = |name: &str, cell: &dyn Fn(&Usage) -> Option<Level>| {
        let cells = trials.iter().map(|trial| trial.usage.as_ref().and_then(cell)).collect();
        (format!("usage.{name}"), cells)
    };
    let network =
        |usage: &Usage, pick: fn(&NetworkUsage) -> u64| whole(usage.network.as_ref().map(pick));
    let mut columns = vec![
        of("wall_s", &|own| number(own.wall_s)),
        of("user_s", &|own| number(own.user_s)),
        of("system_s", &|own| number(own.system_s)),
        of("run_queue_s", &|own| own.run_queue_s.map(Level::Number)),
        of("peak_memory_bytes", &|own| whole(own.peak_memory_bytes)),
        of("major_faults", &|own| whole(own.major_faults)),
        of("disk_read_bytes", &|own| whole(own.disk_read_bytes)),
        of("disk_write_bytes", &|own| whole(own.disk_write_bytes)),
        of("network_received_bytes", &|own| network(own, |own| own.received_bytes)),
        of("network_sent_bytes", &|own| network(own, |own| own.sent_bytes)),
        of("network_loopback_bytes", &|own| network(own, |own| own.loopback_bytes)),
    ];
    let usages = trials.iter().filter_map(|trial| trial.usage.as_ref());
    let devices: BTreeSet<u32> =
        usages.flat_map(|usage| &usage.gpus).map(|gpu| gpu.device).collect();
    for device in devices {
        let gpu = |usage: &Usage| usage.gpus.iter().find(|own| own.device == device).cloned();
        let mut put = |name: &str, cell: &dyn Fn(GpuUsage) -> Option<Level>| {
            columns.push(of(&format!("gpu{device}_{name}"), &|usage| gpu(usage).and_then(cell)));
        };
        put("utilization_percent", &|own| own.utilization_percent.map(Level::Number));
        put("utilization_scope", &|own| scope(own.utilization_scope));
        put("peak_memory_bytes", &|own| whole(own.peak_memory_bytes));
        put("memory_scope", &|own| scope(own.memory_scope));
        put("power_w", &|own| own.power_w.map(Level::Number));
        put("energy_j", &|own| own.energy_j.map(Level::Number));
    }
    columns
}

fn scope(scope: GpuScope) -> Option<Level> {
    let word = match scope {
        GpuScope::Device => "device",
        GpuScope::Tree => "tree",
    };
    Some(Level::Text(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::tests::{TWO_BY_TWO, finished, planned_trials, study};

    #[test]
    fn a_trial_that_did_not_run_has_empty_cells_and_gpus_have_columns_of_their_own() {
        let mut trials = planned_trials(&study(TWO_BY_TWO));
        let mut ran = finished(trials.remove(0), 1.0);
        let gpu = GpuUsage {
            device: 1,
            name: "G".into(),
            utilization_percent: Some(40.0),
            utilization_scope: GpuScope::Tree,
            peak_memory_bytes: Some(7),
            memory_scope: GpuScope::Device,
            power_w: None,
            energy_j: None,
        };
        let usage =
            Usage { wall_s: 2.0, major_faults: Some(3), gpus: vec![gpu], ..Usage::default() };
        ran.usage = Some(usage);
        let columns = usage_columns(&[ran, trials.remove(0)]);
        let cells = |name: &str| {
            let own = columns.iter().find(|(own, _)| own == name);
            own.unwrap_or_else(|| panic!("no {name}")).1.clone()
        };
        assert_eq!(cells("usage.wall_s"), [Some(Level::Number(2.0)), None]);
        assert_eq!(cells("usage.major_faults"), [Some(Level::Integer(3)), None]);
        assert_eq!(cells("usage.network_sent_bytes"), [None, None]);
        assert_eq!(cells("usage.gpu1_utilization_percent"), [Some(Level::Number(40.0)), None]);
        let device = Some(Level::Text("device".to_owned()));
        assert_eq!(cells("usage.gpu1_memory_scope"), [device, None]);
        assert!(!columns.iter().any(|(name, _)| name.contains("gpu0")));
    }
}
