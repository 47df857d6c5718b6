//! Reads `/proc`. A process that vanishes during a scan is left out: that is normal.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
    // It is read around every trial, and to open it again costs more than to read it.
    static OPEN: OnceLock<File> = OnceLock::new();
    let path = Path::new("/proc/net/dev");
    let failed = |source| ProbeError::Read { path: path.to_owned(), source };
    let file = match OPEN.get() {
        Some(file) => file,
        None => {
            let file = File::open(path).map_err(failed)?;
            OPEN.get_or_init(|| file)
        }
    };
    let bytes = all_bytes(file).map_err(failed)?;
    Ok(parse_network(&String::from_utf8_lossy(&bytes)))
}

/// All that a file under `/proc` says now, though it was opened earlier.
fn all_bytes(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4096];
    let mut length = 0;
    loop {
        match file.read_at(&mut bytes[length..], length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length == bytes.len() {
            bytes.resize(2 * length, 0);
        }
    }
    bytes.truncate(length);
    Ok(bytes)
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_network_is_read_anew_each_time() {
        let before = read_network().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let sent = vec![7; 1 << 20];
        std::thread::scope(|scope| {
            scope.spawn(|| sender.write_all(&sent).unwrap());
            receiver.read_exact(&mut vec![0; sent.len()]).unwrap();
        });
        let growth = read_network().unwrap().since(&before).unwrap();
        assert!(growth.loopback_bytes >= sent.len() as u64, "{growth:?}");
    }

    #[test]
    fn a_text_longer_than_the_first_buffer_is_read_whole_again_and_again() {
        let text = "0123456789".repeat(2000);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &text).unwrap();
        let open = File::open(file.path()).unwrap();
        for _ in 0..2 {
            assert_eq!(all_bytes(&open).unwrap(), text.as_bytes());
        }
    }
}
