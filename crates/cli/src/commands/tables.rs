//! Verbs that answer one question about a table of results.

mod compare;
mod correlate;
mod findings;
mod scaling;
mod stats;
mod surface;

pub(super) use compare::compare;
pub(super) use correlate::correlate;
pub(super) use findings::findings;
pub(super) use scaling::{overhead, scaling};
pub(super) use stats::stats;
pub(super) use surface::surface;
