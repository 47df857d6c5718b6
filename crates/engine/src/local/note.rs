//! The notes of an engine's processes beside the folders of its trials, by which the next runner
//! knows what a dead one left behind.
//!
//! The first line says on which boot and in which process namespace the numbers mean something.
//! Each further one has a trial's number and the line that the kernel keeps in `/proc/PID/stat`,
//! copied by the process itself before it becomes the trial's program, so that no process runs
//! without being noted. Trials that are under way have places of their own in the file, which later
//! trials take over: a file for each trial would cost a short one more than all its other notes. It
//! need not survive a loss of power, as no process does.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use nix::errno::Errno;
use nix::libc;

use trainwright_probe::{ProcessStat, parse_stat};

use crate::EngineError;
use crate::output::open::open_regular;

/// The notes of an engine that has the folder of the trials for itself; those of one that runs a
/// trial beside others have the trial's number behind it.
const NOTES: &str = ".process";
/// Room for the line of one process; the kernel's lines have a few hundred bytes.
const LINE: usize = 1024;
/// Processes that a trial has one after the other: what prepares it, and its own.
const PROCESSES: u64 = 2;
/// Longest notes that are read; those of a thousand slots have two million bytes.
const LONGEST: u64 = 64 << 20;

/// The notes of an engine.
#[derive(Debug)]
pub(super) struct ProcessNotes {
    path: PathBuf,
    file: File,
    places: Mutex<Places>,
}

/// Places for trials in the notes.
#[derive(Debug, Default)]
struct Places {
    free: Vec<u64>,
    made: u64,
}

impl ProcessNotes {
    /// Empty notes in the folder of all trials, for an engine that has it for itself or for the one
    /// of a single trial. What a dead runner noted there must have been ended.
    pub(super) fn create(trials: &Path, alone_for: Option<u32>) -> Result<Self, EngineError> {
        let path = trials.join(name(alone_for));
        let create = || -> io::Result<File> {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            file.write_all_at(format!("{}\n", system()).as_bytes(), 0)?;
            Ok(file)
        };
        let file = create().map_err(EngineError::file("write", &path))?;
        Ok(Self { path, file, places: Mutex::default() })
    }

    /// A place for a trial that begins.
    pub(super) fn of_trial(&self, trial: u32) -> TrialNote<'_> {
        let mut places = self.places();
        let place = places.free.pop().unwrap_or_else(|| {
            places.made += 1;
            places.made
        });
        TrialNote { notes: self, place, trial, processes: 0 }
    }

    /// Takes the notes away, unless one leads to a process that did not end.
    pub(super) fn remove(&self) {
        let places = self.places();
        if places.free.len() as u64 == places.made
            && let Err(error) = fs::remove_file(&self.path)
        {
            // A note of processes that are gone leads to nobody.
            tracing::debug!(note = %self.path.display(), %error, "notes not removed");
        }
    }

    /// Notes on a disk that is full.
    #[cfg(test)]
    pub(super) fn without_room() -> Self {
        let path = PathBuf::from("/dev/full");
        let file = File::options().write(true).open(&path).expect("a device of Linux");
        Self { path, file, places: Mutex::default() }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        // The places are right after every step, so a panic elsewhere leaves them usable.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The notes of a trial that is under way.
#[derive(Debug)]
pub(super) struct TrialNote<'a> {
    notes: &'a ProcessNotes,
    place: u64,
    trial: u32,
    processes: u64,
}

impl TrialNote<'_> {
    /// Where the next process of the trial notes itself.
    pub(super) fn next_line(&mut self) -> NoteLine<'_> {
        let line = 1 + (self.place - 1) * PROCESSES + self.processes % PROCESSES;
        self.processes += 1;
        NoteLine {
            file: self.notes.file.as_fd(),
            offset: i64::try_from(line * LINE as u64).expect("a short file"),
            begin: format!("{} ", self.trial).into_bytes(),
        }
    }

    /// Gives the place to another trial, since all processes have ended.
    pub(super) fn end(&self) {
        self.notes.places().free.push(self.place);
    }
}

/// Where a process that is being started notes itself.
#[derive(Debug)]
pub(super) struct NoteLine<'a> {
    file: BorrowedFd<'a>,
    offset: i64,
    begin: Vec<u8>,
}

impl NoteLine<'_> {
    /// Notes the process that calls it. It makes system calls only, so that a process which still
    /// shares the memory of its parent may call it.
    pub(super) fn note_this_process(&self) -> Result<(), Errno> {
        // What an earlier line leaves behind a shorter one would spoil it.
        let mut line = [b'\n'; LINE];
        line[..self.begin.len()].copy_from_slice(&self.begin);
        // SAFETY: the path ends with a zero byte, and the descriptor is closed once.
        unsafe {
            let stat = libc::open(c"/proc/self/stat".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            if stat < 0 {
                // Without /proc nobody could look for leftovers either.
                return Ok(());
            }
            let rest = &mut line[self.begin.len()..LINE - 1];
            // SAFETY: the buffer is as long as said.
            libc::read(stat, rest.as_mut_ptr().cast(), rest.len());
            libc::close(stat);
        }
        let file = self.file.as_raw_fd();
        // SAFETY: the buffer is as long as said.
        let written = unsafe { libc::pwrite(file, line.as_ptr().cast(), LINE, self.offset) };
        Errno::result(written)?;
        Ok(())
    }
}

