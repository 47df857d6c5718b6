//! The part of MLflow's tracking calls by which a trial tells its metrics.
//!
//! `server.rs` listens while a study runs; `calls.rs` answers; `trial_runs.rs` is what a trial has
//! logged and writes it into the trial's folder; `token.rs` says who may call. `studies.rs` shows
//! finished studies by the same calls, to read only.
//!
//! A trial has one run of MLflow, its own, whatever a program calls it or its experiment. Runs
//! below it (`nested=True`) are answered and noted, but their metrics are not the trial's.

mod calls;
mod fault;
mod filter;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod models;
mod server;
mod studies;
mod token;
mod trial_runs;
mod wire;

pub use server::TrackingServer;
pub(crate) use studies::routes;

#[cfg(test)]
mod tests;
