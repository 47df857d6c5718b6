//! Opening the file of a store: for the one writer, or for a look that disturbs nobody.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::schema::{VERSION, is_foreign, migrate, version};
use crate::store::Durability;
use crate::{Store, StoreError};

/// How long a connection waits for another program's change before it says that the store is busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a store for writing; an absent file is made, for its owner alone, an older version is
/// migrated.
pub(crate) fn for_writing(path: &Path, durability: Durability) -> Result<Store, StoreError> {
    make_private(path)?;
    let connection =
        Connection::open(path).map_err(|source| StoreError::Open { path: path.into(), source })?;
    let mut store = Store { connection, path: path.to_owned() };
    let failed =
        |store: &Store, source| StoreError::from_sqlite(path, Some(&store.connection), source);
    store.connection.busy_timeout(PATIENCE).map_err(|source| failed(&store, source))?;
    // Before anything is written: a file of another program must stay as it is.
    check_ours(&store.connection, path)?;
    set_up(&store.connection, durability).map_err(|source| failed(&store, source))?;
    if let Err(source) = migrate(&mut store.connection) {
        return Err(failed(&store, source));
    }
    Ok(store)
}

/// Opens an existing store for reading; nothing where there is none.
pub(crate) fn for_reading(path: &Path) -> Result<Option<Connection>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    // Asked first, because opening a store makes an empty journal.
    let lacks_journal = keeps_a_journal(path) && journal_length(path).is_none();
    let connection = match open_shared(path) {
        Err(
            StoreError::ReadOnly { .. }
            | StoreError::Open { .. }
            | StoreError::Full { .. }
            | StoreError::Disk { .. },
        ) => open_alone(path)?,
        opened => opened?,
    };
    let found = version(&connection)
        .map_err(|source| StoreError::from_sqlite(path, Some(&connection), source))?;
    if found == 0 && lacks_journal {
        return Err(StoreError::WithoutJournal { path: path.into(), journal: journal(path) });
    }
    Ok((found > 0).then_some(connection))
}

fn make_private(path: &Path) -> Result<(), StoreError> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Err(source) if source.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::Make { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn set_up(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    let synchronous = match durability {
        Durability::Flushed => "FULL",
        Durability::Unflushed => "OFF",
    };
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", "ON")
}

/// Refuses a file that another program made, or a newer version of this one.
fn check_ours(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::from_sqlite(path, Some(connection), source);
    if is_foreign(connection).map_err(failed)? {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    let found = version(connection).map_err(failed)?;
    if found > VERSION {
        return Err(StoreError::TooNew { path: path.to_owned(), found, known: VERSION });
    }
    Ok(())
}

/// Opens a store that others may write meanwhile.
fn open_shared(path: &Path) -> Result<Connection, StoreError> {
    let open = |flags| Connection::open_with_flags(path, flags);
    let connection = open(OpenFlags::SQLITE_OPEN_READ_WRITE)
        .or_else(|_| open(OpenFlags::SQLITE_OPEN_READ_ONLY))
        .map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
    made_for_reading(connection, path)
}

/// Opens a store where SQLite cannot make the helper file that sharing needs, because the folder
/// cannot be written or the disk is full.
fn open_alone(path: &Path) -> Result<Connection, StoreError> {
    let unopened = |source| StoreError::Open { path: path.to_owned(), source };
    if journal_length(path).is_some_and(|length| length > 0) {
        // Alone, the index of the journal is kept in memory.
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(unopened)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(unopened)?;
        return made_for_reading(connection, path);
    }
    let uri = format!("file:{}?immutable=1", percent_encoded(path));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    made_for_reading(Connection::open_with_flags(uri, flags).map_err(unopened)?, path)
}

fn made_for_reading(connection: Connection, path: &Path) -> Result<Connection, StoreError> {
    connection
        .busy_timeout(PATIENCE)
        .map_err(|source| StoreError::from_sqlite(path, Some(&connection), source))?;
    check_ours(&connection, path)?;
    Ok(connection)
}

/// Where changes wait until they are moved into the store.
fn journal(path: &Path) -> PathBuf {
    let mut journal: OsString = path.as_os_str().to_owned();
    journal.push("-wal");
    journal.into()
}

fn journal_length(path: &Path) -> Option<u64> {
    std::fs::metadata(journal(path)).ok().map(|journal| journal.len())
}

/// Whether the store's first page says that changes go to a journal beside it (SQLite's file
/// format, section 1.3.3: 2 in bytes 18 and 19).
fn keeps_a_journal(path: &Path) -> bool {
    let mut start = [0; 20];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start[18..] == [2, 2]
}

/// A path for a URI: all but plain letters, digits and slashes as `%XX`.
fn percent_encoded(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let bytes = path.as_os_str().as_bytes().iter();
    bytes
        .map(|&byte| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_uri_keeps_letters_and_hides_all_else() {
        assert_eq!(percent_encoded(Path::new("/a-b_c/D.9")), "/a-b_c/D.9");
        assert_eq!(percent_encoded(Path::new("a b?c#d%é")), "a%20b%3Fc%23d%25%C3%A9");
    }

    #[test]
    fn the_journal_lies_beside_the_store() {
        assert_eq!(journal(Path::new("x/t.db")), Path::new("x/t.db-wal"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        assert_eq!(journal_length(&path), None);
        std::fs::write(journal(&path), "four").unwrap();
        assert_eq!(journal_length(&path), Some(4));
    }

    #[test]
    fn a_store_says_that_it_keeps_a_journal_and_others_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        assert!(!keeps_a_journal(&path), "there is none");
        std::fs::write(&path, "short").unwrap();
        assert!(!keeps_a_journal(&path), "too short");
        std::fs::remove_file(&path).unwrap();
        drop(for_writing(&path, Durability::Unflushed).unwrap());
        assert!(keeps_a_journal(&path));
        let plain = folder.path().join("plain.db");
        Connection::open(&plain).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
        assert!(!keeps_a_journal(&plain));
    }

    #[test]
    fn an_empty_file_is_no_store_to_read_and_becomes_one_by_writing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd name?.db");
        std::fs::write(&path, "").unwrap();
        assert!(for_reading(&path).unwrap().is_none());
        drop(for_writing(&path, Durability::Unflushed).unwrap());
        let connection = for_reading(&path).unwrap().unwrap();
        assert_eq!(version(&connection).unwrap(), VERSION);
    }

    #[test]
    fn a_store_is_read_alone_from_a_path_with_odd_letters() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("50% of? #1.db");
        drop(for_writing(&path, Durability::Unflushed).unwrap());
        let connection = open_alone(&path).unwrap();
        assert_eq!(version(&connection).unwrap(), VERSION);
        assert!(connection.execute("UPDATE change SET number = 5", []).is_err());
    }

    #[test]
    fn flushing_is_as_asked() {
        let folder = tempfile::tempdir().unwrap();
        for (durability, level) in [(Durability::Flushed, 2), (Durability::Unflushed, 0)] {
            let store = for_writing(&folder.path().join("t.db"), durability).unwrap();
            let own: u32 =
                store.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
            assert_eq!(own, level, "{durability:?}");
        }
    }
}
