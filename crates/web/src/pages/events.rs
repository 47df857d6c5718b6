//! Tells pages that something has changed, by server-sent events.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use trainwright::Place;

use super::trial::trial_version;
use crate::router::Site;

/// Time between two events of one stream: a page is asked for again after each. Streams have
/// different ones within these ends, so that many visitors do not ask at the same moment.
const PAUSES_MS: Range<u64> = 500..900;

/// Streams so far.
static STREAMS: AtomicU64 = AtomicU64::new(0);

/// How often the outputs of a trial are looked at.
const LOOK: Duration = Duration::from_millis(400);

/// What a page wants to hear of; everything, where it names no study.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EventsQuery {
    study: Option<String>,
    trial: Option<u32>,
}

struct Listener {
    site: Arc<Site>,
    query: EventsQuery,
    changes: watch::Receiver<u64>,
    told: Option<String>,
    pause: Duration,
}

/// A stream of versions; the first one comes at once, so that a page that was away catches up.
pub(crate) async fn events(
    State(site): State<Arc<Site>>,
    Query(query): Query<EventsQuery>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let changes = site.library.changes();
    let pause = pause(STREAMS.fetch_add(1, Ordering::Relaxed));
    let listener = Listener { site, query, changes, told: None, pause };
    let stream = unfold(listener, |mut own| async move {
        let version = own.next().await?;
        Some((Ok(Event::default().event("version").data(version)), own))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

impl Listener {
    /// Waits for a version that was not told; nothing once the server ends.
    async fn next(&mut self) -> Option<String> {
        if self.told.is_some() {
            sleep(self.pause).await;
        }
        loop {
            self.changes.mark_unchanged();
            let now = self.version();
            if self.told.as_ref() != Some(&now) {
                self.told = Some(now.clone());
                return Some(now);
            }
            match self.query.trial {
                // Outputs grow without a change of the store.
                Some(_) => {
                    if let Ok(Err(_)) = timeout(LOOK, self.changes.changed()).await {
                        return None;
                    }
                }
                None => self.changes.changed().await.ok()?,
            }
        }
    }

    fn version(&self) -> String {
        let entries = self.site.library.entries();
        let Some(id) = &self.query.study else { return all_versions(&entries) };
        let Some(entry) = entries.iter().find(|own| own.id == *id) else { return String::new() };
        match (self.query.trial, &entry.study) {
            (Some(number), Ok(study)) => {
                trial_version(&entry.version(), &Place::of(study, Some(&entry.store)), number)
            }
            _ => entry.version(),
        }
    }
}

/// The pause of a stream by its number: any few in a row are spread over the whole range.
fn pause(number: u64) -> Duration {
    // The golden section as a whole number of 64 bits.
    let place = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let width = PAUSES_MS.end - PAUSES_MS.start;
    Duration::from_millis(PAUSES_MS.start + ((place * width) >> 32))
}

/// The version of the list of all studies.
pub(crate) fn all_versions(entries: &[crate::studies::shelf::Entry]) -> String {
    let own = entries.iter().map(|entry| format!("{}={}", entry.id, entry.version()));
    super::overview::short_hash(&own.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_of_streams_are_spread_and_stay_below_a_second() {
        for first in [0, 77, u64::MAX - 3] {
            let mut own: Vec<u64> = (0..8)
                .map(|step| pause(first.wrapping_add(step)).as_millis() as u64)
                .inspect(|pause| assert!(PAUSES_MS.contains(pause), "{pause}"))
                .collect();
            own.sort_unstable();
            let widest = own.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            assert!(widest <= 100, "eight pauses leave no gap of a quarter: {own:?}");
        }
    }
}
