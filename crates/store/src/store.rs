//! Opening a store and keeping studies in it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::Type;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use serde_json::Value;

use trainwright_study::{Machine, Study};

use crate::StoreError;
use crate::schema::{VERSION, migrate, version};

/// Whether a finished trial survives a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Flushed to disk before the next trial starts.
    Flushed,
    /// Left to the operating system; a killed program still loses nothing.
    Unflushed,
}

/// An open store.
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

/// A study as the store knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredStudy {
    /// Key in the store.
    pub id: i64,
    /// Name.
    pub name: String,
    /// The part that may not change, as it was when the first trial was planned.
    pub fixed: Value,
    /// Text of the study file when it was last run.
    pub source: String,
}

impl Store {
    /// Opens a store for writing; an absent file is created, an older version is migrated.
    ///
    /// # Errors
    /// The file cannot be written, is no store, or comes from a newer program.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let connection = Connection::open(path)
            .map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
        let mut store = Self { connection, path: path.to_owned() };
        store.prepare(durability).map_err(|source| StoreError::from_sqlite(path, source))?;
        store.check_version()?;
        migrate(&mut store.connection).map_err(|source| StoreError::from_sqlite(path, source))?;
        Ok(store)
    }

    /// Opens an existing store for reading; nothing where there is none.
    ///
    /// # Errors
    /// The file is no store, or comes from a newer program.
    pub fn open_for_reading(path: &Path) -> Result<Option<Self>, StoreError> {
        if !path.exists() {
            return Ok(None);
        }
        let store = match Self::open_shared(path) {
            Err(StoreError::ReadOnly { .. } | StoreError::Open { .. }) if !has_journal(path) => {
                Self::open_unchanging(path)?
            }
            opened => opened?,
        };
        let empty = store.read(version)? == 0;
        Ok((!empty).then_some(store))
    }

    /// Opens a store that others may write meanwhile.
    fn open_shared(path: &Path) -> Result<Self, StoreError> {
        let open = |flags| Connection::open_with_flags(path, flags);
        let connection = open(OpenFlags::SQLITE_OPEN_READ_WRITE)
            .or_else(|_| open(OpenFlags::SQLITE_OPEN_READ_ONLY))
            .map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
        let store = Self { connection, path: path.to_owned() };
        store.wait_for_others().map_err(|source| StoreError::from_sqlite(path, source))?;
        store.check_version()?;
        Ok(store)
    }

    /// Opens a store in a folder where SQLite cannot put the helper files that sharing needs.
    fn open_unchanging(path: &Path) -> Result<Self, StoreError> {
        let uri = format!("file:{}?immutable=1", percent_encoded(path));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(uri, flags)
            .map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
        let store = Self { connection, path: path.to_owned() };
        store.check_version()?;
        Ok(store)
    }

    fn wait_for_others(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(Duration::from_secs(10))
    }

    fn prepare(&self, durability: Durability) -> rusqlite::Result<()> {
        self.wait_for_others()?;
        let synchronous = match durability {
            Durability::Flushed => "FULL",
            Durability::Unflushed => "OFF",
        };
        self.connection.pragma_update(None, "journal_mode", "WAL")?;
        self.connection.pragma_update(None, "synchronous", synchronous)?;
        self.connection.pragma_update(None, "foreign_keys", "ON")
    }

    fn check_version(&self) -> Result<(), StoreError> {
        let found = self.read(version)?;
        if found > VERSION {
            return Err(StoreError::TooNew { path: self.path.clone(), found, known: VERSION });
        }
        Ok(())
    }

    /// Runs a query and puts the file's name to its errors.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        query(&self.connection).map_err(|source| StoreError::from_sqlite(&self.path, source))
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
            transaction.commit()?;
            Ok(value)
        };
        transact(&mut self.connection).map_err(|source| StoreError::from_sqlite(&self.path, source))
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
        let found = self.read(|connection| {
            connection
                .prepare_cached("SELECT id, fixed, source FROM study WHERE name = ?1")?
                .query_row([name], |row| {
                    Ok(StoredStudy {
                        id: row.get(0)?,
                        name: name.to_owned(),
                        fixed: read_json(row, 1)?,
                        source: row.get(2)?,
                    })
                })
                .optional()
        })?;
        Ok(found)
    }

    /// Keeps a study under its name, or its changed text where it is known already.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn keep_study(&mut self, study: &Study) -> Result<StoredStudy, StoreError> {
        let fixed = serde_json::to_value(study.basis()).expect("a basis is plain data");
        let (name, source) = (&study.name, &study.source.text);
        let text = fixed.to_string();
        let id = self.write(|connection| {
            connection.query_row(
                "INSERT INTO study (name, fixed, source, created_ms) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (name) DO UPDATE SET fixed = ?2, source = ?3 RETURNING id",
                params![name, text, source, now_ms()],
                |row| row.get(0),
            )
        })?;
        Ok(StoredStudy { id, name: name.clone(), fixed, source: source.clone() })
    }

    /// Keeps a machine's description and gives its key.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn keep_machine(&mut self, machine: &Machine) -> Result<i64, StoreError> {
        let text = serde_json::to_string(machine).expect("a machine is plain data");
        self.write(|connection| {
            connection.query_row(
                "INSERT INTO machine (description) VALUES (?1)
                 ON CONFLICT (description) DO UPDATE SET description = ?1 RETURNING id",
                [text],
                |row| row.get(0),
            )
        })
    }

    /// The machines that a study's trials ran on.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn machines(&self, study: i64) -> Result<Vec<Machine>, StoreError> {
        self.read(|connection| {
            connection
                .prepare(
                    "SELECT description FROM machine WHERE id IN
                     (SELECT machine FROM trial WHERE study = ?1) ORDER BY id",
                )?
                .query_map([study], |row| read_json(row, 0))?
                .collect()
        })
    }
}

/// Whether changes wait beside a store, which reading the file alone would miss.
fn has_journal(path: &Path) -> bool {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    std::fs::metadata(journal).is_ok_and(|journal| journal.len() > 0)
}

/// A path for a URI: all but plain letters, digits and slashes as `%XX`.
fn percent_encoded(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let bytes = path.as_os_str().as_bytes().iter();
    bytes
        .map(|&byte| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") })
        .collect()
}

/// A column that holds JSON; damaged JSON is an error that names the column.
fn read_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
