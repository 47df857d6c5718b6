//! Turns configurations into finished trials.
//!
//! A trial is a process in its own process group with a folder of its own. `local.rs` gives out
//! slots, `attempt.rs` is the life of one trial, `supervise.rs` waits for its process, `metrics.rs`
//! reads what it measured, `verdict.rs` says how it ended. Nothing here stores results, plans
//! trials or retries them; the caller does.
//!
//! Read `local.rs` first.

mod attempt;
mod echo;
mod error;
mod leftovers;
mod local;
mod metrics;
mod output;
mod overlap;
mod process;
mod render;
mod rules;
mod stop;
mod supervise;
mod text;
mod usage;
mod verdict;
mod watch;

pub use error::EngineError;
pub use leftovers::end_leftovers;
pub use local::{EngineEvent, LocalEngine, TrialOrder};
pub use render::{Launch, render};
pub use rules::{FoundValue, NearLine, RuleTrial, try_rules};
pub use stop::Stop;
