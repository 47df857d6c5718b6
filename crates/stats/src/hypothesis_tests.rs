//! Tests of hypotheses, one file a test; the rooms are named for what is asked.

pub(crate) mod centres;
pub(crate) mod normality;
pub(crate) mod relations;
pub(crate) mod residuals;
pub(crate) mod spreads;
