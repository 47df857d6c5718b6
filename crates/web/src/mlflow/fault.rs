//! What is told to a caller whose call is refused, as MLflow's clients read it.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A refused call.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Fault {
    /// Something in the call is missing or wrong.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "INVALID_PARAMETER_VALUE", message)
    }

    /// What was asked for does not exist.
    pub(super) fn unknown(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "RESOURCE_DOES_NOT_EXIST", message)
    }

    /// The caller did not say who it is.
    pub(super) fn nobody() -> Self {
        let message = "the token of a trial that runs is needed (MLFLOW_TRACKING_TOKEN)";
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED", message)
    }

    /// The caller may not touch this.
    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "PERMISSION_DENIED", message)
    }

    /// This call is none that is answered here.
    pub(super) fn no_such_call(call: &str) -> Self {
        let message = format!("Trainwright does not answer `{call}`");
        Self::new(StatusCode::NOT_FOUND, "ENDPOINT_NOT_FOUND", message)
    }

    /// What was logged could not be written. Clients do not try this again, as they would after
    /// other faults of a server.
    pub(super) fn unwritten(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INSUFFICIENT_STORAGE, "INTERNAL_ERROR", message)
    }

    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let Self { status, code, message } = self;
        (status, Json(json!({ "error_code": code, "message": message }))).into_response()
    }
}
