//! Trials as real processes.
#![expect(clippy::unwrap_used, reason = "this is test code, its helpers too")]

mod cluster;
mod contract;
mod executor;
mod families;
mod hostile_output;
mod lab;
mod launching;
mod leftovers;
mod measuring;
mod outcomes;
mod rereading;
mod rules;
mod slots;
mod spark;
mod stopping;
