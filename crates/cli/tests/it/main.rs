//! User journeys through the real program; `lab/` is what all of them use.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod benches;
mod clouds;
mod commands;
mod contracts;
mod data;
mod designs;
mod lab;
mod machines;
mod plans;
mod queues;
mod spark;
mod studies;
mod tables;
mod training;

pub(crate) use lab::{event_files, pictures, program, record_files};
