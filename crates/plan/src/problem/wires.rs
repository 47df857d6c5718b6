//! Devices and links as numbered resources, and times of messages in nanoseconds.

use crate::machine::{Link, Machine, SharedBy};

/// Which link a message takes, and how long it takes.
#[derive(Debug, Clone)]
pub(crate) struct Wires {
    pub(crate) devices: usize,
    pub(crate) resources: usize,
    per_node: usize,
    inside_first: usize,
    between_first: usize,
    inside: Cost,
    between: Cost,
    /// Link from each device to each other one.
    link: Vec<u32>,
    is_inside: Vec<bool>,
    /// Nanoseconds of a byte of the devices' memory.
    pub(crate) memory_ns_per_byte: f64,
    /// The same for updates; see [`Updating`].
    update_ns_per_byte: [f64; 3],
    pub(crate) launch_ns: u64,
}

/// What the other devices do while one updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Updating {
    /// Nothing.
    Alone,
    /// They update copies of the same parameters.
    Copies,
    /// They update other parameters.
    Shares,
}

#[derive(Debug, Clone, Copy)]
struct Cost {
    latency_ns: u64,
    ns_per_byte: f64,
    shared_by: SharedBy,
}

impl Cost {
    fn of(link: Link) -> Self {
        let latency_ns = (link.latency_s * 1e9).round() as u64;
        Self { latency_ns, ns_per_byte: 1e9 / link.bytes_per_s, shared_by: link.shared_by }
    }

    fn time(self, bytes: u64) -> u64 {
        (self.latency_ns + whole_above(bytes as f64 * self.ns_per_byte)).max(1)
    }
}

impl Wires {
    /// Nanoseconds to update so many bytes of weights.
    pub(crate) fn update_ns(&self, bytes: u64, optimizer_slots: u8, others: Updating) -> u64 {
        // Weights are read and written, gradients read, each number of the optimiser read and written.
        let numbers = 3.0 + 2.0 * f64::from(optimizer_slots);
        let time = bytes as f64 * numbers * self.update_ns_per_byte[others as usize];
        (time.ceil() as u64 + self.launch_ns).max(1)
    }

    pub(crate) fn new(machine: &Machine) -> Self {
        let (devices, per_node) = (machine.devices(), machine.devices_per_node as usize);
        let (inside, between) = (Cost::of(machine.inside), Cost::of(machine.between));
        let nodes = machine.nodes as usize;
        let inside_first = devices;
        let between_first = inside_first
            + match inside.shared_by {
                SharedBy::Pair => devices * per_node,
                SharedBy::Device => devices,
                SharedBy::Node => nodes,
            };
        let resources = between_first
            + match between.shared_by {
                SharedBy::Pair => nodes * nodes,
                SharedBy::Device => devices,
                SharedBy::Node => nodes,
            };
        let mut own = Self {
            devices,
            resources,
            per_node,
            inside_first,
            between_first,
            inside,
            between,
            link: Vec::with_capacity(devices * devices),
            is_inside: Vec::with_capacity(devices * devices),
            memory_ns_per_byte: 1e9 / machine.device.memory_bytes_per_s,
            update_ns_per_byte: match &machine.device.updates {
                None => [machine.device.memory_bytes_per_s; 3],
                Some(own) => {
                    [own.alone_bytes_per_s, own.copies_bytes_per_s, own.shares_bytes_per_s]
                }
            }
            .map(|rate| 1e9 / rate),
            launch_ns: (machine.device.launch_s * 1e9).round() as u64,
        };
        for from in 0..devices {
            for to in 0..devices {
                let is_inside = from / per_node == to / per_node;
                own.is_inside.push(is_inside);
                own.link.push(own.link_between(from, to, nodes) as u32);
            }
        }
        own
    }

    fn link_between(&self, from: usize, to: usize, nodes: usize) -> usize {
        let (from_node, to_node) = (from / self.per_node, to / self.per_node);
        if from_node == to_node {
            return self.inside_first
                + match self.inside.shared_by {
                    SharedBy::Pair => from * self.per_node + to % self.per_node,
                    SharedBy::Device => from,
                    SharedBy::Node => from_node,
                };
        }
        self.between_first
            + match self.between.shared_by {
                SharedBy::Pair => from_node * nodes + to_node,
                SharedBy::Device => from,
                SharedBy::Node => from_node,
            }
    }

    /// The link from a device to another.
    pub(crate) fn link(&self, from: u16, to: u16) -> u32 {
        self.link[from as usize * self.devices + to as usize]
    }

    /// Nanoseconds of a message.
    pub(crate) fn time(&self, from: u16, to: u16, bytes: u64) -> u64 {
        let is_inside = self.is_inside[from as usize * self.devices + to as usize];
        (if is_inside { self.inside } else { self.between }).time(bytes)
    }

    /// The slowest of the messages that go round a ring of devices at once.
    pub(crate) fn ring_step(&self, devices: &[u16], bytes: u64) -> u64 {
        let next = devices.iter().cycle().skip(1);
        devices.iter().zip(next).map(|(&from, &to)| self.time(from, to, bytes)).max().unwrap_or(0)
    }

    pub(crate) fn name(&self, resource: usize) -> String {
        let of = |first: usize, shared: SharedBy, pairs: usize| {
            let at = resource - first;
            match shared {
                SharedBy::Pair => format!("{} to {}", at / pairs, at % pairs),
                SharedBy::Device => format!("of device {at}"),
                SharedBy::Node => format!("of node {at}"),
            }
        };
        match resource {
            _ if resource < self.devices => format!("device {resource}"),
            _ if resource < self.between_first => {
                format!(
                    "link {} in the node",
                    of(self.inside_first, self.inside.shared_by, self.per_node)
                )
            }
            _ => {
                let nodes = self.devices / self.per_node;
                format!("network {}", of(self.between_first, self.between.shared_by, nodes))
            }
        }
    }
}

/// The smallest whole number that is not below, for one that is not negative: `ceil` without the
/// call that it is on old processors.
fn whole_above(value: f64) -> u64 {
    let below = value as u64;
    below + u64::from((below as f64) < value)
}
