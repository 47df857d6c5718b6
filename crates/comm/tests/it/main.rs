//! Groups of real ranks: threads, sockets and processes.

mod contract;
mod fixed_order;
mod joining;
mod lab;
mod partition;
mod processes;
