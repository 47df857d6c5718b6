//! Real jobs summed up, and what a model expects of them.

pub(crate) mod dependence;
pub(crate) mod exponential_check;
pub(crate) mod load_model;
pub(crate) mod measured;
pub(crate) mod service_fit;
pub(crate) mod time_shape;
pub(crate) mod variation;
