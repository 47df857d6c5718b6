//! Groups of real ranks: threads, sockets and processes.

mod fixed_order;
mod lab;
