//! One runner a study.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use crate::Error;

/// Held by the runner of a study as long as it lives; the kernel frees it with the process.
///
/// It is a lock of the open file description, because who holds one of these can be asked without
/// taking it: a reader that looks never stands in the way of a runner that starts.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or tells which process holds it.
    pub(crate) fn take(trials: &Path, study: &str) -> Result<Self, Error> {
        let path = trials.join("lock");
        let unwritable = |source| Error::Folder { path: path.clone(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(unwritable)?;
        match fcntl(&file, FcntlArg::F_OFD_SETLK(&whole_file())) {
            Ok(_) => {}
            Err(Errno::EAGAIN | Errno::EACCES) => {
                let pid = read_pid(&mut file);
                return Err(Error::AlreadyRunning { study: study.to_owned(), pid });
            }
            Err(error) => return Err(unwritable(io::Error::from(error))),
        }
        let write_pid = |file: &mut File| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            writeln!(file, "{}", std::process::id())
        };
        write_pid(&mut file).map_err(unwritable)?;
        Ok(Self { _file: file })
    }

    /// The process that holds the lock, if one does.
    pub(crate) fn holder(trials: &Path) -> Option<u32> {
        let mut file = File::open(trials.join("lock")).ok()?;
        let mut found = whole_file();
        fcntl(&file, FcntlArg::F_OFD_GETLK(&mut found)).ok()?;
        let free = i32::from(found.l_type) == libc::F_UNLCK;
        if free { None } else { read_pid(&mut file) }
    }
}

/// An exclusive lock on all of a file.
fn whole_file() -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_the_lock_never_keeps_a_runner_out() {
        let folder = tempfile::tempdir().unwrap();
        drop(Lock::take(folder.path(), "demo").unwrap());
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    Lock::holder(folder.path());
                }
            });
            let failed = (0..2000).find_map(|_| Lock::take(folder.path(), "demo").err());
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(failed.is_none(), "{failed:?}");
        });
    }

    #[test]
    fn a_second_runner_is_told_about_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = Lock::take(folder.path(), "demo").unwrap();
        let own = Some(std::process::id());
        assert_eq!(Lock::holder(folder.path()), own);
        match Lock::take(folder.path(), "demo") {
            Err(Error::AlreadyRunning { pid, .. }) => assert_eq!(pid, own),
            other => panic!("{:?}", other.err()),
        }
        drop(first);
        assert_eq!(Lock::holder(folder.path()), None);
        assert!(Lock::take(folder.path(), "demo").is_ok());
    }
}
