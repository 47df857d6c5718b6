//! Where a study's store and trial folders lie.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use trainwright_engine::trial_folder;
use trainwright_store::{Durability, Snapshot, Store};
use trainwright_study::Study;

use crate::Error;

/// The store of a study and the folder of its trials.
///
/// Both lie beside the study file unless the user names another store: `trainwright.db`, and
/// `trainwright.trials/<study>/00001` for what the first trial wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The store's file.
    pub store: PathBuf,
    /// The folder of the study's trials.
    pub trials: PathBuf,
}

impl Place {
    /// The place of a study; `store` where the user named one.
    pub fn of(study: &Study, store: Option<&Path>) -> Self {
        let store = match store {
            Some(path) => path.to_owned(),
            None => study.folder().join("trainwright.db"),
        };
        let trials = beside(&store, ".trials").join(&study.name);
        Self { store, trials }
    }

    /// The folder of one trial.
    pub fn trial(&self, number: u32) -> PathBuf {
        trial_folder(&self.trials, number)
    }

    /// The process that runs the study at this moment.
    pub fn runner(&self) -> Option<u32> {
        crate::running::lock::Lock::holder(&self.trials)
    }

    /// The folder of the study's load tests: `trainwright.loads/<study>` beside the store.
    pub fn loads(&self) -> PathBuf {
        let name = self.trials.file_name().expect("it ends with the study's name");
        beside(&self.store, ".loads").join(name)
    }

    /// Makes the folders and gives them absolute paths, as trials in other folders need them.
    pub(crate) fn made(&self) -> Result<Self, Error> {
        let unwritable = |path: &Path, source| Error::Folder { path: path.to_owned(), source };
        // A mistyped store would otherwise begin a study anew in a place nobody looks at.
        if let Some(folder) = self.store.parent().filter(|folder| !folder.as_os_str().is_empty())
            && !folder.is_dir()
        {
            return Err(Error::NoStoreFolder { folder: folder.to_owned() });
        }
        // What trials print may be private.
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.trials)
            .map_err(|e| unwritable(&self.trials, e))?;
        let trials = self.trials.canonicalize().map_err(|e| unwritable(&self.trials, e))?;
        Ok(Self { store: self.store.clone(), trials })
    }

    pub(crate) fn open(&self, durability: Durability) -> Result<Store, Error> {
        Ok(Store::open(&self.store, durability)?)
    }

    pub(crate) fn look(&self) -> Result<Option<Snapshot>, Error> {
        Ok(Store::look(&self.store)?)
    }
}

/// `trainwright.trials` beside `trainwright.db`; a store of another ending keeps it in the name, so
/// that `sweep.1` and `sweep.2` never share a folder.
fn beside(store: &Path, ending: &str) -> PathBuf {
    let plain = store.extension().is_none_or(|ending| ending == "db");
    let mut name = if plain { store.with_extension("") } else { store.to_owned() }.into_os_string();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_of_different_endings_have_their_own_folders() {
        let folder = |store: &str| beside(Path::new(store), ".trials").to_str().unwrap().to_owned();
        assert_eq!(folder("a/trainwright.db"), "a/trainwright.trials");
        assert_eq!(folder("a/sweep.1"), "a/sweep.1.trials");
        assert_eq!(folder("a/sweep.2"), "a/sweep.2.trials");
        assert_eq!(folder("sweep"), "sweep.trials");
    }
}
