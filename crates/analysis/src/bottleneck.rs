//! Which resource binds a training, and by how much the time would shrink if it were free.
//!
//! Numbers in, verdict out. [`attribute`] takes what every rank did with its time and plays a step
//! again with one resource after the other at no cost (`step_model.rs`); [`attribute_usage`] knows
//! only what a program used of the machine, and gives bounds (`usage_bounds.rs`). Evaluation and
//! checkpoints are no part of either. The way of asking, what if a resource were free, is that of
//! Ousterhout et al., "Making sense of performance in data analytics frameworks", NSDI 2015.

mod account;
mod of_study;
mod step_model;
mod usage_bounds;
mod words;

use serde::{Deserialize, Serialize};

use crate::findings::{Finding, info, warning};
pub use account::{Link, MachineUse, Pace, RankAccount, TrainingAccount};
pub(crate) use of_study::bottlenecks_of_study;
pub use of_study::{ConfigurationBottleneck, TrialUse};
pub use step_model::attribute;
pub use usage_bounds::{UsageAccount, attribute_usage};

/// Shrinking of the time below which no resource is said to bind.
pub(crate) const BINDS: f64 = 0.1;

/// Share of the time that an account must cover for a verdict.
pub(crate) const COVERED: f64 = 0.95;

/// Something that a training can be bound by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// Computing itself: gradients and updates.
    Processor,
    /// Cores that other programs, or too many of one's own threads, use too.
    SharedCores,
    /// Bytes that the link carries in a second.
    NetworkBandwidth,
    /// Round trips over the link.
    NetworkLatency,
    /// Exchange between ranks that neither bytes nor round trips of the link explain.
    Exchange,
    /// The disk that pictures come from.
    Disk,
    /// Pictures that do not come fast enough, and not for want of the disk.
    Input,
    /// Ranks that are slower than the others.
    Stragglers,
    /// Parameter servers that gradients queue at.
    Server,
    /// The GPU.
    Gpu,
    /// Waiting that no resource measured explains: locks, sleeping, other machines.
    Waiting,
}

/// What would come of one free resource.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Idealised {
    /// The resource.
    pub resource: Resource,
    /// Share of the training time that would be saved if it were free.
    pub shrinks_by: f64,
}

/// What binds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Binding {
    /// One resource.
    Binds {
        /// Which.
        resource: Resource,
        /// Share of the training time that would be saved if it were free.
        shrinks_by: f64,
    },
    /// No resource alone would save a tenth of the time.
    Balanced,
    /// Too little of the time is accounted for to say.
    NotAccounted,
}

/// Which resource binds, with what every other one would save.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attribution {
    /// What binds.
    #[serde(flatten)]
    pub binding: Binding,
    /// Whether savings are upper bounds, because only the use of the machine is known.
    pub at_most: bool,
    /// What each resource would save, the most first.
    pub idealised: Vec<Idealised>,
    /// Share of the time that is accounted for; absent where only the use of the machine is known.
    pub covered: Option<f64>,
    /// Training time of a step; absent where steps are not known.
    pub step_s: Option<f64>,
    /// Share of the link's bandwidth in use over the training time, where both are known.
    pub bandwidth_use: Option<f64>,
    /// The rank that the others wait for.
    pub slow_rank: Option<SlowRank>,
    /// One sentence.
    pub text: String,
}

/// A rank that the others wait for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowRank {
    /// Which.
    pub rank: usize,
    /// Its time before the barrier as a multiple of the middle rank's.
    pub times: f64,
}

impl Attribution {
    /// What a resource would save.
    pub fn shrinks_by(&self, resource: Resource) -> Option<f64> {
        self.idealised.iter().find(|own| own.resource == resource).map(|own| own.shrinks_by)
    }

    /// The resource that binds, if one does.
    pub fn resource(&self) -> Option<Resource> {
        match self.binding {
            Binding::Binds { resource, .. } => Some(resource),
            Binding::Balanced | Binding::NotAccounted => None,
        }
    }

    /// What to tell a user: what binds, and that others use the cores.
    pub fn findings(&self) -> Vec<Finding> {
        let mut found = vec![info("bottleneck", self.text.clone())];
        found.extend(shared_cores(self.shrinks_by(Resource::SharedCores).unwrap_or(0.0)));
        found
    }
}

/// Times that were taken while threads waited for cores.
pub(crate) fn shared_cores(share: f64) -> Option<Finding> {
    let text = format!(
        "for {} of the time threads were ready to run and had no core, because other programs or \
         too many threads of their own used them: times would be shorter on a quiet machine",
        crate::wording::percent(100.0 * share)
    );
    (share >= BINDS).then(|| warning("shared-cores", text))
}

/// The most first; the verdict, where the time is accounted for.
fn judged(idealised: &mut Vec<Idealised>, covered: Option<f64>) -> Binding {
    idealised.retain(|own| own.shrinks_by > 0.0);
    idealised.sort_by(|a, b| b.shrinks_by.total_cmp(&a.shrinks_by));
    let unknown = covered.map_or(0.0, |covered| 1.0 - covered);
    match idealised.first() {
        // What is not accounted for could belong to another resource.
        Some(most) if unknown > 1.0 - COVERED && most.shrinks_by < BINDS + unknown => {
            Binding::NotAccounted
        }
        Some(&Idealised { resource, shrinks_by }) if shrinks_by >= BINDS => {
            Binding::Binds { resource, shrinks_by }
        }
        _ => Binding::Balanced,
    }
}

#[cfg(test)]
mod tests;
