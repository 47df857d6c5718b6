//! Intervals of differences and ratios, by resampling and by Fieller.

pub(crate) mod bootstrap;
pub(crate) mod ratio;
