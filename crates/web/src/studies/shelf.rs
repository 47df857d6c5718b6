//! The studies in all stores, looked for again and again by one thread.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trainwright::store::StoreWatch;
use trainwright::{FoundStudy, Place, find_stores, studies_in};
use trainwright_study::Study;

/// How often folders are searched for new stores.
const SEARCH: Duration = Duration::from_secs(5);

/// A study as it stands on the shelf.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its name in addresses: the study's, with a number where several have it.
    pub(crate) id: String,
    /// The study's name.
    pub(crate) name: String,
    /// Its store.
    pub(crate) store: PathBuf,
    /// The study, or why its text does not read any more.
    pub(crate) study: Result<Arc<Study>, String>,
    /// The change number of its store.
    pub(crate) change: i64,
    /// The process that runs it.
    pub(crate) runner: Option<u32>,
}

impl Entry {
    /// What changes whenever a page of the study may have to change.
    pub(crate) fn version(&self) -> String {
        version(self.change, self.runner)
    }
}

/// The version of what was read at a change number while a process ran the study.
pub(crate) fn version(change: i64, runner: Option<u32>) -> String {
    format!("{change}-{}", runner.unwrap_or(0))
}

/// Looks at stores again and again.
pub(crate) struct Shelf {
    paths: Vec<PathBuf>,
    stores: BTreeMap<PathBuf, Watched>,
    searched: Option<Instant>,
}

struct Watched {
    watch: StoreWatch,
    change: Option<i64>,
    studies: Vec<(String, Result<Arc<Study>, String>)>,
}

impl Shelf {
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        Self { paths: paths.to_vec(), stores: BTreeMap::new(), searched: None }
    }

    /// Looks once; a store that cannot be read now keeps what was known of it.
    ///
    /// # Errors
    /// A path is not there any more, or is no store.
    pub(crate) fn look(&mut self) -> Result<Vec<Entry>, trainwright::Error> {
        if self.searched.is_none_or(|at| at.elapsed() > SEARCH) {
            let found = find_stores(&self.paths)?;
            self.stores.retain(|path, _| found.contains(path));
            for path in found {
                let new =
                    || Watched { watch: StoreWatch::new(&path), change: None, studies: Vec::new() };
                self.stores.entry(path.clone()).or_insert_with(new);
            }
            self.searched = Some(Instant::now());
        }
        for (path, own) in &mut self.stores {
            let Ok(Some(change)) = own.watch.change() else { continue };
            if own.change == Some(change) {
                continue;
            }
            if let Ok(studies) = studies_in(path) {
                own.studies =
                    studies.into_iter().map(|found| renewed(&own.studies, found)).collect();
                own.change = Some(change);
            }
        }
        Ok(self.entries())
    }

    fn entries(&self) -> Vec<Entry> {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut out = Vec::new();
        for (path, own) in &self.stores {
            for (name, study) in &own.studies {
                let number = seen.entry(name.clone()).or_insert(0);
                *number += 1;
                let id = if *number == 1 { name.clone() } else { format!("{name}~{number}") };
                let runner =
                    study.as_ref().ok().and_then(|own| Place::of(own, Some(path)).runner());
                out.push(Entry {
                    id,
                    name: name.clone(),
                    store: path.clone(),
                    study: study.clone(),
                    change: own.change.unwrap_or(0),
                    runner,
                });
            }
        }
        out
    }
}

/// A study that reads as before is the one of before.
fn renewed(
    known: &[(String, Result<Arc<Study>, String>)],
    found: FoundStudy,
) -> (String, Result<Arc<Study>, String>) {
    let before = known.iter().find(|(name, _)| *name == found.name);
    match (before, found.study) {
        (Some((name, Ok(old))), Ok(new)) if old.source.text == new.source.text => {
            (name.clone(), Ok(Arc::clone(old)))
        }
        (_, study) => (found.name, study.map(Arc::new)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// A store in a folder of its own, made by asking a search for a trial.
    fn store(folder: &Path, name: &str, more: &str) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let text = format!(
            "schema = 1\n[study]\nname = \"{name}\"\n[factors.x]\nrange = {{ from = 0.0, to = 1.0 }}\n\
             [run]\ncommand = [\"true\", \"{{x}}\"]\n[metrics.y]\nfrom = \"jsonl\"\nobjective = \"minimize\"\n\
             [search]\nmethod = \"random\"\nbudget = {{ trials = 50 }}\n{more}"
        );
        let file = folder.join("study.toml");
        fs::write(&file, text).unwrap();
        trainwright::ask(&Study::load(&file).unwrap(), None, 1).unwrap();
        folder.join("trainwright.db")
    }

    fn ids(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|own| own.id.as_str()).collect()
    }

    #[test]
    fn studies_of_one_name_get_numbers_in_the_order_of_their_stores() {
        let folder = tempfile::tempdir().unwrap();
        for (place, name) in [("c", "demo"), ("a", "demo"), ("b", "other"), ("d", "demo")] {
            store(&folder.path().join(place), name, "");
        }
        let found = Shelf::new(&[folder.path().to_owned()]).look().unwrap();
        assert_eq!(ids(&found), ["demo", "other", "demo~2", "demo~3"]);
        assert!(found[0].store.ends_with("a/trainwright.db"));
        assert!(found.iter().all(|own| own.runner.is_none() && own.study.is_ok()));
    }

    #[test]
    fn a_change_raises_the_version_and_keeps_the_study_that_was_read() {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path(), "demo", "");
        let mut shelf = Shelf::new(&[folder.path().to_owned()]);
        let first = shelf.look().unwrap();
        let same = shelf.look().unwrap();
        assert_eq!(first[0].version(), same[0].version());
        // The same study with another trial under way.
        store(folder.path(), "demo", "");
        let second = shelf.look().unwrap();
        assert_ne!(first[0].version(), second[0].version());
        let study = |own: &[Entry]| Arc::clone(own[0].study.as_ref().unwrap());
        assert!(Arc::ptr_eq(&study(&first), &study(&second)));
        // Another text is another study.
        store(folder.path(), "demo", "# a remark\n");
        let third = shelf.look().unwrap();
        assert!(!Arc::ptr_eq(&study(&first), &study(&third)));
        assert!(study(&third).source.text.ends_with("# a remark\n"));
    }

    #[test]
    fn stores_that_come_and_go_are_seen_when_folders_are_searched_again() {
        let folder = tempfile::tempdir().unwrap();
        store(&folder.path().join("a"), "first", "");
        let mut shelf = Shelf::new(&[folder.path().to_owned()]);
        assert_eq!(ids(&shelf.look().unwrap()), ["first"]);
        store(&folder.path().join("b"), "second", "");
        shelf.searched = None;
        assert_eq!(ids(&shelf.look().unwrap()), ["first", "second"]);
        fs::remove_dir_all(folder.path().join("a")).unwrap();
        shelf.searched = None;
        assert_eq!(ids(&shelf.look().unwrap()), ["second"]);
    }

    #[test]
    fn a_folder_that_is_gone_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        let told = Shelf::new(std::slice::from_ref(&gone)).look().unwrap_err().to_string();
        assert!(told.contains(gone.to_str().unwrap()), "{told}");
    }
}
