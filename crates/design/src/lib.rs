//! Experimental designs: which configurations of a study run, and in which order.
//!
//! Read `design.rs` first: it turns a study into rows, `listed.rs` by the kind that it asks for.
//! `fraction.rs` holds the regular two-level fractions with their alias structure,
//! `minimum_aberration.rs` finds the best of them, `foldover.rs` and `blocks.rs` work on them,
//! `plackett_burman.rs` screens many factors, `central_composite.rs` and `box_behnken.rs` fit
//! curved surfaces, `latin_hypercube.rs` and `sobol.rs` fill the unit cube, `d_optimal.rs` chooses
//! rows for a model and `orthogonal_array.rs` mixes numbers of levels. `coded_levels.rs` places
//! coded points on a study's factors. `plan.rs` turns rows into numbered trials in the order of
//! `run_order.rs`, `confounding.rs` compares effects over any rows and `misprint.rs` checks tables
//! typed by hand. Nothing here runs a trial or looks at a measurement.

mod aberration_table;
mod blocks;
mod box_behnken;
mod central_composite;
mod coded_levels;
mod condition;
mod confounding;
mod d_optimal;
mod d_optimal_rows;
mod design;
mod effect_columns;
mod error;
mod foldover;
mod fraction;
mod fractional;
mod full;
mod generator;
mod latin_hypercube;
mod listed;
mod minimum_aberration;
mod misprint;
mod mixed;
mod model_terms;
mod note;
mod one_factor;
mod orthogonal_array;
mod plackett_burman;
mod plan;
mod response_surface;
mod rows;
mod run_order;
mod size;
mod sobol;
mod space_filling;
mod space_filling_rows;
mod table;
mod trial_seed;
mod two_level;
mod word;

pub use blocks::Blocks;
pub use box_behnken::BoxBehnken;
pub use central_composite::{Alpha, CentralComposite, CentrePoints, Star};
pub use confounding::{Confounding, EffectPair};
pub use d_optimal::{Chosen, Exchange, Optimality, d_optimal};
pub use d_optimal_rows::{MOST_CANDIDATES, augment};
pub use design::{Design, Kind};
pub use error::{DesignError, GeneratorProblem};
pub use foldover::Reversal;
pub use fraction::{AliasesListed, Choice, TwoLevelFraction};
pub use full::{full_factorial, two_level_factorial};
pub use latin_hypercube::latin_hypercube;
pub use misprint::{BrokenWord, MOST_COLUMNS, Misprint, SignFlip, UnbalancedColumn, check_table};
pub use note::DesignNote;
pub use orthogonal_array::OrthogonalArray;
pub use plackett_burman::{PartialAlias, PlackettBurman, two_factor_aliases};
pub use plan::{extend, plan};
pub use size::MOST_ROWS;
pub use sobol::sobol;
pub use space_filling::SpaceFilling;
pub use trainwright_study::Spread;
pub use trial_seed::trial_seed;
