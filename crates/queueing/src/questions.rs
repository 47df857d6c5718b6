//! Questions as people ask them: a draft is checked and answered, also backwards from a target.

pub(crate) mod capacity;
pub(crate) mod priority_draft;
pub(crate) mod queue_draft;
pub(crate) mod target;
