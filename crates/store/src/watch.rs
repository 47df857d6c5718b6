//! Asking a store whether it has changed, again and again, without standing in anybody's way.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::schema::version;
use crate::{StoreError, opening, rows};

/// Tells the change number of a store.
///
/// Between two questions no transaction is open, so that the journal can be emptied.
pub struct StoreWatch {
    path: PathBuf,
    open: Option<(Connection, (u64, u64))>,
}

impl StoreWatch {
    /// A watch of the store at that path, which need not be there yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), open: None }
    }

    /// The number that every change raises; nothing where there is no store.
    ///
    /// # Errors
    /// The file is no store, comes from a newer program, or cannot be read.
    pub fn change(&mut self) -> Result<Option<i64>, StoreError> {
        let file = std::fs::metadata(&self.path).ok().map(|own| (own.dev(), own.ino()));
        // Another file may have taken its place.
        if self.open.as_ref().map(|(_, known)| *known) != file {
            self.open = None;
        }
        let Some(file) = file else { return Ok(None) };
        if self.open.is_none() {
            self.open = opening::for_reading(&self.path)?.map(|connection| (connection, file));
        }
        let Some((connection, _)) = &self.open else { return Ok(None) };
        let asked = version(connection).and_then(|version| rows::change(connection, version));
        match asked {
            Ok(number) => Ok(Some(number)),
            Err(source) => {
                let error = StoreError::from_sqlite(&self.path, Some(connection), source);
                self.open = None;
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Durability, PlanUpdate, Store};

    #[test]
    fn a_watch_sees_changes_and_a_store_that_takes_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let mut watch = StoreWatch::new(&path);
        assert_eq!(watch.change().unwrap(), None);
        let mut store = Store::open(&path, Durability::Unflushed).unwrap();
        assert_eq!(watch.change().unwrap(), Some(0));
        let update = PlanUpdate { name: "s", ..PlanUpdate::default() };
        store.update_plan(&update).unwrap();
        assert_eq!(watch.change().unwrap(), Some(1));
        drop(store);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(watch.change().unwrap(), None);
        drop(Store::open(&path, Durability::Unflushed).unwrap());
        assert_eq!(watch.change().unwrap(), Some(0));
    }
}
