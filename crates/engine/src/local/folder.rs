//! Folders and files of trials, which are for their owner alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::EngineError;

/// Makes a folder, and those above it, that nobody else may enter; one that is there stays as it
/// is.
pub(crate) fn make_private_folder(path: &Path) -> Result<(), EngineError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(EngineError::file("create", path))
}

/// Makes an empty folder at `path`, whatever an earlier attempt left there.
pub(super) fn clean_folder(path: &Path) -> Result<(), EngineError> {
    let create = || match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(path)
        }
        result => result,
    };
    match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_dir_all(path).map_err(EngineError::file("empty", path))?;
            create().map_err(EngineError::file("create", path))
        }
        result => result.map_err(EngineError::file("create", path)),
    }
}

/// A new file for its owner alone. It must not be there: what lies at its place might be a pipe or
/// a link to somewhere else.
pub(super) fn create(path: &Path) -> Result<File, EngineError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.map_err(EngineError::file("create", path))
}
