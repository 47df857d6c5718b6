//! Proposers and searchers through their public interface.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod cloud;
mod contract;
mod ernest_on_recorded_runs;
mod explaining;
mod functions;
mod going_on;
mod plain_searchers;
mod proposers;
mod searchers;
mod searching;
