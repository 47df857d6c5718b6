use std::fs;

use trainwright_store::{Durability, Store, StoreError};

use crate::keeping::store_with_two_trials;

#[test]
fn a_missing_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nowhere").join("s.db");
    let error = Store::open(&path, Durability::Flushed).err().unwrap();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
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
    assert!(Store::open_for_reading(&path).unwrap().is_none());
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
