//! This machine as one to plan for: a core is a device, memory the link between them.

use std::collections::BTreeMap;
use std::path::Path;

use trainwright_plan::{Device, Link, MACHINE_NAMES, Machine, SharedBy, named_machine};
use trainwright_probe::describe_machine;
use trainwright_train::{ExchangeTime, exchange_time};

use crate::Error;
use crate::questions::machine::{MachineRequest, kept_capacities, machine};

/// Time to start a piece of work on a thread that waits for it.
const LAUNCH_S: f64 = 3e-6;

/// The machine of a name or a TOML file; `here` is measured where it never was, and its exchanges as
/// sums of so many parameters make them.
///
/// # Errors
/// There is no such machine, its file does not read, or this one cannot be measured.
pub(crate) fn machine_of(
    text: &str,
    parameters: u64,
    tell: &mut dyn FnMut(&str),
) -> Result<Machine, Error> {
    if text == "here" {
        return here(parameters, tell);
    }
    let path = Path::new(text);
    let is_file = path.extension().is_some_and(|extension| extension == "toml");
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if !is_file {
        return Ok(named_machine(text)?);
    }
    match std::fs::read_to_string(path) {
        Ok(toml) => Machine::from_toml(&toml)
            .map_err(|source| Error::PlanFile { path: path.to_owned(), source: Box::new(source) }),
        Err(_) if MACHINE_NAMES.contains(&stem) && !path.exists() => Err(Error::Request(format!(
            "there is no file {text}; the ready machine of that name is --machine {stem}"
        ))),
        Err(source) => Err(Error::Input { path: path.to_owned(), source }),
    }
}

fn here(parameters: u64, tell: &mut dyn FnMut(&str)) -> Result<Machine, Error> {
    let folder = std::env::temp_dir();
    let described = describe_machine(&folder);
    let kept = kept_capacities(&described.machine);
    let capacities = match kept {
        Some(kept) => kept,
        None => {
            let request = MachineRequest { folder: &folder, measure: true };
            let reply = machine(&request, tell)?;
            reply.capacities.ok_or_else(|| Error::Request("nothing was measured".to_owned()))?
        }
    };
    let cores = capacities.cores.max(1);
    let per_core = |all: f64| all / f64::from(cores);
    let copy = per_core(capacities.copy_all_cores_bytes_per_s.median);
    let exchange = exchange_time(cores as usize, parameters)
        .unwrap_or(ExchangeTime { latency_s: LAUNCH_S, bytes_per_s: copy });
    let memory = described.machine.memory_bytes / u64::from(cores);
    let efficiency: BTreeMap<String, f64> = [
        ("depthwise", 0.15),
        ("pool", 0.1),
        ("lstm", 0.6),
        ("other", 0.2),
        ("dense", 0.9),
        ("convolution", 0.7),
    ]
    .map(|(kind, share)| (kind.to_owned(), share))
    .into();
    let own = Machine {
        name: "here".to_owned(),
        source: "measured by `trainwright machine --measure`".to_owned(),
        nodes: 1,
        devices_per_node: cores,
        price_per_node_hour: None,
        device: Device {
            name: capacities.cpu.clone(),
            flops_per_s: per_core(capacities.product_all_cores_per_s.median),
            efficiency,
            memory_bytes: memory,
            // A copy reads and writes each byte.
            memory_bytes_per_s: 2.0 * copy,
            launch_s: LAUNCH_S,
            updates: None,
            measured: Vec::new(),
        },
        inside: Link {
            bytes_per_s: exchange.bytes_per_s,
            latency_s: exchange.latency_s,
            shared_by: SharedBy::Device,
        },
        between: Link {
            bytes_per_s: capacities.loopback_bytes_per_s.median,
            latency_s: capacities.round_trip_s.median / 2.0,
            shared_by: SharedBy::Node,
        },
    };
    Ok(own.checked()?)
}
