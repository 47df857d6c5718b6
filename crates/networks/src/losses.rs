//! How outputs are judged, and the gradients that follow.

pub(crate) mod area_under_curve;
pub(crate) mod logistic;
pub(crate) mod loss;
