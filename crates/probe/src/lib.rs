//! Measures the machine and a tree of processes on it.
//!
//! Reads the kernel's text files under `/proc`. The parsers in `process.rs` and `counters.rs` and
//! the bookkeeping in `growth.rs` and `history.rs` work on values alone; `read.rs`, `machine.rs`,
//! `memory_limit.rs` and `git.rs` touch the system. Nothing here starts, stops or waits for a trial.
//!
//! Read `sampler.rs` first.

mod counters;
mod error;
mod git;
mod growth;
mod history;
mod machine;
mod memory_limit;
mod process;
mod read;
mod sampler;

pub use counters::{CoreTicks, NetworkCounters, NetworkGrowth, parse_cores, parse_network};
pub use error::ProbeError;
pub use history::TreeTotals;
pub use machine::machine;
pub use memory_limit::memory_limit;
pub use process::{
    ProcessIo, ProcessStat, parse_io, parse_peak_memory, parse_resident_pages, parse_stat,
};
pub use read::{peak_memory, process_stat, process_stats, read_network};
pub use sampler::TreeSampler;
