//! Questions to a table that no single model answers: baseline ratios, correlations, overhead,
//! scaling and response surfaces. One file or folder a question; `curve.rs` is the least squares
//! that they share.

pub(crate) mod comparison;
pub(crate) mod correlations;
mod curve;
pub(crate) mod overhead;
pub(crate) mod scaling;
pub(crate) mod surface;
