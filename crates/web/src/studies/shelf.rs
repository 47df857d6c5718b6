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
