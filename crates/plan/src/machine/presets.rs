//! Machines that a name gives. Figures are those of data sheets and papers, named in `source`;
//! shares of the peak are rough, so a plan for a machine at hand should be made with measured ones.

use std::collections::BTreeMap;

use crate::error::PlanError;
use crate::machine::{Device, Link, Machine, SharedBy};

/// The names of ready machines; `here` is measured by the caller.
pub const MACHINE_NAMES: [&str; 10] = [
    "4-k80", "8-k80", "16-k80", "64-k80", "10x1-k80", "4-p100", "16-p100", "2x4-p100", "8-a100",
    "8-h100",
];

/// The machine of a name.
///
/// # Errors
/// When no machine has that name.
pub fn named_machine(name: &str) -> Result<Machine, PlanError> {
    let own = match name {
        "4-k80" => k80(name, 1, 4),
        "8-k80" => k80(name, 1, 8),
        "16-k80" => k80(name, 4, 4),
        "64-k80" => k80(name, 16, 4),
        "10x1-k80" => Machine {
            between: Link { bytes_per_s: 1.25e9, latency_s: 50e-6, shared_by: SharedBy::Node },
            source: "K80: NVIDIA data sheet 2015; links: 10 Gb/s between cloud instances (assumed)"
                .to_owned(),
            ..k80(name, 10, 1)
        },
        "4-p100" => p100(name, 1),
        "2x4-p100" => p100(name, 2),
        "16-p100" => p100(name, 4),
        "8-a100" => a100(name),
        "8-h100" => h100(name),
        _ => {
            let known = format!("here, {}", MACHINE_NAMES.join(", "));
            return Err(PlanError::UnknownMachine { name: name.to_owned(), known });
        }
    };
    own.checked()
}

fn shares() -> BTreeMap<String, f64> {
    [
        ("convolution", 0.55),
        ("dense", 0.65),
        ("lstm", 0.5),
        ("attention", 0.4),
        ("depthwise", 0.1),
        ("other", 0.1),
    ]
    .map(|(kind, share)| (kind.to_owned(), share))
    .into()
}

fn device(name: &str, teraflops: f64, gigabytes: u64, memory: f64, launch_s: f64) -> Device {
    Device {
        name: name.to_owned(),
        flops_per_s: teraflops * 1e12,
        efficiency: shares(),
        memory_bytes: gigabytes << 30,
        memory_bytes_per_s: memory * 1e9,
        launch_s,
        updates: None,
        measured: Vec::new(),
    }
}

/// Half a K80 board is one device; four in a node on PCIe, nodes on 56 Gb/s InfiniBand.
fn k80(name: &str, nodes: u32, devices_per_node: u32) -> Machine {
    Machine {
        name: name.to_owned(),
        source: "K80: NVIDIA data sheet 2015 (one GK210 of two); links: Jia et al., SysML 2019, \
                 section 8.1 (PCIe inside, 56 Gb/s InfiniBand between)"
            .to_owned(),
        nodes,
        devices_per_node,
        price_per_node_hour: None,
        device: device("Tesla K80, one GK210", 2.8, 12, 240.0, 10e-6),
        inside: Link { bytes_per_s: 10e9, latency_s: 15e-6, shared_by: SharedBy::Device },
        between: Link { bytes_per_s: 7e9, latency_s: 10e-6, shared_by: SharedBy::Node },
    }
}

fn p100(name: &str, nodes: u32) -> Machine {
    Machine {
        name: name.to_owned(),
        source:
            "P100: NVIDIA data sheet 2016 (NVLink); links: Jia et al., SysML 2019, section 8.1 \
                 (NVLink inside, 100 Gb/s InfiniBand between)"
                .to_owned(),
        nodes,
        devices_per_node: 4,
        price_per_node_hour: None,
        device: device("Tesla P100", 10.6, 16, 732.0, 6e-6),
        inside: Link { bytes_per_s: 18e9, latency_s: 5e-6, shared_by: SharedBy::Pair },
        between: Link { bytes_per_s: 12.5e9, latency_s: 5e-6, shared_by: SharedBy::Node },
    }
}

fn a100(name: &str) -> Machine {
    Machine {
        name: name.to_owned(),
        source: "A100 80 GB SXM and NVLink 3: NVIDIA data sheet 2021 (TF32 without sparsity)"
            .to_owned(),
        nodes: 1,
        devices_per_node: 8,
        price_per_node_hour: None,
        device: device("A100 80 GB", 156.0, 80, 2039.0, 4e-6),
        inside: Link { bytes_per_s: 300e9, latency_s: 3e-6, shared_by: SharedBy::Device },
        between: Link { bytes_per_s: 25e9, latency_s: 5e-6, shared_by: SharedBy::Device },
    }
}

fn h100(name: &str) -> Machine {
    Machine {
        source: "H100 SXM and NVLink 4: NVIDIA data sheet 2023 (TF32 without sparsity)".to_owned(),
        device: device("H100 SXM", 494.0, 80, 3350.0, 3e-6),
        inside: Link { bytes_per_s: 450e9, latency_s: 3e-6, shared_by: SharedBy::Device },
        between: Link { bytes_per_s: 50e9, latency_s: 5e-6, shared_by: SharedBy::Device },
        ..a100(name)
    }
}
