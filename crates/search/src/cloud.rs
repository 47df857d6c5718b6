//! Which machines, and how many: searches over a finite table of cloud configurations.
//!
//! A [`Problem`] lists candidates (machine type and number of nodes), an objective and limits. An
//! [`Advisor`] hears what runs have given so far and says what to run next, and whether that is
//! still worth it; it keeps no state, so that a search that is resumed goes on as if it had never
//! stopped. Read `problem.rs` and `advisor.rs` first. `methods/` holds the published methods,
//! `own/` ours; `replay.rs` plays them against recorded runs.

mod advisor;
mod candidate;
pub mod ernest;
mod features;
mod history;
mod method;
mod methods;
mod own;
mod problem;
mod replay;

pub use advisor::{Advice, Advisor, Outlook, Stop};
pub use candidate::{Candidate, Machine};
pub use features::Features;
pub use history::{History, PastRun, PastWorkload};
pub use method::Method;
pub use methods::significant_columns;
pub use own::none_acceptable;
pub use problem::{Limits, Objective, Problem, Told};
pub use replay::{Quantiles, Replayed, Summary, Tried, replay, summary};
