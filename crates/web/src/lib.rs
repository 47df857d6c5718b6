//! Pages that show studies as they run, the HTTP interface for programs, and the part of MLflow's
//! tracking calls that trials use. The only crate with asynchronous code.
//!
//! Read `serve.rs` first. `server/` is sockets and who may come in, `studies/` what is known of
//! studies and how it is kept up to date, `pages/` what people see and `api/` what programs call.
//! Everything that blocks goes through `studies/library.rs`, a few at a time.

mod actions;
mod api;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod mlflow;
mod pages;
mod router;
mod serve;
mod server;
mod studies;

pub use api::openapi;
pub use mlflow::TrackingServer;
pub use serve::{ServeError, ServeRequest, serve};
