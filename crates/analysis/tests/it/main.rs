//! Analyses of reference data, of field report D and of simulated studies; the origin of the
//! expected values is stated in `tests/data/README.md`.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod catalogue;
mod comparisons;
mod correlations;
mod curvature;
mod findings;
mod finite;
mod invariance;
mod large;
mod rates;
mod reference;
mod report_d;
mod scaling;
mod studies;
mod study_answers;
mod support;
mod surfaces;
mod training;
