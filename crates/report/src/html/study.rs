//! Sections of the page of a study, one file each.

pub(in crate::html) mod best;
pub(in crate::html) mod bottlenecks;
pub(in crate::html) mod curves;
pub(in crate::html) mod design;
pub(in crate::html) mod effects;
pub(in crate::html) mod environment;
pub(in crate::html) mod fit;
pub(in crate::html) mod history;
pub(in crate::html) mod parallel;
pub(in crate::html) mod resources;
pub(in crate::html) mod search;
pub(in crate::html) mod surface;
pub(in crate::html) mod trials;
pub(in crate::html) mod verdict;
