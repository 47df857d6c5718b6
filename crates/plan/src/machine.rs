//! Machines: nodes with devices, their speed and memory, and the links between them.

mod presets;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use presets::{MACHINE_NAMES, named_machine};

use crate::error::PlanError;

/// Some equal nodes with equal devices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What it is called.
    pub name: String,
    /// Where its figures come from.
    pub source: String,
    /// How many nodes.
    pub nodes: u32,
    /// Devices of each.
    pub devices_per_node: u32,
    /// What a node costs, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_node_hour: Option<f64>,
    /// Each device.
    pub device: Device,
    /// Between devices of one node.
    pub inside: Link,
    /// Between nodes.
    pub between: Link,
}

/// What a device can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// What it is.
    pub name: String,
    /// Floating-point operations a second that it could do.
    pub flops_per_s: f64,
    /// Share of that which kinds of operators reach; `other` stands for those not named.
    #[serde(default)]
    pub efficiency: BTreeMap<String, f64>,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Bytes a second from and to its memory.
    pub memory_bytes_per_s: f64,
    /// Time to start one piece of work.
    pub launch_s: f64,
    /// How fast it updates parameters, where that was measured; else by its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updates: Option<UpdateRates>,
    /// Measured times that take the place of the rates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Measured>,
}

/// Bytes of weights, gradients and the optimiser's numbers that a device reads and writes in a second
/// of an update. Devices that share memory and caches hold each other up, and the more so the more of
/// them each goes through.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateRates {
    /// All parameters, while the other devices have nothing to do.
    pub alone_bytes_per_s: f64,
    /// All parameters, while every other device updates its copy of them.
    pub copies_bytes_per_s: f64,
    /// A share of the parameters, while every other device updates its own.
    pub shares_bytes_per_s: f64,
}

/// The time of operators of one kind and size, as it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The kind.
    pub kind: String,
    /// Operations of the work that was timed.
    pub flops: f64,
    /// Seconds forward.
    pub forward_s: f64,
    /// Seconds backward.
    pub backward_s: f64,
}

/// A connection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Bytes a second in one direction.
    pub bytes_per_s: f64,
    /// Time before the first byte arrives.
    pub latency_s: f64,
    /// Who shares it.
    #[serde(default)]
    pub shared_by: SharedBy,
}

/// Who must take turns on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedBy {
    /// What two devices send each other in one direction, as with NVLink to each neighbour.
    Pair,
    /// All that one device sends.
    #[default]
    Device,
    /// All that the devices of one node send: a bus, or a network card.
    Node,
}

impl Machine {
    /// The machine of a TOML text.
    ///
    /// # Errors
    /// When it is no TOML of a machine, or a figure is impossible.
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        let own: Self = toml::from_str(text)
            .map_err(|error| PlanError::MachineText { reason: error.to_string() })?;
        own.checked()
    }

    /// The same machine as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("names and numbers become TOML")
    }

    /// All devices.
    pub fn devices(&self) -> usize {
        self.nodes as usize * self.devices_per_node as usize
    }

    /// The node of a device.
    pub fn node_of(&self, device: usize) -> usize {
        device / self.devices_per_node as usize
    }

    /// What an hour of all nodes costs.
    pub fn price_per_hour(&self) -> Option<f64> {
        self.price_per_node_hour.map(|price| price * f64::from(self.nodes))
    }

    /// The machine, when every figure is possible.
    ///
    /// # Errors
    /// The first figure that is not.
    pub fn checked(self) -> Result<Self, PlanError> {
        let refused = |key: &str, value: String, wants: &str| PlanError::Machine {
            machine: self.name.clone(),
            key: key.to_owned(),
            value,
            wants: wants.to_owned(),
        };
        for (key, count) in [("nodes", self.nodes), ("devices_per_node", self.devices_per_node)] {
            if !(1..=1024).contains(&count) {
                return Err(refused(key, count.to_string(), "it must be from 1 to 1024"));
            }
        }
        if self.devices() > 1024 {
            let all = self.devices().to_string();
            return Err(refused(
                "nodes x devices_per_node",
                all,
                "at most 1024 devices are planned for",
            ));
        }
        for (key, rate) in [
            ("device.flops_per_s", self.device.flops_per_s),
            ("device.memory_bytes_per_s", self.device.memory_bytes_per_s),
            ("inside.bytes_per_s", self.inside.bytes_per_s),
            ("between.bytes_per_s", self.between.bytes_per_s),
        ]
        .into_iter()
        .chain(self.device.updates.iter().flat_map(UpdateRates::named))
        {
            if !(1.0..=1e21).contains(&rate) {
                return Err(refused(key, rate.to_string(), "it must be from 1 to 1e21 a second"));
            }
        }
        for (key, time) in [
            ("device.launch_s", self.device.launch_s),
            ("inside.latency_s", self.inside.latency_s),
            ("between.latency_s", self.between.latency_s),
        ] {
            if !(0.0..=10.0).contains(&time) {
                return Err(refused(key, time.to_string(), "it must be from 0 to 10 seconds"));
            }
        }
        if let Some((kind, share)) =
            self.device.efficiency.iter().find(|(_, share)| !(**share > 0.0 && **share <= 1.0))
        {
            let key = format!("device.efficiency.{kind}");
            return Err(refused(&key, share.to_string(), "a share lies above 0 and up to 1"));
        }
        for row in &self.device.measured {
            let possible = |value: f64| value > 0.0 && value < 1e18;
            if ![row.flops, row.forward_s, row.backward_s].into_iter().all(possible) {
                let key = format!("device.measured of {}", row.kind);
                return Err(refused(&key, format!("{row:?}"), "its figures must be above 0"));
            }
        }
        if let Some(price) = self.price_per_node_hour
            && !(0.0..=1e9).contains(&price)
        {
            return Err(refused(
                "price_per_node_hour",
                price.to_string(),
                "it must not be negative",
            ));
        }
        Ok(self)
    }
}

impl UpdateRates {
    /// The rates with their keys.
    fn named(&self) -> [(&'static str, f64); 3] {
        [
            ("device.updates.alone_bytes_per_s", self.alone_bytes_per_s),
            ("device.updates.copies_bytes_per_s", self.copies_bytes_per_s),
            ("device.updates.shares_bytes_per_s", self.shares_bytes_per_s),
        ]
    }
}

impl Device {
    /// Share of the rate that a kind of operator reaches.
    pub(crate) fn share(&self, kind: &str) -> f64 {
        let other = || self.efficiency.get("other");
        self.efficiency.get(kind).or_else(other).copied().unwrap_or(1.0)
    }
}
