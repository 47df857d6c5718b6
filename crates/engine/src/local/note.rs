//! The note of a trial's processes in its folder, by which the next runner knows what a dead one
//! left behind.
//!
//! The first line says on which boot and in which process namespace the numbers mean something;
//! each further one is the line that the kernel keeps in `/proc/PID/stat`, copied by the process
//! itself before it becomes the trial's program, so that no process runs without being noted. It
//! need not survive a loss of power, as no process does.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::libc;

use trainwright_probe::{ProcessStat, parse_stat};

use crate::EngineError;
use crate::output::open::open_regular;

const NOTE: &str = ".process";
/// Longest note that is read; ours have a few hundred bytes.
const LONGEST: u64 = 64 << 10;

/// The note of a trial that is under way.
#[derive(Debug)]
pub(super) struct ProcessNote {
    path: PathBuf,
    file: File,
}

impl ProcessNote {
    /// An empty note in the folder of a trial.
    pub(super) fn create(folder: &Path) -> Result<Self, EngineError> {
        let path = folder.join(NOTE);
        let create = || -> io::Result<File> {
            let mut options = OpenOptions::new();
            let mut file = options.append(true).create_new(true).mode(0o600).open(&path)?;
            // In one call: every one counts for short trials.
            file.write_all(format!("{}\n", system()).as_bytes())?;
            Ok(file)
        };
        let file = create().map_err(EngineError::file("write", &path))?;
        Ok(Self { path, file })
    }

    /// What the process that is being started hands to [`note_this_process`].
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Takes the note away, since all processes have ended.
    pub(super) fn remove(&self) {
        if let Err(error) = fs::remove_file(&self.path) {
            // A note of processes that are gone leads to nobody.
            tracing::debug!(note = %self.path.display(), %error, "note not removed");
        }
    }
}

/// Notes the process that calls it. It makes system calls only, so that a process which still shares
/// the memory of its parent may call it.
pub(super) fn note_this_process(note: RawFd) -> Result<(), Errno> {
    let mut line = [0u8; 1024];
    // SAFETY: the path ends with a zero byte, the buffer is as long as said, and the descriptor is
    // closed once.
    let length = unsafe {
        let stat = libc::open(c"/proc/self/stat".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if stat < 0 {
            // Without /proc nobody could look for leftovers either.
            return Ok(());
        }
        let length = libc::read(stat, line.as_mut_ptr().cast(), line.len());
        libc::close(stat);
        length
    };
    let length = usize::try_from(length).unwrap_or(0);
    // SAFETY: so many bytes of the buffer were filled just now.
    let written = unsafe { libc::write(note, line.as_ptr().cast(), length) };
    Errno::result(written)?;
    Ok(())
}

/// The processes noted in a trial's folder, as they were when they started; none without a note,
/// or where it was written on another boot or in another container.
pub(super) fn noted_processes(folder: &Path) -> Vec<ProcessStat> {
    let mut bytes = Vec::new();
    let read = open_regular(&folder.join(NOTE))
        .and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    if read.is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    match text.split_once('\n') {
        Some((first, lines)) if first == system() => lines.lines().filter_map(parse_stat).collect(),
        _ => Vec::new(),
    }
}

/// This boot of this machine, and the namespace of our process numbers.
fn system() -> &'static str {
    static SYSTEM: OnceLock<String> = OnceLock::new();
    SYSTEM.get_or_init(|| {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        format!("{} {}", boot.trim(), namespace.display())
    })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_note_of_another_boot_names_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let note = ProcessNote::create(folder.path()).unwrap();
        note_this_process(note.descriptor().as_raw_fd()).unwrap();
        let noted = noted_processes(folder.path());
        assert_eq!(noted.iter().map(|own| own.pid).collect::<Vec<_>>(), [std::process::id()]);
        let path = folder.path().join(NOTE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("x{text}")).unwrap();
        assert_eq!(noted_processes(folder.path()), []);
        note.remove();
        assert_eq!(noted_processes(folder.path()), []);
    }
}
