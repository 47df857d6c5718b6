//! One runner a study.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use trainwright_probe::process_stat;

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
        let begun = Instant::now();
        loop {
            match fcntl(&file, FcntlArg::F_OFD_SETLK(&whole_file())) {
                Ok(_) => break,
                Err(Errno::EAGAIN | Errno::EACCES) => {
                    let pid = read_pid(&mut file).map_err(unwritable)?;
                    if begun.elapsed() >= patience(pid) {
                        return Err(Error::AlreadyRunning { study: study.to_owned(), pid });
                    }
                    thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(unwritable(io::Error::from(error))),
            }
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
        if free { None } else { read_pid(&mut file).ok().flatten() }
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

/// How long to wait for a lock that this process is said to hold.
///
/// A runner that was killed is not gone at once, and a trial that it was just starting has all its
/// files until it becomes another program, so the lock outlives the runner by moments.
fn patience(holder: Option<u32>) -> Duration {
    let lives = holder.and_then(process_stat).is_some_and(|process| process.state != 'Z');
    if lives { Duration::from_millis(300) } else { Duration::from_secs(5) }
}

fn read_pid(file: &mut File) -> io::Result<Option<u32>> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_string(&mut text)?;
    Ok(text.trim().parse().ok())
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
    fn a_lock_that_outlives_its_runner_for_a_moment_is_waited_for() {
        use std::os::fd::OwnedFd;
        use std::process::{Command, Stdio};
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(folder.path(), "demo").unwrap();
        // What a trial has between fork and exec: the runner's open file, here as standard input.
        let inherited = OwnedFd::from(lock._file.try_clone().unwrap());
        let mut child =
            Command::new("sleep").arg("0.5").stdin(Stdio::from(inherited)).spawn().unwrap();
        let mut ended = Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        std::fs::write(folder.path().join("lock"), format!("{}\n", ended.id())).unwrap();
        drop(lock);
        assert!(Lock::take(folder.path(), "demo").is_ok());
        child.wait().unwrap();
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
