//! A search that programs drive from elsewhere.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use trainwright::{Told, find_study_file};
use trainwright_study::Study;

use super::messages::{AskIn, AskOut, AskedOut, TellIn, TellOut, levels};
use super::metrics::trial_token;
use super::{ApiFault, Body};
use crate::pages::fault::Fault;
use crate::router::Site;
use crate::studies::shelf::Entry;

/// Trials that are given at a time.
const MOST_ASKED: u32 = 1_000;

/// A study whose search may be driven: it has one, and the server lets others act.
pub(super) fn open(site: &Site, id: &str) -> Result<Entry, Fault> {
    if site.program.is_none() {
        let words =
            "the server only shows; start it with --allow-actions to let programs ask and tell";
        return Err(Fault::new(StatusCode::FORBIDDEN, words));
    }
    site.library.entry(id)
}

/// The study as its file says; the store's text lacks what must stay secret.
fn of_file(entry: &Entry) -> Result<Study, Fault> {
    let file = find_study_file(&entry.store, &entry.name)?;
    Study::load(&file).map_err(|error| Fault::new(StatusCode::CONFLICT, error.to_string()))
}

pub(super) async fn ask(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    Body(asked): Body<AskIn>,
) -> Result<Body<AskOut>, ApiFault> {
    let entry = open(&site, &id)?;
    if !(1..=MOST_ASKED).contains(&asked.count) {
        let words = format!("`count` is {}, where 1 to {MOST_ASKED} can be asked for", asked.count);
        return Err(Fault::new(StatusCode::BAD_REQUEST, words).into());
    }
    let work = move || {
        let study = of_file(&entry)?;
        let reply = trainwright::ask(&study, Some(&entry.store), asked.count)?;
        let mut trials = Vec::new();
        for own in reply.trials {
            trials.push(AskedOut {
                trial: own.trial,
                replicate: own.replicate,
                seed: own.seed,
                configuration: levels(own.configuration.iter()),
                token: trial_token(&study, &entry, own.trial)?,
            });
        }
        let (wait, stopped) = (reply.wait, reply.stopped);
        Ok(AskOut { schema: "trainwright/ask/1", trials, wait, stopped })
    };
    Ok(Body(site.library.work(work).await?))
}

pub(super) async fn tell(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    Body(told): Body<TellIn>,
) -> Result<Body<TellOut>, ApiFault> {
    let entry = open(&site, &id)?;
    let work = move || {
        let study = of_file(&entry)?;
        let told = Told {
            trial: told.trial,
            values: told.values,
            failed: told.failed,
            seconds: told.seconds,
        };
        let reply = trainwright::tell(&study, Some(&entry.store), &told)?;
        Ok(TellOut {
            schema: "trainwright/tell/1",
            trial: reply.trial,
            state: reply.state.word().to_owned(),
            best: reply.best.map(|own| levels(own.iter())),
            best_value: reply.best_value,
        })
    };
    Ok(Body(site.library.work(work).await?))
}
