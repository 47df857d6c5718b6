//! Do samples vary by the same amount?

pub(crate) mod equal_variance;
pub(crate) mod fligner_killeen;
