//! Which trial runs next. A proposer is asked and told; it sees no engine, no store and no clock,
//! so that recorded trials can be replayed through it.
//!
//! Read `proposer.rs` first. The fixed plan of a design (`fixed_plan.rs`), trials that were
//! recorded elsewhere (`recorded.rs`) and jobs that arrive by the clock (`arrivals.rs`) are
//! proposers; each is held to `tests/it/contract.rs`.

mod arrivals;
mod fixed_plan;
mod proposer;
mod recorded;

pub use arrivals::{Arrival, Arrivals};
pub use fixed_plan::FixedPlan;
pub use proposer::{Proposal, Proposer};
pub use recorded::{RecordedPlan, Unplanned};
