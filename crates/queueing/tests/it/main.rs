//! Agreement with the reference vectors, whose origin is stated in `tests/data/README.md`, and of
//! the closed forms with simulations.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod agreement;
mod coverage;
mod field_report;
mod slow_events;
mod vectors;
