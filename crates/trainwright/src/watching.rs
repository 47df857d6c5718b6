//! What live pages show: studies found in stores, one look at each, and what may be done with them.
//!
//! `view.rs` is one look at a study; `thought.rs` what its measurements say by then, which takes
//! longer; the others answer what a page asks of them. Nothing here keeps a store open.

pub(crate) mod actions;
pub(crate) mod comparing;
pub(crate) mod listing;
pub(crate) mod live_trial;
pub(crate) mod speed_results;
pub(crate) mod stores;
pub(crate) mod thought;
pub(crate) mod view;
