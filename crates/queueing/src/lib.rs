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
//! Read `queue.rs` first.

mod birth_death;
mod bisection;
mod capacity;
mod draft;
mod erlang;
mod error;
mod exponential_check;
mod finite;
mod ggc;
mod interval;
mod limits;
mod load_model;
mod measured;
mod mg1;
mod mmc;
mod poisson;
mod priority;
mod priority_draft;
mod priority_simulation;
mod queue;
mod random;
mod service_fit;
mod simulation;
mod stages;
mod steady_state;
mod target;
mod times;

pub use capacity::{
    LargestRate, SmallestServiceRate, largest_rate, servers_needed, smallest_service_rate,
};
pub use draft::{Chosen, QueueAnswer, QueueDraft, QueueName, TargetAnswer};
pub use erlang::{erlang_b, erlang_c};
pub use error::QueueingError;
pub use exponential_check::{ExponentialCheck, exponential_check};
pub use finite::FiniteQueue;
pub use ggc::Ggc;
pub use interval::Interval;
pub use limits::MOST_PLACES;
pub use load_model::{ArrivalPlan, LoadModel};
pub use measured::{MeasuredJob, MeasuredQueue, jobs_over_time, measure};
pub use mg1::Mg1;
pub use mmc::Mmc;
pub use priority::{ClassMeans, Discipline, PriorityClass, PriorityQueue};
pub use priority_draft::{ClassTarget, ClassTargetAnswer, PriorityAnswer, PriorityDraft};
pub use priority_simulation::{PrioritySimulation, SimulatedClass, simulate_classes};
pub use queue::{Queue, QueueKind};
pub use service_fit::{ServiceFit, fit_service};
pub use simulation::{Simulated, SimulationRequest, simulate};
pub use steady_state::{Quantiles, SteadyState, TimeQuantiles};
pub use target::{Measure, Statistic, Target};
pub use times::Times;
