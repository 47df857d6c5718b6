//! Turns configurations into finished trials.
//!
//! A trial is a process in its own process group with a folder of its own. `local.rs` gives out
//! slots, `attempt.rs` is the life of one trial, `supervise.rs` waits for its process, `metrics.rs`
//! reads what it measured, `verdict.rs` says how it ended. Nothing here stores results, plans
//! trials or retries them; the caller does.
//!
//! Read `local.rs` first.

mod echo;
mod error;
mod local;
mod metrics;
mod output;
mod render;
mod verdict;

pub use error::EngineError;
pub use local::leftovers::end_leftovers;
pub use local::stop::Stop;
pub use local::{EngineEvent, LocalEngine, TrialOrder};
pub use metrics::rules::{FoundValue, NearLine, RuleTrial, try_rules};
pub use render::{Launch, render};
