//! How much memory there is for a program: all of the machine's, or what confines it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::value_of;

/// Where the kernel shows its control groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// Bytes of memory that this process may have at most; `None` where the system does not tell.
pub fn memory_limit() -> Option<u64> {
    let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let machine = value_of(&text(Path::new("/proc/meminfo")), "MemTotal:");
    let machine = machine.map(|kibibytes| kibibytes.saturating_mul(1024));
    let groups = limit_files(&text(Path::new("/proc/self/cgroup")));
    let groups = groups.iter().filter_map(|path| parse_limit(&text(path)));
    machine.into_iter().chain(groups).min()
}

/// Files that tell the limits of a process' control groups and of all around them.
fn limit_files(own: &str) -> Vec<PathBuf> {
    let root = Path::new(GROUPS);
    let mut files = vec![root.join("memory/memory.limit_in_bytes")];
    if let Some(group) = own.lines().find_map(|line| line.strip_prefix("0::/")) {
        let around = Path::new(group).ancestors();
        files.extend(around.map(|group| root.join(group).join("memory.max")));
    }
    files
}

/// The number of a limit; `max` is none.
fn parse_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_memory_and_no_more_than_it_says() {
        let limit = memory_limit().unwrap();
        let machine = crate::machine(Path::new(".")).memory_bytes;
        assert!(limit > 1 << 20 && limit <= machine, "{limit} of {machine}");
    }

    #[test]
    fn every_group_around_a_process_may_confine_it() {
        let files = limit_files("1:cpu:/x\n0::/user.slice/job\n");
        let expected = ["user.slice/job/memory.max", "user.slice/memory.max", "memory.max"]
            .map(|path| Path::new(GROUPS).join(path));
        assert_eq!(files[1..], expected);
        assert_eq!(limit_files("").len(), 1);
    }

    #[test]
    fn a_group_without_a_limit_says_max() {
        assert_eq!(parse_limit("1073741824\n"), Some(1 << 30));
        assert_eq!((parse_limit("max\n"), parse_limit("")), (None, None));
    }
}
