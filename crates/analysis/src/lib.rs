//! Observations in, findings with verdicts out.
//!
//! A table or a study's observations become a model matrix, a fit, analysis-of-variance tables,
//! checks of the assumptions and findings in words. Nothing here runs a trial, reads a store or
//! prints.
//!
//! | room | holds |
//! |---|---|
//! | `csv_table` | named columns of numbers and categories |
//! | `model` | formulas, variables and the matrix they make |
//! | `fit` | the fit of a model: analysis of variance, checks, effects, power; long tables too |
//! | `questions` | comparisons with a baseline, correlations, overhead, scaling, surfaces |
//! | `bottleneck` | which resource binds a training, and by how much |
//! | `queues` | what queues, measured times and load tests mean |
//! | `read_speed` | readings of pictures from files and records, compared and fitted |
//! | `test_table` | the statistical tests by name, what each needs and what it answers |
//! | `findings` | what the data say in sentences, and the catalogue of all of them |
//! | `wording` | figures, p-values and lists in sentences |
//!
//! Read [`analyze_table`] first.

mod bottleneck;
mod csv_table;
mod error;
mod findings;
mod fit;
mod model;
mod questions;
mod queues;
mod read_speed;
mod test_table;
#[cfg(test)]
mod tests;
pub mod wording;

pub use bottleneck::{
    Attribution, Binding, ConfigurationBottleneck, Idealised, Link, MachineUse, Pace, RankAccount,
    Resource, SlowRank, TrainingAccount, TrialUse, UsageAccount, attribute, attribute_usage,
};
pub use csv_table::{Column, Table};
pub use error::AnalysisError;
pub use findings::catalogue::{
    CatalogueEntry, CatalogueGroup, FalseAlarms, FindingRate, Found, catalogue, catalogue_entry,
    catalogue_page, finding_rate,
};
pub use findings::{Finding, Severity};
pub use fit::analysis::{
    Alike, Analysis, AnovaLine, AnovaTable, AnovaType, Best, BoxCoxSummary, BreuschPaganSummary,
    CellMean, Check, CoefficientRow, DurbinWatsonSummary, Effect, FitSummary, HalfNormal,
    Interaction, LackOfFitSummary, LenthSummary, LevelDifference, LevelDifferences, LevelMean,
    LogScale, MainEffect, MissingTerm, PowerLikelihood, PredictedBest, Residual, Turn, TurnKind,
};
pub use fit::analyze_study::{StudyOptions, analyze_study};
pub use fit::analyze_table::{TableOptions, analyze_table};
pub use fit::anova_of_table::anova_of_table;
pub use fit::box_cox_of_table::box_cox_of_table;
pub use fit::long_table::{FEW_ROWS, analyze_csv};
pub use fit::planned_power::{PlannedPower, TermPower, planned_power};
pub use model::formula::{Formula, TermOrder, Transform};
pub use model::model_matrix::{Coding, Contrasts};
pub use questions::comparison::{
    CompareOptions, Comparison, GeometricRatio, Judgement, LevelComparison, LevelSummary, Verdict,
    compare_study, compare_table,
};
pub use questions::correlations::{CorrelationRow, Correlations, LeftOut, correlations_of_table};
pub use questions::overhead::{Overhead, OverheadLine, OverheadOptions, overhead_of_table};
pub use questions::scaling::{
    Law, LawFit, Parameter, Prediction, Scaling, ScalingOptions, ScalingRow, scaling_of_table,
};
pub use questions::surface::{
    Contour, Curvature, Surface, SurfaceFactor, SurfaceKind, SurfaceOptions, SurfacePoint,
    SurfaceTerm, surface_of_study, surface_of_table,
};
pub use queues::{
    CutShort, FitReply, LoadMeasured, MeasuredTimes, TimesFit, findings_of_classes,
    findings_of_load, findings_of_queue, fit_times,
};
pub use read_speed::{
    CacheState, PictureSource, Ratio, SpeedCoefficient, SpeedConditions, SpeedFit, SpeedLackOfFit,
    SpeedMean, SpeedModel, SpeedRow, Speedtest, examine_speeds,
};
pub use test_table::{AdjustmentMethod, StatsTest, TestQuestion, TestResult};
