//! All studies, what is known of each, and the few threads that find it out.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use trainwright::{StudyView, Thought};
use trainwright_study::Study;

use super::kept::Kept;
use super::shelf::{Entry, Shelf, version};
use crate::pages::fault::Fault;

/// How often stores are asked whether they have changed.
const LOOK: Duration = Duration::from_millis(200);

/// How long a page waits for an analysis.
const SOON: Duration = Duration::from_millis(250);

/// Blocking works at a time.
const MOST_WORKS: usize = 2;

/// Works that wait at a time; more are turned away.
const MOST_WAITING: usize = 256;

/// All studies.
pub(crate) struct Library {
    entries: RwLock<Arc<Vec<Entry>>>,
    changed: watch::Sender<u64>,
    known: Mutex<HashMap<String, Arc<KnownStudy>>>,
    works: Arc<Semaphore>,
    waiting: Semaphore,
    closed: AtomicBool,
}

/// What is known of one study.
#[derive(Default)]
struct KnownStudy {
    view: Kept<StudyView>,
    thought: Kept<Thought>,
}

impl Library {
    /// Looks at all stores once, and from then on again and again.
    ///
    /// # Errors
    /// A path is not there, or is no store.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Arc<Self>, trainwright::Error> {
        let mut shelf = Shelf::new(paths);
        let entries = shelf.look()?;
        let library = Arc::new(Self {
            entries: RwLock::new(Arc::new(entries)),
            changed: watch::Sender::new(0),
            known: Mutex::default(),
            works: Arc::new(Semaphore::new(MOST_WORKS)),
            waiting: Semaphore::new(MOST_WAITING),
            closed: AtomicBool::new(false),
        });
        let own = Arc::downgrade(&library);
        thread::spawn(move || {
            while let Some(library) = own.upgrade() {
                if library.closed.load(Ordering::Relaxed) {
                    return;
                }
                // A folder that is gone for a moment leaves what was known.
                if let Ok(entries) = shelf.look() {
                    library.put(entries);
                }
                drop(library);
                thread::sleep(LOOK);
            }
        });
        Ok(library)
    }

    /// Looks no more.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    fn put(&self, entries: Vec<Entry>) {
        let versions = |own: &[Entry]| -> Vec<(String, String)> {
            own.iter().map(|entry| (entry.id.clone(), entry.version())).collect()
        };
        let mut now = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if versions(&now) == versions(&entries) {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|id, _| entries.iter().any(|entry| entry.id == *id));
        drop(known);
        *now = Arc::new(entries);
        drop(now);
        self.changed.send_modify(|number| *number += 1);
    }

    /// The studies at this moment.
    pub(crate) fn entries(&self) -> Arc<Vec<Entry>> {
        Arc::clone(&self.entries.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Is told whenever anything has changed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The study of that name in addresses.
    pub(crate) fn entry(&self, id: &str) -> Result<Entry, Fault> {
        let entries = self.entries();
        let found = entries.iter().find(|entry| entry.id == id).cloned();
        found.ok_or_else(|| Fault::new(StatusCode::NOT_FOUND, format!("there is no study `{id}`")))
    }

    /// The trials of a study.
    pub(crate) async fn view(&self, entry: &Entry) -> Result<Arc<StudyView>, Fault> {
        let (study, store) = (study(entry)?, entry.store.clone());
        let compute = || self.work(move || StudyView::read(&study, &store).map_err(Fault::from));
        let version_of = |view: &StudyView| version(view.change, view.runner);
        self.known(&entry.id).view.get(&entry.version(), version_of, compute).await
    }

    /// What the measurements of a study say.
    pub(crate) async fn thought(&self, entry: &Entry) -> Result<Arc<Thought>, Fault> {
        let (study, store) = (study(entry)?, entry.store.clone());
        let compute = || self.work(move || Thought::of(&study, &store).map_err(Fault::from));
        let version_of = |thought: &Thought| thought.change.to_string();
        self.known(&entry.id).thought.get(&entry.change.to_string(), version_of, compute).await
    }

    /// The same for a page: one that would have to wait is shown without it, and asks again.
    pub(crate) async fn thought_soon(
        self: &Arc<Self>,
        entry: &Entry,
    ) -> Result<Arc<Thought>, Fault> {
        let (own, asked) = (Arc::clone(self), entry.clone());
        // A task of its own, because it goes on after the page has gone.
        let thinking = tokio::spawn(async move { own.thought(&asked).await });
        match timeout(SOON, thinking).await {
            Ok(Ok(thought)) => thought,
            Ok(Err(_)) => {
                Err(Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "this is a bug in trainwright"))
            }
            Err(_) => Ok(Arc::new(Thought::none(&*study(entry)?))),
        }
    }

    fn known(&self, id: &str) -> Arc<KnownStudy> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(id.to_owned()).or_default())
    }

    /// Does something that blocks, a few at a time.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let busy = || Fault::new(StatusCode::SERVICE_UNAVAILABLE, "the server is busy; try again");
        let _waiting = self.waiting.try_acquire().map_err(|_| busy())?;
        let turn = Arc::clone(&self.works).acquire_owned().await.map_err(|_| busy())?;
        // The turn goes with the work, which goes on when a visitor goes away.
        let worked = tokio::task::spawn_blocking(move || {
            let outcome = work();
            drop(turn);
            outcome
        });
        worked.await.map_err(|_| {
            Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "this is a bug in trainwright")
        })?
    }
}

