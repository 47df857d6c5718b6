//! Ernest: a law of few terms for the time of a job, and the cheapest experiments that fit it
//! (Venkataraman, Yang, Franklin, Recht and Stoica, "Ernest: efficient performance prediction for
//! large-scale advanced analytics", NSDI 2016).

mod experiments;
mod law;

pub use experiments::{Experiment, ExperimentRequest, Experiments, experiments};
pub use law::{Law, Prediction, ScaledRun};

/// The terms of the law for a share of the input on so many machines: a fixed part, work that is
/// shared, a tree of messages, and messages to each machine.
pub(crate) fn terms(share: f64, machines: f64) -> [f64; 4] {
    [1.0, share / machines, machines.ln(), machines]
}
