//! Experimental designs: which configurations of a study run, and in which order.
//!
//! Read `design.rs` first: it turns a study into rows. `fraction.rs` holds the regular two-level
//! fractions with their alias structure, `minimum_aberration.rs` finds the best of them,
//! `plan.rs` turns rows into numbered trials and `misprint.rs` checks tables typed by hand.
//! Nothing here runs a trial or looks at a measurement.

mod condition;
mod design;
mod error;
mod fraction;
mod fractional;
mod full;
mod generator;
mod minimum_aberration;
mod misprint;
mod note;
mod one_factor;
mod plan;
mod rows;
mod table;
mod word;

pub use design::{Design, Kind, MOST_ROWS};
pub use error::{DesignError, GeneratorProblem};
pub use fraction::{AliasesListed, Choice, TwoLevelFraction};
pub use full::full_factorial;
pub use misprint::{BrokenWord, MOST_COLUMNS, Misprint, SignFlip, UnbalancedColumn, check_table};
pub use note::DesignNote;
pub use plan::{extend, plan};
