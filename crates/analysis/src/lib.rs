//! Observations in, findings with verdicts out.
//!
//! A table or a study's observations become a model matrix, a fit, analysis-of-variance tables,
//! checks of the assumptions and findings in words. Nothing here runs a trial, reads a store or
//! prints.
//!
//! Read [`analyze_table`] first; `assemble.rs` puts the parts together, `verdict.rs` words the
//! checks and `findings.rs` the findings.

mod analysis;
mod analyze_study;
mod analyze_table;
mod anova_lines;
mod anova_of_table;
mod assemble;
mod balance;
mod box_cox_table;
mod columns;
mod comparison;
mod correlations;
mod curvature;
mod curve;
mod derived;
mod effects;
mod error;
mod findings;
mod fitted;
mod formula;
mod large;
mod level_differences;
mod means;
mod model_matrix;
mod overhead;
mod planned_power;
mod problem;
mod residuals;
mod response;
mod scaling;
mod split_plot;
mod surface;
mod table;
mod variable;
mod verdict;
pub mod wording;

pub use analysis::{
    Analysis, AnovaLine, AnovaTable, AnovaType, Best, BoxCoxSummary, BreuschPaganSummary, CellMean,
    Check, CoefficientRow, DurbinWatsonSummary, Effect, Finding, FitSummary, HalfNormal,
    Interaction, LackOfFitSummary, LenthSummary, LevelDifference, LevelDifferences, LevelMean,
    LogScale, MainEffect, PowerLikelihood, Residual, Severity,
};
pub use analyze_study::{StudyOptions, analyze_study};
pub use analyze_table::{TableOptions, analyze_table};
pub use anova_of_table::anova_of_table;
pub use box_cox_table::box_cox_of_table;
pub use comparison::{
    CompareOptions, Comparison, GeometricRatio, LevelComparison, LevelSummary, Verdict,
    compare_study, compare_table,
};
pub use correlations::{CorrelationRow, Correlations, LeftOut, correlations_of_table};
pub use error::AnalysisError;
pub use findings::catalogue::{
    CatalogueEntry, CatalogueGroup, catalogue, catalogue_entry, catalogue_page,
};
pub use formula::{Formula, TermOrder, Transform};
pub use large::{FEW_ROWS, analyze_csv};
pub use model_matrix::{Coding, Contrasts};
pub use overhead::{Overhead, OverheadLine, OverheadOptions, overhead_of_table};
pub use planned_power::{PlannedPower, TermPower, planned_power};
pub use scaling::{
    Law, LawFit, Parameter, Prediction, Scaling, ScalingOptions, ScalingRow, scaling_of_table,
};
pub use surface::{
    Contour, Curvature, Surface, SurfaceFactor, SurfaceKind, SurfaceOptions, SurfacePoint,
    SurfaceTerm, surface_of_study, surface_of_table,
};
pub use table::{Column, Table};
