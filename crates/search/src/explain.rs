//! What a search has learnt: which factors mattered, how the objective looks along them, how it
//! came to its best, and which configurations no other one beats.

pub(crate) mod front;
pub(crate) mod importance;
pub(crate) mod slices;
pub(crate) mod trace;
mod variance_split;
