//! One look at a store: everything read through it belongs to the same moment.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use trainwright_study::{ClusterTask, Machine, Series};

use crate::schema::version;
use crate::{Progress, StoreError, StoredStudy, StoredTrial, TrialLine, rows, trial_lines};

/// A store as it was at one moment, whatever a runner writes meanwhile.
///
/// ```
/// use trainwright_store::{Durability, Store};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("trainwright.db");
/// drop(Store::open(&path, Durability::Flushed)?);
/// let snapshot = Store::look(&path)?.expect("there is a store");
/// assert!(snapshot.studies()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Snapshot {
    connection: Connection,
    path: PathBuf,
    version: u32,
    change: i64,
}

impl Snapshot {
    pub(crate) fn of(connection: Connection, path: PathBuf) -> Result<Self, StoreError> {
        let mut snapshot = Self { connection, path, version: 0, change: 0 };
        snapshot.begin()?;
        Ok(snapshot)
    }

    /// Looks again; says whether anything has changed since.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn renew(&mut self) -> Result<bool, StoreError> {
        let before = self.change;
        self.read(|connection| connection.execute_batch("COMMIT"))?;
        self.begin()?;
        Ok(self.change != before)
    }

    /// Begins a read transaction; its first query fixes what all others see.
    fn begin(&mut self) -> Result<(), StoreError> {
        self.read(|connection| connection.execute_batch("BEGIN DEFERRED"))?;
        self.version = self.read(version)?;
        self.change = self.read(|connection| rows::change(connection, self.version))?;
        Ok(())
    }

    /// A number that every change to the store raises; the same number, the same content.
    pub fn change(&self) -> i64 {
        self.change
    }

    /// Where the store lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All studies by name.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn studies(&self) -> Result<Vec<StoredStudy>, StoreError> {
        self.read(rows::studies)
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
        self.read(|connection| rows::trials(connection, self.version, study))
    }

    /// Hands out the trials of a study in run order with their measurements, without what they ran
    /// and used, which is quick for many.
    ///
    /// # Errors
    /// The store cannot be read, or a trial in it is damaged.
    pub fn each_trial(
        &self,
        study: i64,
        each: impl FnMut(&TrialLine, &[(String, f64)]),
    ) -> Result<(), StoreError> {
        self.read(|connection| trial_lines::each(connection, self.version, study, each))
    }

    /// What the running trials of a study last told.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn progress(&self, study: i64) -> Result<Vec<Progress>, StoreError> {
        self.read(|connection| rows::progress(connection, self.version, study))
    }

    /// The learning curves and telemetry of one trial.
    ///
    /// # Errors
    /// The store cannot be read, or a series in it is damaged.
    pub fn series(&self, study: i64, number: u32) -> Result<Vec<Series>, StoreError> {
        self.read(|connection| rows::series(connection, study, number))
    }

    /// Where a cluster ran the trials of a study, by their numbers; nothing for those that ran
    /// elsewhere.
    ///
    /// # Errors
    /// The store cannot be read, or what it keeps of a task is damaged.
    pub fn cluster_tasks(&self, study: i64) -> Result<Vec<(u32, ClusterTask)>, StoreError> {
        self.read(|connection| rows::cluster_tasks(connection, self.version, study))
    }

    /// The machines that a study's trials ran on.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn machines(&self, study: i64) -> Result<Vec<Machine>, StoreError> {
        self.read(|connection| rows::machines(connection, study))
    }

    fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        query(&self.connection)
            .map_err(|source| StoreError::from_sqlite(&self.path, Some(&self.connection), source))
    }
}
