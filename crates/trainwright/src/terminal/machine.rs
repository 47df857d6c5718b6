//! A machine in words.

use trainwright_analysis::wording::{brief, bytes, count};
use trainwright_probe::MachineDescription;
use trainwright_report::terminal::TextTable;
use trainwright_study::{Capacities, ReadFrom, Repeated};

use crate::MachineReply;

/// What the machine is, then what it can do.
pub fn machine(reply: &MachineReply) -> String {
    let mut table = TextTable::plain();
    for (name, value) in described(&reply.description) {
        table.row([name, value]);
    }
    let mut text = table.to_string();
    match (&reply.capacities, &reply.not_shown) {
        (Some(found), _) => text += &format!("\n{}", capacities(found)),
        (None, Some(reason)) => text += &format!("\n{reason}\n"),
        (None, None) => {
            text += "\nWhat it can do was not measured yet: `trainwright machine --measure` does so in \
                     a few seconds.\n";
        }
    }
    text
}

fn described(own: &MachineDescription) -> Vec<(String, String)> {
    let machine = &own.machine;
    let limit = own.memory_limit_bytes.filter(|limit| *limit < machine.memory_bytes);
    let limit = limit.map_or_else(String::new, |limit| format!(", {} of it for us", bytes(limit)));
    let mut rows = vec![
        ("host".to_owned(), machine.host.clone()),
        ("processor".to_owned(), machine.cpu.clone()),
        ("cores".to_owned(), machine.cores.to_string()),
        ("memory".to_owned(), format!("{}{limit}", bytes(machine.memory_bytes))),
        ("system".to_owned(), machine.system.clone()),
    ];
    for cache in &own.caches {
        let shared = if cache.shared_by == 1 {
            "of each core".to_owned()
        } else {
            format!("shared by {}", count(cache.shared_by as usize, "core"))
        };
        let kind = cache.kind.to_lowercase();
        rows.push((
            format!("cache L{} {kind}", cache.level),
            format!("{} {shared}", bytes(cache.bytes)),
        ));
    }
    if let Some(disk) = &own.file_system {
        let kind = disk.kind.as_deref().map_or_else(String::new, |kind| format!(" ({kind})"));
        let free = format!("{} free of {}{kind}", bytes(disk.free_bytes), bytes(disk.bytes));
        rows.push((format!("disk of {}", disk.folder), free));
    }
    for interface in &own.interfaces {
        let speed = interface.megabits_per_s.map(|speed| format!(", {speed} Mb/s"));
        let text = format!("{}{}", interface.state, speed.unwrap_or_default());
        rows.push((format!("network {}", interface.name), text));
    }
    for gpu in &own.gpus {
        let memory = gpu.memory_bytes.map(|memory| format!(", {}", bytes(memory)));
        rows.push((
            format!("GPU {}", gpu.device),
            format!("{}{}", gpu.name, memory.unwrap_or_default()),
        ));
    }
    if own.gpus.is_empty() {
        let reason = own.gpus_missing.as_deref().unwrap_or("the driver tells of none");
        rows.push(("GPU".to_owned(), format!("none: {reason}")));
    }
    rows
}

