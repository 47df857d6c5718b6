//! Which address leads where.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::pages::fault::Fault;
use crate::pages::{
    assets, compare, data, events, files, login, overview, study_page, trial, trials,
};
use crate::server::guard::{Guard, guarded};
use crate::studies::cache::PageCache;
use crate::studies::library::Library;
use crate::{actions, api, mlflow};

/// Bytes of a body.
const MOST_BODY: usize = 256 * 1024;

/// Time for an answer, the reading of a body included; a stream of events goes on after it.
const PATIENCE: Duration = Duration::from_secs(120);

/// What handlers share.
pub(crate) struct Site {
    pub(crate) library: Arc<Library>,
    pub(crate) guard: Guard,
    /// This program, where pages may do more than show.
    pub(crate) program: Option<PathBuf>,
    pub(crate) pages: PageCache,
}

impl Site {
    pub(crate) fn new(library: Arc<Library>, guard: Guard, program: Option<PathBuf>) -> Self {
        Self { library, guard, program, pages: PageCache::default() }
    }
}

/// All addresses; `paths` are the stores, and folders with stores, that MLflow's calls read.
pub(crate) fn router(site: Arc<Site>, paths: Vec<PathBuf>) -> Router {
    let own = Router::new()
        .route("/", get(overview::studies))
        .route("/login", get(login::form).post(login::let_in))
        .route("/data", get(data::data))
        .route("/events", get(events::events))
        .route("/assets/{name}", get(assets::asset))
        .route("/s/{study}", get(overview::overview))
        .route("/s/{study}/trials", get(trials::trials))
        .route("/s/{study}/trials/rows", get(trials::rows))
        .route("/s/{study}/trials/{number}", get(trial::trial))
        .route("/s/{study}/trials/{number}/files/{*path}", get(files::file))
        .route("/s/{study}/trials/{number}/exclude", post(actions::exclude))
        .route("/s/{study}/compare", get(compare::compare))
        .route("/s/{study}/stop", post(actions::stop))
        .route("/s/{study}/retry", post(actions::retry))
        .route("/s/{study}/replicate", post(actions::replicate))
        .route("/s/{study}/{page}", get(study_page::page))
        .nest("/api/v1", api::routes())
        .fallback(nothing)
        .with_state(Arc::clone(&site));
    own.merge(mlflow::routes(paths))
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(from_fn(in_time))
        .layer(from_fn_with_state(site, guarded))
}

async fn nothing(request: Request) -> Response {
    let fault =
        Fault::new(StatusCode::NOT_FOUND, format!("there is no page `{}`", request.uri().path()));
    fault.shown(is_of_programs(&request)).into_response()
}

/// Whether a program reads the answer, so that a fault is JSON.
fn is_of_programs(request: &Request) -> bool {
    request.uri().path().starts_with("/api/")
}

/// Gives up on a body that does not come.
async fn in_time(request: Request, next: Next) -> Response {
    let as_json = is_of_programs(&request);
    let late = Fault::new(StatusCode::REQUEST_TIMEOUT, "the request took too long").shown(as_json);
    let claimed = request.headers().get(header::CONTENT_LENGTH).and_then(|own| own.to_str().ok());
    if claimed.and_then(|own| own.parse::<usize>().ok()).is_some_and(|own| own > MOST_BODY) {
        let words = format!("a body may have {MOST_BODY} bytes");
        return Fault::new(StatusCode::PAYLOAD_TOO_LARGE, words).shown(as_json).into_response();
    }
    let body_patience = match request.method().is_safe() {
        true => PATIENCE,
        false => Duration::from_secs(20),
    };
    match tokio::time::timeout(body_patience, next.run(request)).await {
        Ok(response) => response,
        Err(_) => late.into_response(),
    }
}
