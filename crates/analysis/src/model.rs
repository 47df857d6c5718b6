//! What is fitted: a formula, the variables it names, and the matrix they make.
//!
//! `formula.rs` reads `y ~ a * b`, `complete_rows.rs` finds the rows that have all it names, `variable.rs` and `derived_columns.rs` take the columns that it
//! names out of a table, `bend.rs` lets factors of a study follow curves, `model_matrix.rs` codes
//! them, and `problem.rs` holds it all.

pub(crate) mod balance;
pub(crate) mod bend;
pub(crate) mod complete_rows;
pub(crate) mod derived_columns;
pub(crate) mod formula;
pub(crate) mod model_matrix;
pub(crate) mod problem;
pub(crate) mod response;
pub(crate) mod variable;