/// The processes noted in the folder of all trials, as they were when they started, with the numbers
/// of their trials; of one trial alone where it is named. None without notes, or where they were
/// written on another boot or in another container.
pub(super) fn noted_processes(trials: &Path, alone_for: Option<u32>) -> Vec<(u32, ProcessStat)> {
    if alone_for.is_some() {
        return noted_in(&trials.join(name(alone_for)));
    }
    let entries = fs::read_dir(trials).into_iter().flatten().flatten();
    let notes =
        entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(NOTES.as_bytes()));
    notes.flat_map(|entry| noted_in(&entry.path())).collect()
}

fn noted_in(path: &Path) -> Vec<(u32, ProcessStat)> {
    let mut bytes = Vec::new();
    let read = open_regular(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    if read.is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let Some((first, lines)) = text.split_once('\n') else { return Vec::new() };
    if first != system() {
        return Vec::new();
    }
    let noted = |line: &str| {
        let (trial, stat) = line.split_once(' ')?;
        Some((trial.parse().ok()?, parse_stat(stat)?))
    };
    // Zero bytes stand where no process has noted itself yet.
    lines.split(['\n', '\0']).filter_map(noted).collect()
}

fn name(alone_for: Option<u32>) -> String {
    match alone_for {
        None => NOTES.to_owned(),
        Some(trial) => format!("{NOTES}-{trial}"),
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
    use super::*;

    /// Numbers of the trials that are noted with this very process.
    fn noted_trials(folder: &Path, alone_for: Option<u32>) -> Vec<u32> {
        let noted = noted_processes(folder, alone_for);
        assert!(noted.iter().all(|(_, process)| process.pid == std::process::id()), "{noted:?}");
        noted.into_iter().map(|(trial, _)| trial).collect()
    }

    #[test]
    fn notes_of_another_boot_name_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let notes = ProcessNotes::create(folder.path(), None).unwrap();
        let mut trial = notes.of_trial(12);
        trial.next_line().note_this_process().unwrap();
        assert_eq!(noted_trials(folder.path(), None), [12]);
        let path = folder.path().join(NOTES);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("x{text}")).unwrap();
        assert!(noted_trials(folder.path(), None).is_empty());
    }

    #[test]
    fn trials_at_the_same_time_have_places_of_their_own_and_later_ones_take_them_over() {
        let folder = tempfile::tempdir().unwrap();
        let notes = ProcessNotes::create(folder.path(), None).unwrap();
        let (mut first, mut second) = (notes.of_trial(1), notes.of_trial(2));
        second.next_line().note_this_process().unwrap();
        assert_eq!(noted_trials(folder.path(), None), [2], "the first one has not begun");
        for _ in 0..2 {
            first.next_line().note_this_process().unwrap();
        }
        assert_eq!(noted_trials(folder.path(), None), [1, 1, 2]);
        first.end();
        let mut third = notes.of_trial(123_456);
        third.next_line().note_this_process().unwrap();
        // The second process of the first trial has ended and leads to nobody.
        assert_eq!(noted_trials(folder.path(), None), [123_456, 1, 2]);
        assert_eq!(fs::metadata(folder.path().join(NOTES)).unwrap().len(), 4 * LINE as u64);
    }

    #[test]
    fn notes_go_once_all_processes_have_ended() {
        let folder = tempfile::tempdir().unwrap();
        let notes = ProcessNotes::create(folder.path(), None).unwrap();
        let (first, mut second) = (notes.of_trial(1), notes.of_trial(2));
        second.next_line().note_this_process().unwrap();
        first.end();
        notes.remove();
        assert_eq!(noted_trials(folder.path(), None), [2], "it did not end");
        second.end();
        notes.remove();
        assert!(!folder.path().join(NOTES).exists());
    }

    #[test]
    fn an_engine_beside_others_has_notes_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = [3, 33].map(|trial| {
            let notes = ProcessNotes::create(folder.path(), Some(trial)).unwrap();
            notes.of_trial(trial).next_line().note_this_process().unwrap();
            notes
        });
        assert_eq!(noted_trials(folder.path(), Some(3)), [3]);
        assert!(noted_trials(folder.path(), Some(4)).is_empty());
        let mut all = noted_trials(folder.path(), None);
        all.sort_unstable();
        assert_eq!(all, [3, 33]);
        drop((one, other));
        // What a dead runner left is written over, and no link is followed.
        std::os::unix::fs::symlink(folder.path().join("precious"), folder.path().join(NOTES))
            .unwrap();
        ProcessNotes::create(folder.path(), None).unwrap();
        assert!(!folder.path().join("precious").exists());
    }
}
