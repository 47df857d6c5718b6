//! Queues: how long jobs wait, how many servers they need, what rate they bear.
//!
//! Closed forms where they exist ([`Mmc`], [`FiniteQueue`], [`Mg1`], [`PriorityQueue`]), one
//! approximation ([`Ggc`]), questions backwards ([`servers_needed`], [`largest_rate`],
//! [`smallest_service_rate`]), and an event simulation ([`simulate`]) that shares no code with the
//! forms it checks. [`measure`] and [`LoadModel`] sum up real jobs and say what a model expects of
//! them. A figure that rates and variations leave undecided is `None`; a queue that would grow for
//! ever is a [`QueueingError`]. Nothing here knows of studies, files or clocks; times are in the
//! unit of 1 / rate.
//!
//! | room | holds |
//! |---|---|
//! | `models` | closed forms, one file a kind of queue |
//! | `questions` | drafts that are checked and answered, targets, capacity |
//! | `simulations` | event simulations, and the times they draw |
//! | `measurements` | measured jobs: rates, variation, what a model expects of them |
//!
//! Read `queue.rs` first.

mod bisection;
mod error;
mod interval;
mod limits;
mod measurements;
mod models;
mod questions;
mod queue;
mod simulations;
mod steady_state;

pub use error::QueueingError;
pub use interval::Interval;
pub use limits::{MOST_PLACES, positive as checked_rate};
pub use measurements::dependence::Dependence;
pub use measurements::exponential_check::{ExponentialCheck, exponential_check};
pub use measurements::load_model::{ArrivalPlan, LoadModel};
pub use measurements::measured::{MeasuredJob, MeasuredQueue, jobs_over_time, measure};
pub use measurements::service_fit::{ServiceFit, fit_service};
pub use measurements::variation::Variation;
pub use models::erlang::{erlang_b, erlang_c};
pub use models::ggc::Ggc;
pub use models::limited::FiniteQueue;
pub use models::mg1::Mg1;
pub use models::mmc::Mmc;
pub use models::priority::{ClassMeans, Discipline, PriorityClass, PriorityQueue};
pub use questions::capacity::{
    LargestRate, SmallestServiceRate, largest_rate, servers_needed, smallest_service_rate,
};
pub use questions::priority_draft::{
    ClassTarget, ClassTargetAnswer, PriorityAnswer, PriorityDraft,
};
pub use questions::queue_draft::{Chosen, QueueAnswer, QueueDraft, QueueName, TargetAnswer};
pub use questions::target::{Measure, Statistic, Target};
pub use queue::{Queue, QueueKind};
pub use simulations::priority_simulation::{PrioritySimulation, SimulatedClass, simulate_classes};
pub use simulations::queue_simulation::{Simulated, SimulationRequest, simulate};
pub use simulations::times::Times;
pub use steady_state::{Quantiles, SteadyState, TimeQuantiles};
