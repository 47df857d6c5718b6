//! Tells pages that something has changed, by server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
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

/// Time between two events of one stream: a page is asked for again after each.
const PAUSE: Duration = Duration::from_millis(700);

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
}

/// A stream of versions; the first one comes at once, so that a page that was away catches up.
pub(crate) async fn events(
    State(site): State<Arc<Site>>,
    Query(query): Query<EventsQuery>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let changes = site.library.changes();
    let listener = Listener { site, query, changes, told: None };
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
            sleep(PAUSE).await;
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

/// The version of the list of all studies.
pub(crate) fn all_versions(entries: &[crate::studies::shelf::Entry]) -> String {
    let own = entries.iter().map(|entry| format!("{}={}", entry.id, entry.version()));
    super::overview::short_hash(&own.collect::<Vec<_>>().join("\n"))
}
