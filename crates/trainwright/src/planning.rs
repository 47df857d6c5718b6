//! The verb `plan`: how to split a network over machines.

pub(crate) mod execution;
pub(crate) mod graphs;
pub(crate) mod here;
pub(crate) mod measured;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod reply;
mod shown;
pub(crate) mod tried;
pub(crate) mod updates;
