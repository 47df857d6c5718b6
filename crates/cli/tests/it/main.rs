//! User journeys through the real program.

mod architecture;
mod changes;
mod commands;
mod crashes;
mod disk;
mod examples;
mod metrics;
mod outcomes;
mod program;
mod stopping;
mod tables;
mod training;
