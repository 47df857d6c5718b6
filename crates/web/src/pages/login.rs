//! Where a visitor shows the token.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};

use super::layout::Frame;
use crate::actions::fields;
use crate::router::Site;

/// The form.
pub(crate) async fn form() -> Html<String> {
    page("")
}

fn page(note: &str) -> Html<String> {
    let body = format!(
        "<section><h1>Sign in</h1>{note}<form method=\"post\" action=\"/login\" class=\"form\">\
         <label for=\"token\">Token of the server</label>\
         <input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"current-password\" required>\
         <button type=\"submit\">Sign in</button></form>\
         <p class=\"quiet\">It is in the file that <code>--token-file</code> named.</p></section>"
    );
    let title = "Sign in - Trainwright";
    let frame =
        Frame { title, navigation: String::new(), version: None, events: None, body: &body };
    Html(frame.html())
}

/// Gives a cookie for the token.
pub(crate) async fn let_in(State(site): State<Arc<Site>>, body: Bytes) -> Response {
    let fields = fields(&body);
    let shown = fields.get("token").map(String::as_str).unwrap_or_default();
    match site.guard.let_in(shown).await {
        Some(cookie) => {
            let headers = [(header::SET_COOKIE, cookie)];
            (headers, Redirect::to("/")).into_response()
        }
        None => {
            let note = "<p class=\"note\" role=\"alert\">That is not the token.</p>";
            (StatusCode::UNAUTHORIZED, page(note)).into_response()
        }
    }
}
