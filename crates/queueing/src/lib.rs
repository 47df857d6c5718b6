//! Queues: how long jobs wait, how many servers they need, what rate they bear.
//!
//! Closed forms where they exist ([`Mmc`], [`Mmck`], [`Mg1`], [`FinitePopulation`],
//! [`priority_classes`]), one approximation ([`Ggc`]), questions backwards ([`servers_needed`],
//! [`largest_rate`]), and an event simulation ([`simulate`]) that shares no code with the forms it
//! checks. A figure that rates and variations leave undecided is `None`; a queue that would
//! grow for ever is a [`QueueingError`]. Nothing here knows of studies, files or clocks; times
//! are in the unit of 1 / rate.
//!
//! Read `queue.rs` first.

mod birth_death;
mod bisection;
mod capacity;
mod draft;
mod erlang;
mod error;
mod finite_population;
mod ggc;
mod interval;
mod limits;
mod mg1;
mod mmc;
mod mmck;
mod poisson;
mod priority;
mod queue;
mod random;
mod service_fit;
mod simulation;
mod steady_state;
mod times;

pub use capacity::{LargestRate, Measure, Statistic, Target, largest_rate, servers_needed};
pub use draft::{QueueAnswer, QueueDraft, QueueName, TargetAnswer};
pub use erlang::{erlang_b, erlang_c};
pub use error::QueueingError;
pub use finite_population::FinitePopulation;
pub use ggc::Ggc;
pub use interval::Interval;
pub use limits::MOST_PLACES;
pub use mg1::Mg1;
pub use mmc::Mmc;
pub use mmck::Mmck;
pub use priority::{ClassMeans, priority_classes};
pub use queue::{Queue, QueueKind};
pub use service_fit::{ServiceFit, fit_service};
pub use simulation::{Simulated, SimulationRequest, simulate};
pub use steady_state::{Quantiles, SteadyState, TimeQuantiles};
pub use times::Times;
