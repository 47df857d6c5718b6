//! Experimental designs: which configurations of a study run, and in which order.
//!
//! Read `design.rs` first: it turns a study into rows, `kinds.rs` by the kind that it asks for, with
//! one file a kind in `kinds/`. `two_level/` holds what fractions of two levels share: words and
//! generators, aliases, foldover, blocks and the check of tables typed by hand. `coded_levels.rs`
//! places coded points on a study's factors, `confounding.rs` compares effects over any rows,
//! `size.rs` refuses what is too large before it is made. `trials/` turns rows into numbered trials.
//! Nothing here runs a trial or looks at a measurement.

mod coded_levels;
mod condition;
mod confounding;
mod design;
mod error;
mod kinds;
mod model_terms;
mod note;
mod rows;
mod size;
#[cfg(test)]
mod tests;
mod trials;
mod two_level;

pub use condition::{active, violated};
pub use confounding::{Confounding, EffectPair};
pub use design::{Construction, Design};
pub use error::{DesignError, GeneratorProblem};
pub use kinds::box_behnken::BoxBehnken;
pub use kinds::central_composite::{Alpha, CentralComposite, CentrePoints, Star};
pub use kinds::d_optimal::{Chosen, Exchange, Optimality, d_optimal};
pub use kinds::d_optimal_rows::{MOST_CANDIDATES, augment};
pub use kinds::full::{full_factorial, two_level_factorial};
pub use kinds::latin_hypercube::latin_hypercube;
pub use kinds::orthogonal_array::OrthogonalArray;
pub use kinds::plackett_burman::{PartialAlias, PlackettBurman, two_factor_aliases};
pub use kinds::sobol::sobol;
pub use kinds::space_filling::SpaceFilling;
pub use note::DesignNote;
pub use size::MOST_ROWS;
pub use trainwright_study::Spread;
pub use trials::plan::{extend, plan};
pub use trials::trial_seed::trial_seed;
pub use two_level::blocks::Blocks;
pub use two_level::foldover::Reversal;
pub use two_level::fraction::{AliasesListed, Choice, TwoLevelFraction};
pub use two_level::misprint::{
    BrokenWord, MOST_COLUMNS, Misprint, SignFlip, UnbalancedColumn, check_table,
};
