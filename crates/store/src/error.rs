//! Why the store cannot keep or give something.

use std::path::{Path, PathBuf};

use nix::libc;
use rusqlite::{Connection, ErrorCode};

use crate::rows::DamagedValue;

/// Why the store cannot keep or give something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum StoreError {
    #[error("cannot open the store {path}: {source}; check that its folder exists and can be written", path = path.display())]
    Open { path: PathBuf, source: rusqlite::Error },
    #[error("cannot make the store {path}: {source}", path = path.display())]
    Make { path: PathBuf, source: std::io::Error },
    #[error("cannot write the store {path}: no space left ({source}); free some space and run again, finished trials are kept", path = path.display())]
    Full { path: PathBuf, source: rusqlite::Error },
    #[error("the store {path} cannot be reached: {cause} ({source}); check the disk, then run again, finished trials are kept", path = path.display())]
    Disk { path: PathBuf, cause: String, source: rusqlite::Error },
    #[error("cannot write the store {path}: it is read-only; check its permissions, or choose another place with --store", path = path.display())]
    ReadOnly { path: PathBuf },
    #[error("the store {path} is busy: another program is writing it", path = path.display())]
    Busy { path: PathBuf },
    #[error("{path} is not a Trainwright store, or is damaged: {source}", path = path.display())]
    NotAStore { path: PathBuf, source: rusqlite::Error },
    #[error("{path} is a database of another program; choose another place with --store", path = path.display())]
    Foreign { path: PathBuf },
    #[error("the store {path} has version {found}, this program reads up to {known}; use a newer program", path = path.display())]
    TooNew { path: PathBuf, found: u32, known: u32 },
    #[error("the store {path} was copied while a study ran, without the file {journal} beside it, and holds nothing by itself; copy that file too, or copy when no study runs", path = path.display(), journal = journal.display())]
    WithoutJournal { path: PathBuf, journal: PathBuf },
    #[error("the store {path} holds a damaged {what} in trial {trial}", path = path.display())]
    Damaged { path: PathBuf, what: &'static str, trial: u32 },
    #[error("the store {path} failed: {source}", path = path.display())]
    Other { path: PathBuf, source: rusqlite::Error },
}

impl StoreError {
    /// An error of SQLite in words; the connection, where there is one, knows what the system said.
    pub(crate) fn from_sqlite(
        path: &Path,
        connection: Option<&Connection>,
        source: rusqlite::Error,
    ) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { path, source },
            Some(ErrorCode::SystemIoFailure) => Self::of_disk(path, connection, source),
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::Open { path, source }
            }
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::NotAStore { path, source }
            }
            _ => Self::of_value(path, source),
        }
    }

    /// A failed read or write: out of room by a full disk, a quota or a file size limit, or a
    /// trouble of the disk itself.
    fn of_disk(path: PathBuf, connection: Option<&Connection>, source: rusqlite::Error) -> Self {
        match connection.map_or(0, system_error) {
            libc::ENOSPC | libc::EDQUOT | libc::EFBIG => Self::Full { path, source },
            0 => Self::Disk { path, cause: "input or output failed".to_owned(), source },
            number => {
                let cause = std::io::Error::from_raw_os_error(number).to_string();
                Self::Disk { path, cause, source }
            }
        }
    }

    fn of_value(path: PathBuf, source: rusqlite::Error) -> Self {
        if let rusqlite::Error::FromSqlConversionFailure(_, _, cause) = &source
            && let Some(DamagedValue { trial, what }) = cause.downcast_ref()
        {
            return Self::Damaged { path, what, trial: *trial };
        }
        Self::Other { path, source }
    }
}

/// The system's number for the last failed call of a connection.
fn system_error(connection: &Connection) -> i32 {
    // SAFETY: the handle is that of an open connection, which outlives the call.
    unsafe { rusqlite::ffi::sqlite3_system_errno(connection.handle()) }
}
