//! What programs call: JSON under `/api/v1`, described by OpenAPI made from the types.

mod ask_tell;
mod description;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod messages;
mod metrics;
mod read;

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use serde::de::DeserializeOwned;

use crate::pages::fault::Fault;
use crate::router::Site;

pub use description::openapi;

/// A JSON body, in and out; a wrong one is told as JSON.
pub(crate) struct Body<T>(T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiFault;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiFault> {
        let axum::Json(own) = axum::Json::from_request(request, state).await?;
        Ok(Self(own))
    }
}

impl<T: serde::Serialize> IntoResponse for Body<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

/// A fault, told as JSON.
pub(crate) struct ApiFault(Fault);

impl<F: Into<Fault>> From<F> for ApiFault {
    fn from(fault: F) -> Self {
        Self(fault.into())
    }
}

impl IntoResponse for ApiFault {
    fn into_response(self) -> Response {
        self.0.shown(true).into_response()
    }
}

impl From<JsonRejection> for Fault {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

/// The addresses of programs.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/openapi.json", get(description::served))
        .route("/studies", get(read::studies))
        .route("/studies/{study}", get(read::study))
        .route("/studies/{study}/trials", get(read::trials))
        .route("/studies/{study}/trials/{number}", get(read::trial))
        .route("/studies/{study}/trials/{number}/series", get(read::series))
        .route("/studies/{study}/trials/{number}/token", post(metrics::token))
        .route("/studies/{study}/trials/{number}/metrics", post(metrics::metrics))
        .route("/studies/{study}/analysis", get(read::analysis))
        .route("/studies/{study}/ask", post(ask_tell::ask))
        .route("/studies/{study}/tell", post(ask_tell::tell))
        .method_not_allowed_fallback(wrong_method)
}

async fn wrong_method(request: Request) -> ApiFault {
    let words = format!("this address does not answer {}", request.method());
    Fault::new(StatusCode::METHOD_NOT_ALLOWED, words).into()
}
