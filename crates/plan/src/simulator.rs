//! The simulator: what a step of a plan takes, task by task, in whole nanoseconds.
//!
//! # Tasks
//!
//! Every part of an operator has a forward and a backward task on its device. Where parts on
//! different devices share numbers, a message goes each way on a link. Copies of weights add up
//! their gradients (`sums.rs`) when all operators of their group are done, and update.
//!
//! # One schedule, by definition
//!
//! A device or link serves tasks in the order of (moment they are ready, structural key), each as
//! soon as it is free; every task takes at least a nanosecond. A task becomes ready after the start
//! of whatever made it ready, so the order in which tasks are served is sorted by (ready, key), and
//! the schedule is the only one with that property. It does not depend on how the task graph was
//! made. Hence a changed plan can be simulated from the middle.
//!
//! # Exact incremental evaluation
//!
//! [`Evaluator::propose`] changes the task graph in place and keeps what it replaces. Everything
//! served before the first task that could notice the change stays as it is: the evaluator goes
//! back to a checkpoint before it (`schedule.rs`) and serves the rest again. A limit on the cost may
//! be given; then a change is refused without simulating where a device or link has more work than
//! that, and the simulation ends as soon as some device cannot finish in time. Refusals are exact:
//! the full simulation would have been above the limit too. [`Evaluator::undo`] brings back every
//! task's times.
//!
//! `evaluator.rs` is the way in; `shape.rs` holds the plan and its edges.

mod arena;
mod bounds;
mod evaluator;
mod pairs;
mod queue;
mod schedule;
mod served;
mod shape;
mod sums;
mod task;

pub use evaluator::{Evaluation, Evaluator, Mode};
pub use served::{Served, Work};
pub(crate) use sums::sum_tasks;
