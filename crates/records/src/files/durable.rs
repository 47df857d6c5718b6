//! Files that appear whole or not at all: a private name, a flush to disk, then the final name.
//!
//! A file is written under a hidden name in the same folder, `.<name>.trainwright-partial`, and
//! locked while it is. The system drops the lock when the writer ends, however it ends, so a private
//! file that nobody locks was left by a writer that is dead: the next writer of the same file takes
//! it over, and [`remove_stale`] removes all of a folder.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::libc::O_NOFOLLOW;

use crate::error::RecordsError;

/// How private names end.
const ENDING: &str = ".trainwright-partial";

/// As much of a long name as leaves room for the rest of its private name in 255 bytes.
const NAME_BYTES: usize = 200;

/// What small writes are collected into.
const BUFFER_BYTES: usize = 1 << 16;

/// Writes a file that others see whole or not at all, and that is on disk when this returns.
///
/// `write` gets a buffered output to a private file in the same folder. That is flushed to disk,
/// takes the name `path` in one step and with it the access rights of what was there before; then
/// the folder is flushed. A link is followed: the file that it names is replaced. What is no file
/// (a pipe, `/dev/stdout`) cannot be replaced and is written straight.
///
/// ```
/// use std::io::Write;
///
/// use trainwright_records::write_whole;
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("report.html");
/// write_whole(&path, |out| out.write_all(b"<h1>All is well</h1>"))?;
/// assert_eq!(std::fs::read(&path)?, b"<h1>All is well</h1>");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// When `write` fails or the file cannot be written, flushed or renamed. What stood under the name
/// before is then still there and the private file is gone. The error does not name the file.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        let mut out = BufWriter::new(File::options().write(true).open(path)?);
        write(&mut out)?;
        return out.flush();
    }
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, PrivateFile::create(path)?);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    let folder = folder_of(&file.path).to_owned();
    file.publish()?;
    flush_folder(&folder)
}

/// Removes the private files of a folder whose writers have died, and gives their paths. Those of
/// living writers stay, and so does all below the folder's own folders.
///
/// # Errors
/// When the folder cannot be read or a file cannot be removed.
pub fn remove_stale(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if is_private(&path) && entry.file_type()?.is_file() && remove_if_stale(&path)? {
            removed.push(path);
        }
    }
    removed.sort();
    Ok(removed)
}

/// A file under its private name; gone again when it is dropped before [`Self::publish`].
pub(crate) struct PrivateFile {
    file: File,
    private: PathBuf,
    path: PathBuf,
    published: bool,
}

impl PrivateFile {
    /// Begins a file, over whatever a writer that died has left under the private name.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let path = followed(path);
        let mut number = 0;
        loop {
            let private = private_name(&path, number);
            let mut options = File::options();
            options.write(true).create(true).truncate(false).custom_flags(O_NOFOLLOW);
            let file = options.open(&private)?;
            match file.try_lock() {
                // Somebody writes the same file at this moment: both will be whole, one will stay.
                Err(TryLockError::WouldBlock) => number += 1,
                // Where there are no locks nothing is lost but the knowledge of who has died.
                Ok(()) | Err(TryLockError::Error(_)) => {
                    let file = Self { file, private, path: path.clone(), published: true };
                    if file.is_in_place() {
                        return file.begun();
                    }
                }
            }
        }
    }

    /// Where the bytes are until it is published.
    pub(crate) fn private_path(&self) -> &Path {
        &self.private
    }

    /// Flushes the content to disk and gives the file its final name. The name itself is durable
    /// after [`flush_folder`].
    pub(crate) fn publish(self) -> io::Result<()> {
        let path = self.path.clone();
        self.publish_as(&path)
    }

    /// The same with a name that was not known at first, in the same folder.
    pub(crate) fn publish_as(mut self, path: &Path) -> io::Result<()> {
        self.file.sync_data()?;
        fs::rename(&self.private, path)?;
        self.published = true;
        Ok(())
    }

    /// Whether the private name is still that of the open file: between opening and locking its
    /// last writer may have published it, or [`remove_stale`] removed it.
    fn is_in_place(&self) -> bool {
        is_at(&self.file, &self.private)
    }

    /// The empty file with the access rights of the one that it will replace.
    fn begun(mut self) -> io::Result<Self> {
        self.published = false;
        self.file.set_len(0)?;
        if let Ok(before) = fs::metadata(&self.path) {
            self.file.set_permissions(before.permissions())?;
        }
        Ok(self)
    }
}

impl Write for PrivateFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        if !self.published {
            // The error to tell is the one that led here; what stays is a stale private file.
            let _ = fs::remove_file(&self.private);
        }
    }
}

/// Writes some bytes as a whole file.
pub(crate) fn write_durably(path: &Path, content: &[u8]) -> Result<(), RecordsError> {
    let written = write_whole(path, |out| out.write_all(content));
    written.map_err(|error| RecordsError::from(error).in_file(path))
}

/// Writes some bytes as one of many whole files, whose names are durable after [`flush_folder`].
pub(crate) fn write_in_folder(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = PrivateFile::create(path)?;
    file.write_all(content)?;
    file.publish()
}

/// Makes the names in a folder durable.
pub(crate) fn flush_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The path behind a link, and any other path as it is.
fn followed(path: &Path) -> PathBuf {
    let is_link = fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    let target = if is_link { fs::canonicalize(path).ok() } else { None };
    target.unwrap_or_else(|| path.to_owned())
}

/// The private name of a file: hidden, in the same folder, so that renaming is one step.
fn private_name(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut private = OsString::from(".");
    private.push(&name[..name.floor_char_boundary(NAME_BYTES)]);
    if number > 0 {
        private.push(format!(".{number}"));
    }
    private.push(ENDING);
    path.with_file_name(private)
}

fn is_private(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(b".") && name.ends_with(ENDING.as_bytes())
}

fn remove_if_stale(path: &Path) -> io::Result<bool> {
    let file = match File::options().write(true).custom_flags(O_NOFOLLOW).open(path) {
        // Its writer was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other?,
    };
    let stale = file.try_lock().is_ok() && is_at(&file, path);
    if stale {
        fs::remove_file(path)?;
    }
    Ok(stale)
}

/// Whether a path names an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(own), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (own.dev(), own.ino()) == (named.dev(), named.ino())
}

#[cfg(test)]
mod tests;
