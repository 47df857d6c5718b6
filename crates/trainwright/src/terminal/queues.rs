//! Queues in words: load tests, fitted and simulated queues, and their units of time.

mod load;
mod queue_fit;
mod queue_simulated;
mod queue_units;

pub(crate) use load::load_summary;
pub use load::{load, load_event};
pub use queue_fit::queue_fit;
pub use queue_simulated::{classes_simulated, queue_simulated};
pub use queue_units::{WithUnit, in_unit};