fn study(entry: &Entry) -> Result<Arc<Study>, Fault> {
    entry.study.clone().map_err(|why| {
        let words = format!("the study `{}` does not read any more: {why}", entry.name);
        Fault::new(StatusCode::UNPROCESSABLE_ENTITY, words)
    })
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use futures_util::future::join_all;

    use super::*;

    fn library() -> (tempfile::TempDir, Arc<Library>) {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::open(&[folder.path().to_owned()]).unwrap();
        (folder, library)
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
    }

    fn status(fault: Fault) -> StatusCode {
        fault.into_response().status()
    }

    #[test]
    fn a_work_that_panics_is_a_fault_of_ours_and_takes_no_place_for_ever() {
        let (_folder, library) = library();
        runtime().block_on(async {
            for _ in 0..MOST_WORKS * 3 {
                let outcome = library.work(|| -> Result<(), Fault> { panic!("on purpose") }).await;
                assert_eq!(status(outcome.unwrap_err()), StatusCode::INTERNAL_SERVER_ERROR);
            }
            assert_eq!(library.work(|| Ok(7)).await.unwrap(), 7);
        });
        assert_eq!(library.works.available_permits(), MOST_WORKS);
        assert_eq!(library.waiting.available_permits(), MOST_WAITING);
    }

    #[test]
    fn who_comes_when_too_many_wait_is_turned_away_and_the_others_are_served() {
        let (_folder, library) = library();
        let gate = Arc::new(Mutex::new(()));
        let closed = gate.lock().unwrap();
        let runtime = runtime();
        let works: Vec<_> = (0..MOST_WAITING)
            .map(|number| {
                let (library, gate) = (Arc::clone(&library), Arc::clone(&gate));
                let work = move || {
                    drop(gate.lock());
                    Ok(number)
                };
                runtime.spawn(async move { library.work(work).await })
            })
            .collect();
        while library.waiting.available_permits() > 0 {
            thread::yield_now();
        }
        let refused = runtime.block_on(library.work(|| Ok(()))).unwrap_err();
        assert_eq!(status(refused), StatusCode::SERVICE_UNAVAILABLE);
        drop(closed);
        let done = runtime.block_on(join_all(works));
        let done: Vec<usize> = done.into_iter().map(|own| own.unwrap().unwrap()).collect();
        assert_eq!(done, (0..MOST_WAITING).collect::<Vec<_>>());
    }

    #[test]
    fn listeners_are_told_of_a_change_once_and_of_nothing_else() {
        let (_folder, library) = library();
        library.close();
        let entry = |change: i64| Entry {
            id: "demo".to_owned(),
            name: "demo".to_owned(),
            store: PathBuf::from("demo.db"),
            study: Err("does not read".to_owned()),
            change,
            runner: None,
        };
        let mut changes = library.changes();
        library.put(vec![entry(1)]);
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        library.put(vec![entry(1)]);
        assert!(!changes.has_changed().unwrap(), "nothing has changed");
        library.put(vec![entry(2)]);
        assert!(changes.has_changed().unwrap());
        assert_eq!(library.entry("demo").unwrap().change, 2);
        assert_eq!(status(library.entry("other").unwrap_err()), StatusCode::NOT_FOUND);
        let unread = runtime().block_on(library.view(&entry(2))).err().unwrap();
        assert_eq!(status(unread), StatusCode::UNPROCESSABLE_ENTITY);
    }
}
