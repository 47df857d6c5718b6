//! Opens files that a trial may have made: only regular ones, and never waiting.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::libc;

/// Opens a regular file for reading.
///
/// A pipe with a name would be waited for until somebody writes, which may be never; a device may
/// do anything.
///
/// # Errors
/// The file is not there, may not be read, or is none.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let check = |meta: fs::Metadata| match meta.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("it is no regular file, and only those are read")),
    };
    // Looked at before, because opening a device may already change something.
    check(fs::metadata(path)?)?;
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    check(file.metadata()?)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_or_a_folder_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            let error = open_regular(path).unwrap_err();
            assert!(error.to_string().contains("no regular file"), "{error}");
        }
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(open_regular(&folder.path().join("file")).is_ok());
        assert_eq!(
            open_regular(Path::new("not/there")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
