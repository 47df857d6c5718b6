//! Reads `/proc`. A process that vanishes during a scan is left out: that is normal.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use nix::unistd::{SysconfVar, sysconf};

use crate::counters::{parse_cores, parse_network};
use crate::growth::{Member, Tree, members};
use crate::history::MachineCounters;
use crate::process::{parse_peak_memory, parse_resident_pages, parse_run_queue};
use crate::{NetworkCounters, ProbeError, ProcessStat, parse_io, parse_stat};

/// Every process of the machine that could be read.
///
/// # Errors
/// When `/proc` cannot be listed.
pub fn process_stats() -> Result<Vec<ProcessStat>, ProbeError> {
    let folder = Path::new("/proc");
    let failed = |source| ProbeError::Read { path: folder.to_owned(), source };
    let mut processes = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let pid = name.to_str().and_then(|name| name.parse::<u32>().ok());
        processes.extend(pid.and_then(process_stat));
    }
    Ok(processes)
}

/// One process; nothing once it has been reaped.
pub fn process_stat(pid: u32) -> Option<ProcessStat> {
    parse_stat(&process_text(pid, "stat")?)
}

/// Largest resident memory of a process so far, in bytes; nothing once it has ended.
pub fn peak_memory(pid: u32) -> Option<u64> {
    parse_peak_memory(&process_text(pid, "status")?)
}

/// The machine's network counters.
///
/// # Errors
/// When they cannot be read.
pub fn read_network() -> Result<NetworkCounters, ProbeError> {
    Ok(parse_network(&text(Path::new("/proc/net/dev"))?))
}

/// The members of a tree with their memory and storage counters.
pub(crate) fn read_tree(root: u32, known: &BTreeMap<u32, u64>) -> Result<Tree, ProbeError> {
    let page_bytes = system_constant(SysconfVar::PAGE_SIZE, 4096);
    let member = |stat: ProcessStat| {
        let pages = process_text(stat.pid, "statm").and_then(|text| parse_resident_pages(&text));
        let io = process_text(stat.pid, "io").and_then(|text| parse_io(&text));
        let resident_bytes = pages.unwrap_or(0) * page_bytes;
        let run_queue_ns = run_queue_ns(stat.pid);
        (stat.pid, Member { stat, resident_bytes, io, run_queue_ns })
    };
    Ok(members(&process_stats()?, root, known).into_iter().map(member).collect())
}

/// Time that the living threads of a process were ready and had no core; `/proc/PID/schedstat`
/// itself tells of the first thread alone.
fn run_queue_ns(pid: u32) -> Option<u64> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let waited = threads.flatten().filter_map(|thread| {
        let text = lenient_text(&thread.path().join("schedstat")).ok()?;
        parse_run_queue(&text)
    });
    waited.fold(None, |sum, own| Some(sum.unwrap_or(0) + own))
}

pub(crate) fn read_machine() -> Result<MachineCounters, ProbeError> {
    let path = PathBuf::from("/proc/stat");
    let stat = text(&path)?;
    let cores = parse_cores(&stat);
    if cores.is_empty() {
        let text = stat.lines().next().unwrap_or_default().to_owned();
        return Err(ProbeError::Malformed { path, text });
    }
    Ok(MachineCounters { cores, network: read_network()? })
}

/// Clock ticks in a second, the unit of the kernel's CPU times.
pub(crate) fn ticks_per_s() -> f64 {
    system_constant(SysconfVar::CLK_TCK, 100) as f64
}

/// A constant of the running system, or its value on every common Linux.
fn system_constant(name: SysconfVar, usual: u64) -> u64 {
    sysconf(name).ok().flatten().and_then(|value| u64::try_from(value).ok()).unwrap_or(usual)
}

/// A file of a process; nothing when the process is gone or closed to us.
fn process_text(pid: u32, file: &str) -> Option<String> {
    lenient_text(Path::new(&format!("/proc/{pid}/{file}"))).ok()
}

fn text(path: &Path) -> Result<String, ProbeError> {
    lenient_text(path).map_err(|source| ProbeError::Read { path: path.to_owned(), source })
}

/// The text of a file under `/proc`; names of processes are bytes, so it is read leniently.
///
/// Such files claim to be empty, so without a buffer they would be read in many small pieces.
fn lenient_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::with_capacity(4096);
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}
