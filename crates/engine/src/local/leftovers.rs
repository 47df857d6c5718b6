//! Ends processes that a runner left behind when it died.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpgrp};

use trainwright_probe::{ProcessStat, process_stats};

use super::process::Process;
use crate::output::{STDERR, STDOUT};
use crate::render::FOLDER_VARIABLE;

/// A process that does not end even when killed hangs in the kernel; it is not waited for longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Kills the process groups of trials whose folders lie below `study_dir` and waits for their
/// end; gives how many groups there were.
///
/// A trial's process is known by the variable that names its folder, or where it dropped its
/// environment, by its output, which goes to a file in that folder. Our own process group is
/// never touched. The caller makes sure that no other runner works on the study.
pub(super) fn end_leftovers(study_dir: &Path) -> usize {
    // Trials are given canonical paths; a folder that is not there has no trials.
    let Ok(study_dir) = fs::canonicalize(study_dir) else { return 0 };
    let begun = Instant::now();
    let mut ended = BTreeSet::new();
    loop {
        let left = leftovers(&study_dir, &ended);
        if left.is_empty() {
            return ended.len();
        }
        if begun.elapsed() > PATIENCE {
            tracing::warn!(processes = left.len(), "leftover processes survive being killed");
            return ended.len();
        }
        let handles: Vec<Process> =
            left.iter().filter_map(|process| Process::open(process.pid).ok()).collect();
        let groups: BTreeSet<u32> = left.iter().map(|process| process.group).collect();
        for &group in &groups {
            let id = i32::try_from(group).expect("the kernel's process numbers fit an i32");
            if let Err(error) = killpg(Pid::from_raw(id), Signal::SIGKILL) {
                tracing::debug!(group, %error, "leftover group not killed");
            }
        }
        ended.extend(groups);
        for handle in handles {
            handle.wait(&[], Some(PATIENCE.saturating_sub(begun.elapsed())));
        }
    }
}

/// Living processes of the groups of trials below a folder, and of the groups `ended` so far.
///
/// A whole group counts, since a member that dropped its environment cannot be known by itself,
/// and one that is killed is not gone at once.
fn leftovers(study_dir: &Path, ended: &BTreeSet<u32>) -> Vec<ProcessStat> {
    let own_group = getpgrp().as_raw().cast_unsigned();
    // Without a process table there is nothing that we could end.
    let mut processes = process_stats().unwrap_or_default();
    // Group 0 and 1 belong to the kernel and to init.
    processes
        .retain(|process| process.group > 1 && process.group != own_group && process.state != 'Z');
    let mut groups = ended.clone();
    groups.extend(processes.iter().filter_map(|process| {
        let known = environment_names_folder_below(process.pid, study_dir)
            || output_lies_below(process.pid, study_dir);
        known.then_some(process.group)
    }));
    processes.retain(|process| groups.contains(&process.group));
    processes
}

fn environment_names_folder_below(pid: u32, study_dir: &Path) -> bool {
    // Processes of others cannot be read, and are not ours.
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    folder_in(&environment).is_some_and(|folder| folder.starts_with(study_dir))
}

fn output_lies_below(pid: u32, study_dir: &Path) -> bool {
    [1, 2].into_iter().any(|descriptor| {
        fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).is_ok_and(|file| {
            file.starts_with(study_dir) && (file.ends_with(STDOUT) || file.ends_with(STDERR))
        })
    })
}

fn folder_in(environment: &[u8]) -> Option<&Path> {
    let mut variables = environment.split(|&byte| byte == 0);
    let name = FOLDER_VARIABLE.as_bytes();
    let value = variables.find_map(|pair| pair.strip_prefix(name)?.strip_prefix(b"="))?;
    Some(Path::new(OsStr::from_bytes(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_found_among_other_variables() {
        let environment = b"A=1\0TRAINWRIGHT_DIRS=/no\0TRAINWRIGHT_DIR=/s/trials/3\0B=2\0";
        assert_eq!(folder_in(environment), Some(Path::new("/s/trials/3")));
        assert_eq!(folder_in(b"A=TRAINWRIGHT_DIR=/x\0"), None);
        assert!(!Path::new("/s/trials-2/3").starts_with("/s/trials"), "parts, not letters");
    }
}
