//! What happened when: curves, resources, tasks of executors and ranks, the verdict as trials end.

mod executors;
mod learning_curves;
mod rank_times;
mod resources;
mod timeline;
mod verdict_history;

pub(crate) use executors::executors;
#[cfg(test)]
pub(crate) use executors::tests::task as cluster_task;
pub(crate) use learning_curves::learning_curve;
pub(crate) use rank_times::rank_times;
pub(crate) use resources::{channel, channels, timelines};
pub(crate) use timeline::{named_timeline, timeline};
pub(crate) use verdict_history::verdict_history;