fn capacities(found: &Capacities) -> String {
    let head = ["what it can do", "middle", "lowest", "highest", ""];
    let mut table = TextTable::with_header(head).numbers_in(1..4);
    let mut put = |name: &str, figure: &Repeated, size: f64, unit: &str| {
        let cell = |value: f64| brief(value / size);
        let Repeated { median, low, high, .. } = *figure;
        table.row([name.to_owned(), cell(median), cell(low), cell(high), unit.to_owned()]);
    };
    put("products of matrices, one core", &found.product_one_core_per_s, 1e9, "GFLOP/s");
    put("products of matrices, all cores", &found.product_all_cores_per_s, 1e9, "GFLOP/s");
    put("copies in memory, one core", &found.copy_one_core_bytes_per_s, 1e9, "GB/s");
    put("copies in memory, all cores", &found.copy_all_cores_bytes_per_s, 1e9, "GB/s");
    put("loopback, one connection", &found.loopback_bytes_per_s, 1e9, "GB/s");
    put("loopback, round trip", &found.round_trip_s, 1e-6, "us");
    let mut note = String::new();
    if let Some(disk) = &found.disk {
        put("disk, written and flushed", &disk.write_bytes_per_s, 1e6, "MB/s");
        match disk.read_from {
            ReadFrom::Storage => put("disk, read", &disk.read_bytes_per_s, 1e6, "MB/s"),
            ReadFrom::PageCache => {
                put("file, read from memory", &disk.read_bytes_per_s, 1e6, "MB/s");
                note = format!(
                    "The system kept the file of {} in memory, so nothing is known of how fast the \
                     disk reads.\n",
                    disk.folder
                );
            }
        }
    }
    let times = found.round_trip_s.repetitions;
    format!("{table}{note}Each measured {times} times (the disk at most 3).\n")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use trainwright_probe::{Cache, FileSystem, GpuDescription, Interface};
    use trainwright_study::{DiskCapacity, Machine};

    use super::*;

    fn description() -> MachineDescription {
        MachineDescription {
            machine: Machine {
                host: "here".into(),
                cpu: "C1".into(),
                cores: 2,
                memory_bytes: 4 << 30,
                ..Machine::default()
            },
            memory_limit_bytes: Some(1 << 30),
            caches: vec![Cache { level: 2, kind: "Unified".into(), bytes: 1 << 19, shared_by: 2 }],
            file_system: Some(FileSystem {
                folder: "/data".into(),
                kind: Some("ext4".into()),
                bytes: 2 << 30,
                free_bytes: 1 << 30,
            }),
            interfaces: vec![Interface {
                name: "eth0".into(),
                state: "up".into(),
                megabits_per_s: Some(1000),
            }],
            gpus: vec![GpuDescription { device: 0, name: "G".into(), memory_bytes: Some(8 << 30) }],
            gpus_missing: None,
        }
    }

    fn reply(capacities: Option<Capacities>, not_shown: Option<&str>) -> MachineReply {
        MachineReply {
            description: description(),
            capacities,
            kept_in: PathBuf::from("kept"),
            not_shown: not_shown.map(ToOwned::to_owned),
        }
    }

    #[test]
    fn a_machine_that_was_not_measured_says_how_it_can_be() {
        let text = machine(&reply(None, None));
        for part in [
            "4.0 GiB, 1.0 GiB of it for us",
            "512.0 KiB shared by 2 cores",
            "1.0 GiB free of 2.0 GiB (ext4)",
            "up, 1000 Mb/s",
            "G, 8.0 GiB",
            "`trainwright machine --measure`",
        ] {
            assert!(text.contains(part), "no `{part}` in {text}");
        }
        assert!(machine(&reply(None, Some("it is another's"))).contains("it is another's"));
    }

    #[test]
    fn reading_from_memory_is_not_called_the_disks() {
        let figure = |value: f64| Repeated::of(&[value, value, 2.0 * value]).unwrap();
        let disk = DiskCapacity {
            folder: "/data".into(),
            write_bytes_per_s: figure(5e7),
            read_bytes_per_s: figure(9e9),
            read_from: ReadFrom::PageCache,
        };
        let mut found = Capacities {
            measured_ms: 0,
            host: "here".into(),
            cpu: "C1".into(),
            cores: 2,
            product_one_core_per_s: figure(5e10),
            product_all_cores_per_s: figure(1e11),
            copy_one_core_bytes_per_s: figure(8e9),
            copy_all_cores_bytes_per_s: figure(9e9),
            loopback_bytes_per_s: figure(2e9),
            round_trip_s: figure(2.5e-5),
            disk: Some(disk.clone()),
        };
        let text = machine(&reply(Some(found.clone()), None));
        assert!(text.contains("nothing is known of how fast the disk reads"), "{text}");
        assert!(
            text.contains("GFLOP/s") && text.contains(" 25 ") && text.contains(" 50 "),
            "{text}"
        );
        found.disk = Some(DiskCapacity { read_from: ReadFrom::Storage, ..disk });
        let text = machine(&reply(Some(found), None));
        assert!(text.contains("disk, read ") && !text.contains("nothing is known"), "{text}");
    }
}
