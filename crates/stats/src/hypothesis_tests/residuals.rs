//! Does what an equation leaves over follow a pattern?

pub(crate) mod breusch_pagan;
pub(crate) mod durbin_watson;
pub(crate) mod durbin_watson_exact;
pub(crate) mod lack_of_fit;
pub(crate) mod simulated;
