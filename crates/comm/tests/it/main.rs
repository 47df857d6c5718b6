//! Groups of real ranks: threads, sockets and processes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod collectives;
mod compression;
mod contract;
mod fixed_order;
mod joining;
mod lab;
mod lines;
mod overlap;
mod partition;
mod processes;
mod regrouping;
mod servers;
