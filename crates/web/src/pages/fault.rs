//! What a visitor is told when something is wrong.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use serde_json::json;
use trainwright::pages::escape;

use super::layout::Frame;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Fault {
    status: StatusCode,
    words: String,
    as_json: bool,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, words: impl Into<String>) -> Self {
        Self { status, words: words.into(), as_json: false }
    }

    /// For a program instead of a reader, where it is one.
    pub(crate) fn shown(mut self, as_json: bool) -> Self {
        self.as_json = as_json;
        self
    }
}

impl From<trainwright::Error> for Fault {
    fn from(error: trainwright::Error) -> Self {
        use trainwright::Error;
        let status = match &error {
            Error::NoSuchTrial { .. } | Error::NoResults { .. } => StatusCode::NOT_FOUND,
            Error::AlreadyRunning { .. } | Error::NotRunning { .. } | Error::NotAsked { .. } => {
                StatusCode::CONFLICT
            }
            Error::Store(_) | Error::Folder { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        if self.as_json {
            return (self.status, Json(json!({ "error": self.words }))).into_response();
        }
        let title = self.status.canonical_reason().unwrap_or("Fault");
        let body = format!(
            "<section><h1>{title}</h1><p>{}</p><p><a href=\"/\">All studies</a></p></section>",
            escape(&self.words)
        );
        let page =
            Frame { title, navigation: String::new(), version: None, events: None, body: &body };
        (self.status, Html(page.html())).into_response()
    }
}
