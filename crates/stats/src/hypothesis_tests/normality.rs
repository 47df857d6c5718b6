//! Could a sample come from a normal distribution?

pub(crate) mod anderson_darling;
pub(crate) mod jarque_bera;
pub(crate) mod lilliefors;
pub(crate) mod shapiro_wilk;
