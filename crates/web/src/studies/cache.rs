//! Pages that were made, each made once, and not more than fit.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use tokio::sync::OnceCell;

/// Bytes of all pages together.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Pages in all, those that are being made included.
const MOST_PAGES: usize = 2_000;

/// Pages by address and version.
#[derive(Default)]
pub(crate) struct PageCache {
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    by_key: HashMap<String, Arc<OnceCell<Bytes>>>,
    order: VecDeque<String>,
}

impl PageCache {
    /// The page of that key; the first who asks makes it, all others wait for that.
    ///
    /// # Errors
    /// It cannot be made; the next who asks tries again.
    pub(crate) async fn get<E, F: Future<Output = Result<Bytes, E>>>(
        &self,
        key: &str,
        make: impl FnOnce() -> F,
    ) -> Result<Bytes, E> {
        let cell = self.cell(key);
        cell.get_or_try_init(make).await.cloned()
    }

    fn cell(&self, key: &str) -> Arc<OnceCell<Bytes>> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = pages.by_key.get(key) {
            return Arc::clone(cell);
        }
        let size = |pages: &Pages| -> usize {
            pages.by_key.values().filter_map(|own| own.get().map(Bytes::len)).sum()
        };
        while pages.order.len() >= MOST_PAGES || size(&pages) > MOST_BYTES {
            let Some(oldest) = pages.order.pop_front() else { break };
            pages.by_key.remove(&oldest);
        }
        let cell = Arc::new(OnceCell::new());
        pages.by_key.insert(key.to_owned(), Arc::clone(&cell));
        pages.order.push_back(key.to_owned());
        cell
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn old_pages_make_room_for_new_ones() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let cache = PageCache::default();
        let page = Bytes::from(vec![0; MOST_BYTES / 8]);
        for number in 0..40 {
            let made = || async { Ok::<_, Infallible>(page.clone()) };
            runtime.block_on(cache.get(&number.to_string(), made)).unwrap();
        }
        let pages = cache.pages.lock().unwrap();
        assert!(pages.by_key.len() <= 10 && pages.by_key.len() == pages.order.len());
        assert!(pages.by_key.contains_key("39") && !pages.by_key.contains_key("0"));
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn a_page_is_made_once_and_one_that_failed_is_made_again() {
        let cache = PageCache::default();
        let mut times = 0;
        let mut ask = |outcome: Result<&'static str, &'static str>| {
            let make = || {
                times += 1;
                async move { outcome.map(|own| Bytes::from_static(own.as_bytes())) }
            };
            runtime().block_on(cache.get("key", make))
        };
        assert_eq!(ask(Err("no")), Err("no"));
        assert_eq!(ask(Err("no again")), Err("no again"));
        assert_eq!(ask(Ok("page")), Ok(Bytes::from_static(b"page")));
        assert_eq!(ask(Ok("another")), Ok(Bytes::from_static(b"page")));
        assert_eq!(times, 3);
    }

    #[test]
    fn there_are_never_more_pages_than_fit() {
        let cache = PageCache::default();
        for number in 0..MOST_PAGES + 50 {
            let make = || async { Ok::<_, Infallible>(Bytes::from_static(b"small")) };
            runtime().block_on(cache.get(&number.to_string(), make)).unwrap();
        }
        let pages = cache.pages.lock().unwrap();
        assert_eq!((pages.by_key.len(), pages.order.len()), (MOST_PAGES, MOST_PAGES));
        assert!(!pages.by_key.contains_key("49") && pages.by_key.contains_key("50"));
    }
}
