use std::fs;
use std::os::unix::fs::PermissionsExt;

use trainwright_store::{Durability, Store, StoreError};

use crate::keeping::store_with_two_trials;

#[test]
fn a_missing_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nowhere").join("s.db");
    let error = Store::open(&path, Durability::Flushed).err().unwrap();
    assert!(matches!(error, StoreError::Make { .. }), "{error}");
    assert!(error.to_string().contains("nowhere"), "{error}");
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    fs::write(&path, "this is a text, long enough to be looked at as a database header ........")
        .unwrap();
    let before = fs::read(&path).unwrap();
    let error = Store::open(&path, Durability::Flushed).err().unwrap();
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_store_of_a_newer_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    drop(store_with_two_trials(&path));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let error = Store::open(&path, Durability::Flushed).err().unwrap();
    assert!(matches!(error, StoreError::TooNew { found: 99, .. }), "{error}");
}

#[test]
fn reading_an_absent_store_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    assert!(Store::look(&path).unwrap().is_none());
    assert!(!path.exists());
}

#[test]
fn a_damaged_study_is_an_error_and_not_a_changed_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let (store, _) = store_with_two_trials(&path);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE study SET fixed = '{\"half'", []).unwrap();
    assert!(matches!(store.study("demo"), Err(StoreError::Other { .. })));
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine')")
        .unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    for error in [Store::open(&path, Durability::Flushed).err(), Store::look(&path).err()] {
        assert!(matches!(error, Some(StoreError::Foreign { .. })), "{error:?}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_store_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let (_store, _) = store_with_two_trials(&path);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.file_name());
    }
}

#[test]
fn a_copy_without_its_journal_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("s.db"), folder.path().join("copy.db"));
    let (_store, _) = store_with_two_trials(&path);
    fs::copy(&path, &copy).unwrap();
    let error = Store::look(&copy).err().unwrap();
    assert!(matches!(error, StoreError::WithoutJournal { .. }), "{error}");
    assert!(error.to_string().contains("copy.db-wal"), "{error}");
    assert!(Store::look(&path).unwrap().is_some());
}
