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
}
