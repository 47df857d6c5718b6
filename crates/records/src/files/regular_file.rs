//! Opening files that must be files: a pipe under a picture's name would be waited for without end.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::libc::O_NONBLOCK;

/// Opens a regular file to read; links are followed.
///
/// # Errors
/// When it cannot be opened, or is a pipe, a device, a socket or a folder.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    // Without waiting for a writer, which a pipe may never get; reads of files are as ever.
    let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        let message = "it is no regular file (a pipe, a device or a folder)";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn a_pipe_is_refused_at_once_and_a_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, file) = (folder.path().join("pipe.jpg"), folder.path().join("file.jpg"));
        mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        let error = open_regular(&pipe).unwrap_err().to_string();
        assert!(error.starts_with("it is no regular file"), "{error}");
        assert!(open_regular(folder.path()).is_err());
        std::fs::write(&file, "content").unwrap();
        let mut read = String::new();
        open_regular(&file).unwrap().read_to_string(&mut read).unwrap();
        assert_eq!(read, "content");
    }
}
