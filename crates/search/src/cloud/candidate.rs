//! Machine types and the configurations made of them.

use serde::{Deserialize, Serialize};

/// A machine type as a catalogue lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name, such as `c4.large`.
    pub vm_type: String,
    /// Virtual processors.
    pub vcpus: f64,
    /// Memory in GiB.
    pub memory_gib: f64,
    /// Price of an hour in US dollars.
    pub price_usd_per_hour: f64,
    /// Nominal clock of a processor in GHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ghz: Option<f64>,
    /// Generation of the hardware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<f64>,
    /// Local disk in GB, or 1 and 0 for those with and without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_disk_gb: Option<f64>,
    /// Network in Gbit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_gbps: Option<f64>,
    /// Graphics processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<f64>,
}

/// Machines of one type, so many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The type.
    #[serde(flatten)]
    pub machine: Machine,
    /// How many.
    pub nodes: u32,
}

impl Candidate {
    /// What an hour of all of them costs, in US dollars.
    pub fn price_usd_per_hour(&self) -> f64 {
        self.machine.price_usd_per_hour * f64::from(self.nodes)
    }

    /// What a run of this length costs, in US dollars.
    pub fn cost_usd(&self, elapsed_s: f64) -> f64 {
        elapsed_s / 3600.0 * self.price_usd_per_hour()
    }

    /// Virtual processors of all nodes.
    pub fn total_vcpus(&self) -> f64 {
        self.machine.vcpus * f64::from(self.nodes)
    }

    /// The name of the type and the number of nodes.
    pub fn label(&self) -> String {
        match self.nodes {
            1 => self.machine.vm_type.clone(),
            nodes => format!("{nodes} x {}", self.machine.vm_type),
        }
    }
}
