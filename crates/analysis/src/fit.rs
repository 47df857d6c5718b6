//! The fit of a model and all that is read off it.
//!
//! `analyze_table.rs` and `analyze_study.rs` are the ways in, `analysis.rs` is what comes out.
//! `fitted.rs` fits, `assemble.rs` puts the parts together, `checks.rs` judges the assumptions, and
//! `long_table.rs` does the same for tables that do not fit in memory.

pub(crate) mod analysis;
pub(crate) mod analyze_study;
pub(crate) mod analyze_table;
mod anova_lines;
pub(crate) mod anova_of_table;
mod assemble;
pub(crate) mod best;
pub(crate) mod box_cox_of_table;
mod checks;
pub(crate) mod families;
pub(crate) mod fitted;
pub(crate) mod long_table;
pub(crate) mod overlap;
pub(crate) mod planned_power;
mod quick_enough;
mod split_plot;
