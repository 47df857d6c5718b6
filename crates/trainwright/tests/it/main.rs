//! Every verb of the facade as a front end calls it: what it gives, and how it refuses.
#![expect(clippy::unwrap_used, reason = "this is test code, its helpers too")]

mod benches;
mod clouds;
mod data;
mod designs;
mod imports;
mod lab;
mod queues;
mod running;
mod searches;
mod statistics;
mod studies;
mod tables;
mod trainings;
mod watching;
