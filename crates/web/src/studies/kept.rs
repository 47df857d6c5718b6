//! A result that is computed once for all who ask, and not more often than it is worth.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

/// A result may take this share of one processor, so that trials keep the rest.
const LEAST_PAUSE: u32 = 20;

/// A result with the version that it belongs to.
pub(crate) struct Kept<T> {
    now: RwLock<Option<Known<T>>>,
    computing: Mutex<()>,
}

struct Known<T> {
    version: String,
    value: Arc<T>,
    next: Instant,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { now: RwLock::new(None), computing: Mutex::new(()) }
    }
}

impl<T> Kept<T> {
    /// The result for a version. An older one is given while a newer one is computed, or too soon
    /// after the last; `version_of` says which version a result has.
    ///
    /// # Errors
    /// There is no result yet, and it cannot be computed.
    pub(crate) async fn get<E, F: Future<Output = Result<T, E>>>(
        &self,
        version: &str,
        version_of: impl Fn(&T) -> String,
        compute: impl FnOnce() -> F,
    ) -> Result<Arc<T>, E> {
        let older = match self.known(version) {
            Some((value, true)) => return Ok(value),
            Some((value, false)) => Some(value),
            None => None,
        };
        let _turn = match older {
            Some(value) => match self.computing.try_lock() {
                Ok(turn) => turn,
                Err(_) => return Ok(value),
            },
            None => self.computing.lock().await,
        };
        // Somebody else may have computed it meanwhile.
        if let Some((value, true)) = self.known(version) {
            return Ok(value);
        }
        let begun = Instant::now();
        let value = Arc::new(compute().await?);
        let next = Instant::now() + (begun.elapsed() * LEAST_PAUSE).min(Duration::from_secs(60));
        let known = Known { version: version_of(&value), value: Arc::clone(&value), next };
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(value)
    }

    /// What is known, and whether it will do.
    fn known(&self, version: &str) -> Option<(Arc<T>, bool)> {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        let known = now.as_ref()?;
        let will_do = known.version == version || Instant::now() < known.next;
        Some((Arc::clone(&known.value), will_do))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join_all;

    use super::*;

    #[test]
    fn two_hundred_who_ask_at_once_cost_one_computation() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (kept, times) = (Kept::<u32>::default(), AtomicU32::new(0));
        let ask = || {
            kept.get(
                "1",
                |_| "1".to_owned(),
                || async {
                    tokio::task::yield_now().await;
                    Ok::<_, Infallible>(times.fetch_add(1, Ordering::SeqCst))
                },
            )
        };
        let all = runtime.block_on(join_all((0..200).map(|_| ask())));
        assert!(all.into_iter().all(|own| *own.unwrap() == 0));
        assert_eq!(times.load(Ordering::SeqCst), 1);
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    fn known(version: &str, value: u32, next: Instant) -> Kept<u32> {
        let known = Known { version: version.to_owned(), value: Arc::new(value), next };
        Kept { now: RwLock::new(Some(known)), computing: Mutex::new(()) }
    }

    fn version_of(value: &u32) -> String {
        value.to_string()
    }

    #[test]
    fn a_result_of_the_version_is_not_computed_again_and_an_older_one_is() {
        let kept = known("1", 1, Instant::now());
        let ask = |version: &str, value: u32| {
            let computed = runtime().block_on(
                kept.get(version, version_of, || async move { Ok::<_, Infallible>(value) }),
            );
            *computed.unwrap()
        };
        assert_eq!(ask("1", 9), 1);
        assert_eq!(ask("2", 2), 2);
        assert_eq!(ask("2", 9), 2);
    }

    #[test]
    fn too_soon_after_the_last_an_older_result_is_given() {
        let kept = known("1", 1, Instant::now() + Duration::from_secs(3600));
        let outcome =
            runtime().block_on(kept.get("2", version_of, || async { Err::<u32, _>("computed") }));
        assert_eq!(outcome.map(|own| *own), Ok(1));
    }

    #[test]
    fn a_failure_is_told_and_leaves_what_was_known() {
        let kept = Kept::<u32>::default();
        let fails = || async { Err::<u32, _>("no store") };
        assert_eq!(runtime().block_on(kept.get("1", version_of, fails)), Err("no store"));
        let works = || async { Ok::<_, &str>(1) };
        assert_eq!(runtime().block_on(kept.get("1", version_of, works)).map(|own| *own), Ok(1));
        kept.now.write().unwrap().as_mut().unwrap().next = Instant::now();
        assert_eq!(runtime().block_on(kept.get("2", version_of, fails)), Err("no store"));
        assert_eq!(runtime().block_on(kept.get("1", version_of, fails)).map(|own| *own), Ok(1));
    }

    #[test]
    fn who_comes_while_a_newer_one_is_computed_gets_the_older_one_at_once() {
        let kept = known("1", 1, Instant::now());
        let (sender, receiver) = tokio::sync::oneshot::channel::<u32>();
        runtime().block_on(async {
            let slow = kept.get("2", version_of, || receiver);
            let quick = async {
                let meanwhile =
                    kept.get("2", version_of, || async { Ok::<_, Infallible>(9) }).await.unwrap();
                sender.send(2).unwrap();
                *meanwhile
            };
            let (slow, quick) = futures_util::future::join(slow, quick).await;
            assert_eq!((*slow.unwrap(), quick), (2, 1));
        });
    }
}
