//! The fit of a model and all that is read off it.
//!
//! `analyze_table.rs` and `analyze_study.rs` are the ways in, `analysis.rs` is what comes out.
//! `fitted.rs` fits, `assemble.rs` puts the parts together, `checks.rs` judges the assumptions, and
//! `long_table.rs` does the same for tables that do not fit in memory.

pub(crate) mod aliases;
pub(crate) mod analysis;
pub(crate) mod analyze_study;
pub(crate) mod analyze_table;
mod anova_lines;
pub(crate) mod anova_of_table;
mod assemble;
mod best;
pub(crate) mod box_cox_of_table;
mod checks;
mod configurations;
mod curvature;
mod effects;
mod equal_variance;
pub(crate) mod fitted;
mod lack_of_fit;
mod level_differences;
pub(crate) mod long_table;
mod means;
mod missing_terms;
pub(crate) mod overlap;
pub(crate) mod planned_power;
mod predicted;
mod predicted_change;
mod residuals;
mod smooth_left;
mod split_plot;
