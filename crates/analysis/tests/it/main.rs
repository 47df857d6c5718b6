//! Analyses of reference data, of field report D and of simulated studies; the origin of the
//! expected values is stated in `tests/data/README.md`.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod best;
mod catalogue;
mod clean_checks;
mod curvature;
mod curves;
mod findings;
mod finite;
mod invariance;
mod large;
mod nist;
mod questions;
mod random_samples;
mod rates;
mod reference;
mod report_d;
mod split_plots;
mod studies;
mod study_answers;
mod support;
mod training;
