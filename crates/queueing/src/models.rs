//! Closed forms: one file a kind of queue, and the arithmetic they share.

pub(crate) mod birth_death;
pub(crate) mod erlang;
pub(crate) mod ggc;
pub(crate) mod limited;
pub(crate) mod mg1;
pub(crate) mod mmc;
pub(crate) mod poisson;
pub(crate) mod priority;
pub(crate) mod stages;
