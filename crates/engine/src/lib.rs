//! Turns configurations into finished trials.
//!
//! `engine.rs` is what every engine does; `local.rs` runs trials as processes of this machine,
//! `spark.rs` as processes on a Spark cluster, `replay.rs` gives back recorded ones. What all engines share: `render.rs` (from a trial to a
//! command line), `output.rs` (the texts it leaves), `metrics.rs` (what it measured), `verdict.rs`
//! (how it ended), `reread.rs` (the same again, later). Nothing here stores results, plans trials
//! or retries them; the caller does.
//!
//! Read `engine.rs` first.

mod echo;
mod engine;
mod error;
mod local;
mod metrics;
mod output;
mod render;
mod replay;
mod reread;
mod slots;
pub mod spark;
mod verdict;

pub use engine::{
    Engine, EngineEvent, StepReport, Stop, TrialHandle, TrialOrder, TrialStart, Which,
};
pub use error::EngineError;
pub use local::{LocalEngine, LocalPlace};
pub use metrics::MissingMetric;
pub use metrics::rules::{FoundValue, NearLine, RuleTrial, try_rules};
pub use output::{KeptOutputs, open_regular, outputs, printable, trial_folder};
pub use render::{Launch, render};
pub use replay::{RecordedTrial, ReplayEngine};
pub use reread::{PastTrial, Reread, reread};
