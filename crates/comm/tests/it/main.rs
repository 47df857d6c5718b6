//! Groups of real ranks: threads, sockets and processes.

mod compression;
mod contract;
mod fixed_order;
mod joining;
mod lab;
mod overlap;
mod partition;
mod processes;
