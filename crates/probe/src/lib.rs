//! Measures the machine and a tree of processes on it.
//!
//! Reads the kernel's text files under `/proc`. The parsers in `process.rs` and `counters.rs` and
//! the bookkeeping in `growth.rs`, `history.rs` and `gpus.rs` work on values alone; `read.rs`,
//! `machine.rs`, `description.rs`, `memory_limit.rs`, `gpus/nvml.rs` and `git.rs` touch the system.
//! `capacity.rs` measures what the machine can do. Nothing here starts, stops or waits for a trial.
//!
//! Read `sampler.rs` first.

mod capacity;
mod counters;
mod description;
mod error;
mod git;
mod gpus;
mod growth;
mod history;
mod machine;
mod memory_limit;
mod process;
mod read;
mod sampler;
mod thread_clock;

pub use capacity::{CapacityOptions, Product, measure};
pub use counters::{CoreTicks, NetworkCounters, NetworkGrowth};
pub use description::{Cache, FileSystem, Interface, MachineDescription, describe_machine};
pub use error::ProbeError;
pub use gpus::GpuDescription;
pub use history::TreeTotals;
pub use machine::machine;
pub use memory_limit::memory_limit;
pub use process::{ProcessIo, ProcessStat, parse_io, parse_stat};
pub use read::{peak_memory, process_stat, process_stats, read_network};
pub use sampler::TreeSampler;
pub use thread_clock::{ThreadClock, ThreadTime};
