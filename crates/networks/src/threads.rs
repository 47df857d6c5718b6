//! How the threads of a step share it: a team, and memory cut so that each part has one writer.

pub(crate) mod blocks;
pub(crate) mod parts;
pub(crate) mod team;
