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
    #[error("{path} is no storage of Optuna: {source}", path = path.display())]
    NotOptuna { path: PathBuf, source: rusqlite::Error },
    #[error("name one of the studies in {path}: {names}", path = path.display())]
    WhichOptunaStudy { path: PathBuf, names: String },
    #[error("{path} is no store of MLflow: {source}", path = path.display())]
    NotMlflow { path: PathBuf, source: rusqlite::Error },
    #[error("name one of the experiments in {path}: {names}", path = path.display())]
    WhichExperiment { path: PathBuf, names: String },
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

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    /// What is said where SQLite fails with a code.
    fn said(code: i32) -> String {
        let source = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        StoreError::from_sqlite(Path::new("t.db"), None, source).to_string()
    }

    #[track_caller]
    fn check(code: i32, start: &str, advice: &str) {
        let words = said(code);
        assert!(words.starts_with(start) && words.contains(advice), "{words}");
    }

    #[test]
    fn each_trouble_is_told_with_what_to_do() {
        check(ffi::SQLITE_FULL, "cannot write the store t.db: no space left", "free some space");
        check(
            ffi::SQLITE_IOERR,
            "the store t.db cannot be reached: input or output failed",
            "check the disk",
        );
        check(ffi::SQLITE_READONLY, "cannot write the store t.db: it is read-only", "--store");
        check(ffi::SQLITE_BUSY, "the store t.db is busy", "another program");
        check(ffi::SQLITE_LOCKED, "the store t.db is busy", "another program");
        check(ffi::SQLITE_CANTOPEN, "cannot open the store t.db", "its folder exists");
        check(ffi::SQLITE_PERM, "cannot open the store t.db", "can be written");
        check(ffi::SQLITE_NOTADB, "t.db is not a Trainwright store", "damaged");
        check(ffi::SQLITE_CORRUPT, "t.db is not a Trainwright store", "damaged");
        check(ffi::SQLITE_MISUSE, "the store t.db failed", "");
    }

    #[test]
    fn codes_with_details_are_told_as_their_kind() {
        check(ffi::SQLITE_BUSY_SNAPSHOT, "the store t.db is busy", "");
        check(ffi::SQLITE_READONLY_DBMOVED, "cannot write the store t.db: it is read-only", "");
    }

    #[test]
    fn an_error_that_the_system_did_not_name_is_no_full_disk() {
        let connection = Connection::open_in_memory().unwrap();
        let source = rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR), None);
        let error = StoreError::from_sqlite(Path::new("t.db"), Some(&connection), source);
        assert!(matches!(error, StoreError::Disk { .. }), "{error}");
    }

    #[test]
    fn a_damaged_value_is_told_with_its_trial() {
        let cause = Box::new(DamagedValue { trial: 7, what: "usage" });
        let kind = rusqlite::types::Type::Text;
        let source = rusqlite::Error::FromSqlConversionFailure(3, kind, cause);
        let error = StoreError::from_sqlite(Path::new("t.db"), None, source);
        assert_eq!(error.to_string(), "the store t.db holds a damaged usage in trial 7");
    }

    #[test]
    fn any_other_failed_value_is_not_blamed_on_a_trial() {
        let error =
            StoreError::from_sqlite(Path::new("t.db"), None, rusqlite::Error::QueryReturnedNoRows);
        assert!(matches!(error, StoreError::Other { .. }), "{error}");
    }
}
