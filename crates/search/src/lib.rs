//! Which trial runs next. A proposer is asked and told; it sees no engine, no store and no clock,
//! so that recorded trials can be replayed through it.
//!
//! Read `proposer.rs` first. The fixed plan of a design (`fixed_plan.rs`), trials that were
//! recorded elsewhere (`recorded.rs`) and jobs that arrive by the clock (`arrivals.rs`) are
//! proposers; each is held to `tests/it/contract.rs`. A search is one too (`search_proposer.rs`):
//! a searcher (`searcher.rs`, `searchers/`) looks at what is known (`history.rs`) of a space
//! (`space.rs`) and suggests; `early_stop.rs` cuts trials short that do badly. Learning ones stand
//! on `gaussian_process/` by way of `surrogate.rs`.

mod arrivals;
pub mod cloud;
mod confirmation;
mod early_stop;
mod error;
mod explain;
mod fixed_plan;
pub mod forest;
pub mod gaussian_process;
mod history;
mod proposer;
mod recorded;
mod search_proposer;
mod searcher;
mod searchers;
mod space;
mod surrogate;

pub use arrivals::{Arrival, Arrivals};
pub use confirmation::Confirm;
pub use early_stop::{Course, CutBy, EarlyStopRule};
pub use error::{CloudError, SearchError};
pub use explain::front::{front, hypervolume};
pub use explain::importance::{Importance, importances};
pub use explain::slices::{Contour, Slice, SlicePoint, contour, slices};
pub use explain::trace::{TracePoint, trace};
pub use fixed_plan::FixedPlan;
pub use history::{Aims, Cell, Goal, History, Limit, Side};
pub use proposer::{Proposal, Proposer};
pub use recorded::{RecordedPlan, Unplanned};
pub use search_proposer::{SearchBudget, SearchProposer, SearchRules};
pub use searcher::{Searcher, StopReason, Suggestion};
pub use searchers::bayesian::{Bayesian, BayesianSettings, LittleToGain, NextTrial};
pub use searchers::coordinate_descent::CoordinateDescent;
pub use searchers::grid::Grid;
pub use searchers::line::LineSearch;
pub use searchers::points::{PointSearch, Points};
pub use searchers::tree_parzen::{ParzenSettings, TreeParzen};
pub use searchers::tuneful::{Tuneful, TunefulSettings};
pub use space::{Candidate, Dimension, MOST_LISTED, Space};
pub use surrogate::{Scaling, Surrogate, SurrogateSettings, TrialCost};
