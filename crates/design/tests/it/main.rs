//! Designs against reference vectors, and designs and plans of whole studies.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod classical;
mod reference;
mod sizes;
mod studies;
mod study_kinds;
mod study_plans;
