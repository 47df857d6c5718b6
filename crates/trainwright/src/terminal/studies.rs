//! Studies in words: checked, taken in, under way, left out of, side by side.

mod check;
mod exclude;
mod import;
mod metric_rules;
mod status;
mod studies_compared;

pub use check::check;
pub use exclude::excluded;
pub use import::imported;
pub use metric_rules::metric_rules;
pub use status::status;
pub use studies_compared::{studies_compared, trial_files};
