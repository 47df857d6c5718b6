//! Sockets, and who may come in.

pub(crate) mod connections;
pub(crate) mod guard;
pub(crate) mod patient;
pub(crate) mod token;
