//! Equations fitted to data, and what is read off them.

pub(crate) mod anova;
pub(crate) mod box_cox;
pub(crate) mod condition;
pub(crate) mod influence;
pub(crate) mod least_squares;
pub(crate) mod lenth;
pub(crate) mod non_negative;
pub(crate) mod strata;
pub(crate) mod two_level_effects;
