//! What a trial used of a GPU.

use serde::{Deserialize, Serialize};

/// What a trial used of one GPU, by what its driver told while the trial ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuUsage {
    /// Number of the GPU, as its driver counts.
    pub device: u32,
    /// Its name.
    pub name: String,
    /// Share of the time in which it computed, in percent.
    pub utilization_percent: Option<f64>,
    /// Whose share that is.
    pub utilization_scope: GpuScope,
    /// Largest memory in use.
    pub peak_memory_bytes: Option<u64>,
    /// Whose memory that is.
    pub memory_scope: GpuScope,
    /// Mean power that the whole GPU drew, in watts.
    pub power_w: Option<f64>,
    /// Energy that the whole GPU drew while the trial was looked at, in joules.
    pub energy_j: Option<f64>,
}

/// Whose share of a GPU a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GpuScope {
    /// All programs' together.
    Device,
    /// The trial's process tree alone.
    Tree,
}

#[cfg(test)]
mod tests {
    use crate::Usage;

    #[test]
    fn a_usage_without_gpus_reads_and_writes_as_it_did_before_there_were_any() {
        let old = r#"{"wall_s":1.5,"user_s":1.0,"system_s":0.5,"peak_memory_bytes":null,
            "disk_read_bytes":null,"disk_write_bytes":null,"network":null,"exit_code":0,
            "signal":null}"#;
        let usage: Usage = serde_json::from_str(old).unwrap();
        assert_eq!((usage.run_queue_s, usage.major_faults, usage.gpus.len()), (None, None, 0));
        let written = serde_json::to_value(&usage).unwrap();
        assert_eq!(written, serde_json::from_str::<serde_json::Value>(old).unwrap());
    }
}
