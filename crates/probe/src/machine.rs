//! What the machine is.

use std::fs;
use std::path::Path;

use nix::sys::utsname::uname;

use trainwright_study::Machine;

use crate::git;
use crate::process::value_of;

/// The machine this runs on and the commit that `folder` is at.
///
/// Never fails: what the system does not tell is empty, zero or absent.
pub fn machine(folder: &Path) -> Machine {
    let git = git::checkout(folder);
    let names = uname().ok();
    let name = |part: fn(&nix::sys::utsname::UtsName) -> &std::ffi::OsStr| {
        names.as_ref().map_or_else(String::new, |names| part(names).to_string_lossy().into_owned())
    };
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    Machine {
        host: name(|names| names.nodename()),
        cpu: processor(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
            .unwrap_or_else(|| name(|names| names.machine())),
        cores: std::thread::available_parallelism()
            .map_or(0, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX)),
        memory_bytes: value_of(&memory, "MemTotal:").unwrap_or(0) * 1024,
        system: format!("{} {}", name(|names| names.sysname()), name(|names| names.release())),
        trainwright: env!("CARGO_PKG_VERSION").to_owned(),
        git_commit: git.as_ref().map(|checkout| checkout.commit.clone()),
        git_dirty: git.map(|checkout| checkout.dirty),
    }
}

/// The first processor's name; ARM kernels give none.
fn processor(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_name_cores_and_memory() {
        let folder = tempfile::tempdir().unwrap();
        let machine = machine(folder.path());
        assert!(!machine.host.is_empty() && !machine.cpu.is_empty(), "{machine:?}");
        assert!(machine.cores >= 1 && machine.memory_bytes > 1 << 20, "{machine:?}");
        assert!(machine.system.starts_with("Linux "), "{machine:?}");
    }

    #[test]
    fn a_processor_is_named_by_its_first_entry() {
        let text = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n";
        assert_eq!(processor(text).as_deref(), Some("AMD EPYC"));
        assert_eq!(processor("processor\t: 0\n"), None);
    }
}
