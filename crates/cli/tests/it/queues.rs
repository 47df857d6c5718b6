//! Queues and load tests.

mod closed_forms;
mod loads;
mod queue_fits;
