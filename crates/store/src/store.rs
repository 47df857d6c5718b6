//! The store as its one writer sees it.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use trainwright_study::Series;

use crate::schema::VERSION;
use crate::{Snapshot, StoreError, StoredStudy, StoredTrial, opening, rows};

/// Whether a finished trial survives a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Flushed to disk before the next trial starts.
    Flushed,
    /// Left to the operating system; a killed program still loses nothing.
    Unflushed,
}

/// A store open for writing; every change is one transaction and raises the change number.
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

impl Store {
    /// Opens a store for writing; an absent file is made, an older version is migrated.
    ///
    /// # Errors
    /// The file cannot be written, is no store, or comes from a newer program.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        opening::for_writing(path, durability)
    }

    /// Takes a look at an existing store; nothing where there is none.
    ///
    /// # Errors
    /// The file is no store, or comes from a newer program.
    pub fn look(path: &Path) -> Result<Option<Snapshot>, StoreError> {
        opening::for_reading(path)?
            .map(|connection| Snapshot::of(connection, path.to_owned()))
            .transpose()
    }

    /// Where the store lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The study of that name, if it was ever run or imported.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn study(&self, name: &str) -> Result<Option<StoredStudy>, StoreError> {
        self.read(|connection| rows::study(connection, name))
    }

    /// All trials of a study in run order.
    ///
    /// # Errors
    /// The store cannot be read, or a trial in it is damaged.
    pub fn trials(&self, study: i64) -> Result<Vec<StoredTrial>, StoreError> {
        self.read(|connection| rows::trials(connection, VERSION, study))
    }

    /// The learning curves and telemetry of one trial.
    ///
    /// # Errors
    /// The store cannot be read, or a series in it is damaged.
    pub fn series(&self, study: i64, number: u32) -> Result<Vec<Series>, StoreError> {
        self.read(|connection| rows::series(connection, study, number))
    }

    fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        query(&self.connection).map_err(|source| self.failed(source))
    }

    /// Runs a change as one transaction: all of it is kept, or none.
    pub(crate) fn write<T>(
        &mut self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let transact = |connection: &mut Connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let value = change(&transaction)?;
            transaction.prepare_cached("UPDATE change SET number = number + 1")?.execute([])?;
            transaction.commit()?;
            Ok(value)
        };
        transact(&mut self.connection).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.path, Some(&self.connection), source)
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
