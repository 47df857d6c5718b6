//! The machine with its caches, file system, network interfaces and GPUs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use nix::sys::statvfs::statvfs;
use serde::Serialize;
use trainwright_study::Machine;

use crate::gpus::{GpuDescription, nvml};
use crate::{machine, memory_limit, read_network};

/// A machine described.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineDescription {
    /// Host, processor, cores, memory, system.
    #[serde(flatten)]
    pub machine: Machine,
    /// Bytes of memory that this program may have at most; absent where the system does not tell.
    pub memory_limit_bytes: Option<u64>,
    /// Caches of the first core, the nearest first.
    pub caches: Vec<Cache>,
    /// The file system that a folder lies on.
    pub file_system: Option<FileSystem>,
    /// Network interfaces, by name.
    pub interfaces: Vec<Interface>,
    /// GPUs that the driver tells of.
    pub gpus: Vec<GpuDescription>,
    /// Why there are no figures of GPUs.
    pub gpus_missing: Option<String>,
}

/// A cache of the processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// Its distance from the core, from 1.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Its size.
    pub bytes: u64,
    /// Logical cores that share it.
    pub shared_by: u32,
}

/// A file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileSystem {
    /// Folder that was asked about.
    pub folder: String,
    /// Kind of the file system, such as ext4; absent where the system does not tell.
    pub kind: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// What this user can still write.
    pub free_bytes: u64,
}

/// A network interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Whether it is `up`, `down` or `unknown`.
    pub state: String,
    /// Its speed in megabits a second; absent where its driver does not tell.
    pub megabits_per_s: Option<u64>,
}

/// Describes this machine, with the file system that `folder` lies on.
///
/// Never fails: what the system does not tell is empty or absent.
pub fn describe_machine(folder: &Path) -> MachineDescription {
    let names = read_network().map(|own| own.interfaces.into_keys().collect()).unwrap_or_default();
    let (gpus, gpus_missing) = match nvml::driver() {
        Ok(driver) => (driver.described().to_vec(), None),
        Err(reason) => (Vec::new(), Some(reason.to_string())),
    };
    MachineDescription {
        machine: Machine { git_commit: None, git_dirty: None, ..machine(folder) },
        memory_limit_bytes: memory_limit(),
        caches: caches(Path::new("/sys/devices/system/cpu/cpu0/cache")),
        file_system: file_system(folder),
        interfaces: interfaces(Path::new("/sys/class/net"), &names),
        gpus,
        gpus_missing,
    }
}

/// A text without the white space around it.
fn trimmed(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The caches that a folder of `/sys` lists, the nearest first.
fn caches(folder: &Path) -> Vec<Cache> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<Cache> = entries
        .filter_map(|entry| {
            let text = |name: &str| trimmed(&entry.path().join(name));
            Some(Cache {
                level: text("level")?.parse().ok()?,
                kind: text("type")?,
                bytes: parse_size(&text("size")?)?,
                shared_by: parse_cpu_list(&text("shared_cpu_list")?)?,
            })
        })
        .collect();
    found.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    found
}

/// A size such as `32K` or `8M`.
fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// How many cores a list such as `0-3,8` names.
pub(crate) fn parse_cpu_list(text: &str) -> Option<u32> {
    let mut cores = 0u32;
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        cores = cores.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(cores)
}

fn file_system(folder: &Path) -> Option<FileSystem> {
    let own = statvfs(folder).ok()?;
    let unit = own.fragment_size();
    Some(FileSystem {
        folder: folder.display().to_string(),
        kind: kind_of(&fs::read_to_string("/proc/self/mounts").unwrap_or_default(), folder),
        bytes: own.blocks().saturating_mul(unit),
        free_bytes: own.blocks_available().saturating_mul(unit),
    })
}

/// The kind of the file system that is mounted nearest above a folder.
fn kind_of(mounts: &str, folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let above = mounts.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (place, kind) = (words.next()?, words.next()?);
        folder.starts_with(place).then(|| (place.len(), kind.to_owned()))
    });
    // Of two mounts in one place, the later covers the earlier.
    above
        .fold(None, |best: Option<(usize, String)>, own| match best {
            Some(best) if best.0 > own.0 => Some(best),
            _ => Some(own),
        })
        .map(|(_, kind)| kind)
}

fn interfaces(folder: &Path, names: &BTreeSet<String>) -> Vec<Interface> {
    let interface = |name: &String| {
        let text = |file: &str| trimmed(&folder.join(name).join(file));
        Interface {
            name: name.clone(),
            state: text("operstate").unwrap_or_else(|| "unknown".to_owned()),
            // Virtual interfaces say -1, or nothing.
            megabits_per_s: text("speed").and_then(|speed| speed.parse().ok()),
        }
    };
    names.iter().map(interface).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let own = describe_machine(Path::new("."));
        assert!(own.machine.cores >= 1 && own.machine.git_commit.is_none(), "{own:?}");
        assert!(own.interfaces.iter().any(|own| own.name == "lo"), "{own:?}");
        let disk = own.file_system.unwrap();
        assert!(disk.bytes >= disk.free_bytes && disk.bytes > 0, "{disk:?}");
        assert!(own.gpus.is_empty() == own.gpus_missing.is_some() || !own.gpus.is_empty());
    }

    #[test]
    fn lists_and_sizes_are_read() {
        assert_eq!(parse_cpu_list("0-3,8"), Some(5));
        assert_eq!(parse_cpu_list("7"), Some(1));
        for wrong in ["", "a", "3-1", "0-4294967295"] {
            assert_eq!(parse_cpu_list(wrong), None, "{wrong}");
        }
        assert_eq!((parse_size("32K"), parse_size("8M")), (Some(32 << 10), Some(8 << 20)));
        assert_eq!((parse_size("512"), parse_size("K"), parse_size("")), (Some(512), None, None));
    }

    #[test]
    fn caches_and_interfaces_come_from_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (index, level, kind, size) in
            [("0", "2", "Unified", "512K"), ("1", "1", "Data", "32K"), ("2", "x", "Data", "1K")]
        {
            write(&format!("index{index}/level"), level);
            write(&format!("index{index}/type"), kind);
            write(&format!("index{index}/size"), size);
            write(&format!("index{index}/shared_cpu_list"), "0-1\n");
        }
        let found = caches(folder.path());
        assert_eq!(found.len(), 2, "one without a level is left out: {found:?}");
        assert_eq!((found[0].level, found[0].bytes, found[0].shared_by), (1, 32 << 10, 2));
        write("eth7/operstate", "up\n");
        write("eth7/speed", "10000\n");
        write("lo/speed", "-1\n");
        let names = ["eth7", "lo"].map(ToOwned::to_owned).into();
        let found = interfaces(folder.path(), &names);
        assert_eq!((found[0].state.as_str(), found[0].megabits_per_s), ("up", Some(10_000)));
        assert_eq!((found[1].state.as_str(), found[1].megabits_per_s), ("unknown", None));
    }

    #[test]
    fn a_folder_lies_on_the_nearest_mount_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().canonicalize().unwrap();
        let mounts =
            format!("a / ext4 rw 0 0\nb {} tmpfs rw 0 0\nc /proc proc rw 0 0\n", inner.display());
        assert_eq!(kind_of(&mounts, &inner).as_deref(), Some("tmpfs"));
        assert_eq!(kind_of(&mounts, Path::new("/")).as_deref(), Some("ext4"));
        assert_eq!(kind_of("", &inner), None);
    }
}
