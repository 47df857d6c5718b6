//! Finding stores and the studies in them.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use trainwright_store::Store;
use trainwright_study::{SourceFile, Study};

use crate::Error;

/// Folders below a named one that are looked into.
const DEPTH: usize = 4;

/// Folders and files that are looked at in all, so that a home folder does not take minutes.
const MOST_ENTRIES: usize = 50_000;

/// A study in a store.
#[derive(Debug, Clone)]
pub struct FoundStudy {
    /// The store.
    pub store: PathBuf,
    /// The study as it was last run; or why its text does not read any more.
    pub study: Result<Study, String>,
    /// Its name.
    pub name: String,
}

/// The stores among files and below folders, each once, by path.
///
/// # Errors
/// A path that is not there, or a file that is no store.
pub fn find_stores(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut found = BTreeSet::new();
    for path in paths {
        let kind =
            fs::metadata(path).map_err(|source| Error::Input { path: path.clone(), source })?;
        if kind.is_dir() {
            let mut left = MOST_ENTRIES;
            below(path, DEPTH, &mut left, &mut found);
        } else {
            // Says what is wrong with a file that was named.
            Store::look(path)?;
            found.insert(path.clone());
        }
    }
    Ok(found.into_iter().collect())
}

fn below(folder: &Path, depth: usize, left: &mut usize, found: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if kind.is_dir() {
            let hidden = name.starts_with('.') || name.ends_with(".trials") || name == "target";
            if depth > 0 && !hidden {
                below(&path, depth - 1, left, found);
            }
        } else if kind.is_file() && name.ends_with(".db") && is_store(&path) {
            found.insert(path);
        }
    }
}

/// Whether a file bears the mark of our stores: SQLite's header with "TRWR" as its application
/// (bytes 68 to 71 of the file format, section 1.3).
fn is_store(path: &Path) -> bool {
    let mut start = [0; 72];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start.starts_with(b"SQLite format 3\0") && start[68..] == *b"TRWR"
}

/// The studies of a store by name.
///
/// # Errors
/// The store cannot be read.
pub fn studies_in(store: &Path) -> Result<Vec<FoundStudy>, Error> {
    let Some(snapshot) = Store::look(store)? else { return Ok(Vec::new()) };
    let studies = snapshot.studies()?;
    let folder = store.parent().unwrap_or(Path::new(""));
    let files = StudyFiles::beside(store);
    Ok(studies
        .into_iter()
        .map(|own| {
            let path = files.of(&own.name, &own.source).unwrap_or_else(|| folder.join(UNKNOWN));
            let file = SourceFile { path, text: own.source };
            FoundStudy {
                store: store.to_owned(),
                study: Study::from_source(file).map_err(|faulty| faulty.to_string()),
                name: own.name,
            }
        })
        .collect())
}

/// What stands for a study file that is not beside its store, as in the usage of verbs.
const UNKNOWN: &str = "STUDY.toml";

/// The TOML files beside a store, by path.
pub(super) struct StudyFiles(Vec<(PathBuf, String)>);

impl StudyFiles {
    pub(super) fn beside(store: &Path) -> Self {
        let folder = store.parent().unwrap_or(Path::new(""));
        let entries = fs::read_dir(or_here(folder)).into_iter().flatten().flatten();
        let named = entries.map(|entry| folder.join(entry.file_name()));
        let mut paths: Vec<PathBuf> =
            named.filter(|path| path.extension().is_some_and(|own| own == "toml")).collect();
        paths.sort();
        let text = |path: PathBuf| fs::read_to_string(&path).ok().map(|text| (path, text));
        Self(paths.into_iter().filter_map(text).collect())
    }

    /// The file of a study: the one that was run, else the first of its name.
    fn of(&self, name: &str, source: &str) -> Option<PathBuf> {
        let same = self.0.iter().find(|(_, text)| text == source).map(|(path, _)| path.clone());
        same.or_else(|| self.named(name))
    }

    /// The first file that is a study of this name.
    pub(super) fn named(&self, name: &str) -> Option<PathBuf> {
        let is_study = |path: &Path| Study::load(path).is_ok_and(|own| own.name == name);
        self.0.iter().map(|(path, _)| path).find(|path| is_study(path)).cloned()
    }
}

/// The folder, or the current one where a path has none.
pub(super) fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

#[cfg(test)]
mod tests {
    use trainwright_store::Durability;

    use super::*;

    #[test]
    fn a_store_named_without_a_folder_lies_in_the_current_one() {
        // Tests run in the folder of their crate.
        let files = StudyFiles::beside(Path::new("trainwright.db"));
        let paths: Vec<&Path> = files.0.iter().map(|(path, _)| path.as_path()).collect();
        assert_eq!(paths, [Path::new("Cargo.toml")]);
        assert_eq!(or_here(Path::new("a")), Path::new("a"));
    }

    #[test]
    fn stores_are_found_below_a_folder_and_other_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir_all(folder.path().join("x.trials")).unwrap();
        fs::write(folder.path().join("other.db"), "not a store").unwrap();
        let store = deep.join("trainwright.db");
        drop(Store::open(&store, Durability::Flushed).unwrap());
        drop(Store::open(&folder.path().join("x.trials/y.db"), Durability::Flushed).unwrap());
        let found = find_stores(&[folder.path().to_owned()]).unwrap();
        assert_eq!(found, std::slice::from_ref(&store));
        assert_eq!(find_stores(&found).unwrap(), [store]);
        assert!(find_stores(&[folder.path().join("other.db")]).is_err());
        assert!(find_stores(&[folder.path().join("none")]).is_err());
    }
}
