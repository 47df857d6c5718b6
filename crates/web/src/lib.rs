//! Pages that show studies as they run, the HTTP interface for programs, and the part of MLflow's
//! tracking calls that trials use. The only crate with asynchronous code.

mod mlflow;

pub use mlflow::{TrackingServer, routes as mlflow_routes};
