//! Tests of the planner.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod closed_forms;
mod exactness;
mod files;
mod lab;
mod layouts;
mod pipelines;
mod reference;
mod searches;
