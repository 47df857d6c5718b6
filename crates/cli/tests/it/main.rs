//! User journeys through the real program.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod architecture;
mod bad_tables;
mod boards;
mod changes;
mod checkpoints;
mod commands;
mod crashes;
mod data;
mod designs;
mod disk;
mod examples;
mod learning;
mod loads;
mod metrics;
mod networks;
mod open_studies;
mod outcomes;
mod predictions;
mod program;
mod questions;
mod queue_fits;
mod queues;
mod regressions;
mod speedtest;
mod split_plots;
mod statistics;
mod stopping;
mod study_designs;
mod tables;
mod training;
