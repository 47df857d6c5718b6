//! Metrics of a running trial, which shows a token of its own.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use trainwright::Place;
use trainwright_study::{Study, TrialState};

use super::ask_tell::open;
use super::messages::{MetricsIn, MetricsOut, TokenOut};
use super::read::known;
use super::{ApiFault, Body};
use crate::pages::fault::Fault;
use crate::router::Site;
use crate::server::token::Token;
use crate::studies::shelf::Entry;

/// The secret from which the tokens of a study's trials are made, beside their folders.
const SECRET: &str = "tokens.secret";

/// The token of one trial, a code of the study's secret, so that no list of tokens is kept.
pub(super) fn trial_token(study: &Study, entry: &Entry, number: u32) -> Result<String, Fault> {
    Ok(secret(study, entry)?.code(&purpose(study, number)))
}

fn purpose(study: &Study, number: u32) -> String {
    format!("trial {number} of {}", study.name)
}

fn secret(study: &Study, entry: &Entry) -> Result<Token, Fault> {
    let place = Place::of(study, Some(&entry.store));
    Token::kept(&place.trials.join(SECRET)).map_err(|error| {
        let words = format!("cannot keep the secret of `{}`: {error}", study.name);
        Fault::new(StatusCode::INTERNAL_SERVER_ERROR, words)
    })
}

/// Gives the token of a trial to whoever may act.
pub(super) async fn token(
    State(site): State<Arc<Site>>,
    Path((id, number)): Path<(String, u32)>,
) -> Result<Body<TokenOut>, ApiFault> {
    let entry = open(&site, &id)?;
    let view = site.library.view(&entry).await?;
    known(&view, number)?;
    let work = move || {
        let token = trial_token(&view.study, &entry, number)?;
        Ok(TokenOut { schema: "trainwright/token/1", trial: number, token })
    };
    Ok(Body(site.library.work(work).await?))
}

/// Takes metrics as if the trial had written them to its file itself.
pub(super) async fn metrics(
    State(site): State<Arc<Site>>,
    Path((id, number)): Path<(String, u32)>,
    headers: HeaderMap,
    Body(told): Body<MetricsIn>,
) -> Result<Body<MetricsOut>, ApiFault> {
    let shown = headers.get(header::AUTHORIZATION).and_then(|own| own.to_str().ok());
    let shown = shown.and_then(|own| own.strip_prefix("Bearer ")).unwrap_or_default().to_owned();
    let refused = || {
        Fault::new(
            StatusCode::UNAUTHORIZED,
            "show the trial's own token: Authorization: Bearer TOKEN",
        )
    };
    // Whether there is such a study is told to those who have a token only.
    let entry = open(&site, &id).map_err(|_| refused())?;
    let study = entry.study.clone().map_err(|_| refused())?;
    let (of, keeper) = (purpose(&study, number), entry.clone());
    let owner = Arc::clone(&study);
    let is_own = move || Ok(secret(&owner, &keeper)?.is_code(&of, &shown));
    if !site.library.work(is_own).await? {
        return Err(refused().into());
    }
    let view = site.library.view(&entry).await?;
    if known(&view, number)? != TrialState::Running {
        let words = format!("trial {number} is not running, so it has nothing to report");
        return Err(Fault::new(StatusCode::CONFLICT, words).into());
    }
    let taken = told.values.len();
    let line = line(&told)?;
    let work = move || Ok(append(&Place::of(&study, Some(&entry.store)), number, &line)?);
    site.library.work(work).await?;
    Ok(Body(MetricsOut { schema: "trainwright/metrics/1", trial: number, taken }))
}

/// The values as a line of the trial protocol.
pub(super) fn line(told: &MetricsIn) -> Result<String, Fault> {
    let mut line = serde_json::Map::new();
    for (name, value) in &told.values {
        if name == "step" || name.is_empty() {
            let words = format!("`{name}` is no name of a metric");
            return Err(Fault::new(StatusCode::BAD_REQUEST, words));
        }
        line.insert(name.clone(), (*value).into());
    }
    if let Some(step) = told.step {
        line.insert("step".to_owned(), step.into());
    }
    Ok(format!("{}\n", serde_json::Value::Object(line)))
}

/// One write, so that lines of several writers do not mix.
fn append(place: &Place, number: u32, line: &str) -> Result<(), trainwright::Error> {
    let folder = place.trial(number);
    let path = folder.join("metrics.jsonl");
    let write = || {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
        file.write_all(line.as_bytes())
    };
    write().map_err(|source| trainwright::Error::Folder { path: path.clone(), source })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn metrics_become_a_line_of_the_protocol_and_cannot_end_it() {
        let values = BTreeMap::from([("a\n\"}".to_owned(), 0.5), ("loss".to_owned(), 1e-3)]);
        let own = line(&MetricsIn { values, step: Some(7.0) }).unwrap();
        assert_eq!(own, "{\"a\\n\\\"}\":0.5,\"loss\":0.001,\"step\":7.0}\n");
        for name in ["step", ""] {
            let values = BTreeMap::from([(name.to_owned(), 1.0)]);
            assert!(line(&MetricsIn { values, step: None }).is_err());
        }
    }
}
