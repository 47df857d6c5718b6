//! Files that appear whole or not at all: a private name, a flush to disk, then the final name.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::RecordsError;

/// A file under its private name; gone again when it is dropped before [`Self::publish`].
pub(crate) struct PrivateFile {
    file: File,
    private: PathBuf,
    path: PathBuf,
    published: bool,
}

/// The private name of a file: hidden, in the same folder, so that renaming is one step.
pub(crate) fn private_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.partial"))
}

impl PrivateFile {
    /// Begins a file, over whatever an interrupted writer left under the private name.
    pub(crate) fn create(path: &Path) -> Result<Self, RecordsError> {
        let private = private_name(path);
        let file = File::create(&private).map_err(|e| RecordsError::from(e).in_file(&private))?;
        Ok(Self { file, private, path: path.to_owned(), published: false })
    }

    /// Flushes the content to disk and gives the file its final name. The name itself is durable
    /// after [`flush_folder`].
    pub(crate) fn publish(mut self) -> Result<(), RecordsError> {
        self.publish_unnamed().map_err(|error| RecordsError::from(error).in_file(&self.path))
    }

    fn publish_unnamed(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        fs::rename(&self.private, &self.path)?;
        self.published = true;
        Ok(())
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
            // What stays is a hidden file that the next writer overwrites.
            let _ = fs::remove_file(&self.private);
        }
    }
}

/// Writes a whole file at once.
pub(crate) fn write_durably(path: &Path, content: &[u8]) -> Result<(), RecordsError> {
    write_private(path, content)?.publish()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    flush_folder(folder.unwrap_or(Path::new(".")))
}

/// A whole file under its private name.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> Result<PrivateFile, RecordsError> {
    let mut file = PrivateFile::create(path)?;
    file.write_all(content).map_err(|error| RecordsError::from(error).in_file(path))?;
    Ok(file)
}

/// Makes the names in a folder durable.
pub(crate) fn flush_folder(folder: &Path) -> Result<(), RecordsError> {
    let flushed = File::open(folder).and_then(|folder| folder.sync_all());
    flushed.map_err(|error| RecordsError::from(error).in_file(folder))
}
