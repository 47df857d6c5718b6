//! The system's cache of files.

use std::fs::File;
use std::io;
use std::path::Path;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

/// Asks the system to drop its cached pages of a file. Unwritten ones would stay, so they are
/// written first.
pub(super) fn forget(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_data()?;
    Ok(posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?)
}
