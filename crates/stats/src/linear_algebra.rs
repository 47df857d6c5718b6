//! Columns, their orthogonal decomposition, and the arithmetic below it.

pub(crate) mod lanes;
pub(crate) mod orthogonal;
pub(crate) mod polynomial;
pub(crate) mod reduced;
pub(crate) mod symmetric;
pub(crate) mod tall;
