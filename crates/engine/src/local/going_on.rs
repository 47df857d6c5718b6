//! What is kept of a trial that was cut short, so that it can go on where it was.
//!
//! The trial keeps itself in a folder of its own inside its folder; what it has used so far lies
//! beside that. Both go when the trial has come to an end of another kind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::libc;

use trainwright_study::Usage;

use super::folder::create;
use crate::EngineError;
use crate::output::open::open_regular;
use crate::render::{CHECKPOINT, STOP_FILE};

/// What an attempt used that was cut short.
const USED: &str = "used.json";
/// Longest file of that kind that is read; ours have some hundred bytes.
const LONGEST: u64 = 64 << 10;

/// An attempt that was cut short and can go on.
#[derive(Debug)]
pub(super) struct Earlier {
    /// What it used.
    pub(super) usage: Usage,
}

/// The earlier attempt in a trial's folder, which is left without a stop file; nothing where there
/// is none that kept itself.
pub(super) fn earlier(folder: &Path) -> Option<Earlier> {
    let kept = fs::read_dir(folder.join(CHECKPOINT)).ok()?.next().is_some();
    let file = open_regular(&folder.join(USED)).ok()?;
    let usage = serde_json::from_reader(io::Read::take(file, LONGEST)).ok()?;
    match fs::remove_file(folder.join(STOP_FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return None,
        _ => {}
    }
    kept.then_some(Earlier { usage })
}

/// Notes what an attempt used that was stopped.
pub(super) fn keep(folder: &Path, usage: &Usage) -> Result<(), EngineError> {
    let path = folder.join(USED);
    remove(&path)?;
    let text = serde_json::to_string(usage).expect("numbers with names become JSON");
    create(&path)?.write_all(text.as_bytes()).map_err(EngineError::file("write", path))
}

/// Takes away what a trial kept of itself, since it will not go on.
pub(super) fn forget(folder: &Path) -> Result<(), EngineError> {
    remove(&folder.join(USED))?;
    let path = folder.join(CHECKPOINT);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(EngineError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// An output of the earlier attempt, to be written on. What lies at its place must be a file.
pub(super) fn append(path: &Path) -> Result<File, EngineError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let file = file.map_err(EngineError::file("write", path))?;
    match file.metadata() {
        Ok(about) if about.is_file() => Ok(file),
        _ => Err(EngineError::file("write", path)(io::ErrorKind::InvalidInput.into())),
    }
}

fn remove(path: &Path) -> Result<(), EngineError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(EngineError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_kept_whole_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let used = Usage { wall_s: 2.0, user_s: 1.0, ..Usage::default() };
        keep(folder.path(), &used).unwrap();
        assert!(earlier(folder.path()).is_none(), "it kept nothing of itself");
        fs::create_dir(folder.path().join(CHECKPOINT)).unwrap();
        assert!(earlier(folder.path()).is_none(), "an empty folder is nothing to go on from");
        fs::write(folder.path().join(CHECKPOINT).join("state"), "7").unwrap();
        fs::write(folder.path().join(STOP_FILE), "").unwrap();
        let found = earlier(folder.path()).unwrap();
        assert_eq!((found.usage.wall_s, found.usage.user_s), (2.0, 1.0));
        assert!(!folder.path().join(STOP_FILE).exists(), "or it would stop at once");
        forget(folder.path()).unwrap();
        assert!(earlier(folder.path()).is_none());
        forget(folder.path()).unwrap();
    }

    #[test]
    fn outputs_that_are_no_files_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdout");
        fs::write(folder.path().join("target"), "").unwrap();
        std::os::unix::fs::symlink(folder.path().join("target"), &path).unwrap();
        assert!(append(&path).is_err());
        fs::remove_file(&path).unwrap();
        append(&path).unwrap().write_all(b"a").unwrap();
        append(&path).unwrap().write_all(b"b").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ab");
    }
}
