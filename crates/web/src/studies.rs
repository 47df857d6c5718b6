//! What is known of studies, and how it is kept up to date.

pub(crate) mod cache;
pub(crate) mod kept;
pub(crate) mod library;
pub(crate) mod shelf;
