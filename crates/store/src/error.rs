//! Why the store cannot keep or give something.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the store cannot keep or give something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum StoreError {
    #[error("cannot open the store {path}: {source}; check that its folder exists and can be written", path = path.display())]
    Open { path: PathBuf, source: rusqlite::Error },
    #[error("cannot write the store {path}: no space left ({source}); free some space and run again, finished trials are kept", path = path.display())]
    Full { path: PathBuf, source: rusqlite::Error },
    #[error("cannot write the store {path}: it is read-only; check its permissions, or choose another place with --store", path = path.display())]
    ReadOnly { path: PathBuf },
    #[error("the store {path} is busy: another program is writing it", path = path.display())]
    Busy { path: PathBuf },
    #[error("{path} is not a Trainwright store, or is damaged: {source}", path = path.display())]
    NotAStore { path: PathBuf, source: rusqlite::Error },
    #[error("the store {path} has version {found}, this program reads up to {known}; use a newer program", path = path.display())]
    TooNew { path: PathBuf, found: u32, known: u32 },
    #[error("the store {path} holds a damaged {what} in trial {trial}", path = path.display())]
    Damaged { path: PathBuf, what: &'static str, trial: u32 },
    #[error("the store {path} failed: {source}", path = path.display())]
    Other { path: PathBuf, source: rusqlite::Error },
}

impl StoreError {
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            // A write past a quota or a file size limit reports a failed write, not a full disk.
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => Self::Full { path, source },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::Open { path, source }
            }
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::NotAStore { path, source }
            }
            _ => Self::Other { path, source },
        }
    }
}
