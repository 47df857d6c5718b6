//! Do two columns rise and fall together?

pub(crate) mod all_orders;
pub(crate) mod kendall;
pub(crate) mod pearson;
pub(crate) mod spearman;
