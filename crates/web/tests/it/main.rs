//! The server over real sockets: what it shows, what it lets in and what it does not.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod acting;
mod api;
mod asking;
mod attacks;
mod mlflow_reading;
mod pages;
mod served;
mod starting;
mod trial_page;
mod trial_table;
