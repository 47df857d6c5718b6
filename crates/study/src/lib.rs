//! The nouns of an experiment: study, factor, level, configuration, trial, metric, measurement,
//! observation. Data only: nothing here runs, stores, fits or draws.
//!
//! Read `study.rs` first; `file.rs` is how a study file becomes one.

mod augmentation;
mod changes;
mod check;
mod configuration;
mod derived;
mod design_spec;
pub mod draft;
mod duration;
mod environment;
mod expression;
mod factor;
mod file;
mod job;
mod job_limits;
mod level;
mod locate;
mod machine;
mod metric;
mod network_name;
mod observation;
mod ordered;
mod problem;
mod schedule;
mod schema;
mod seed;
mod shell_script;
mod study;
mod template;
mod trial;

pub use augmentation::Augmentation;
pub use changes::{ChangeEffect, CommandPart, StudyBasis, StudyChange, changes};
pub use configuration::Configuration;
pub use derived::{Derived, MissingValue, derive};
pub use design_spec::{
    Additions, AxialDistance, BlockSpec, DesignKind, DesignSpec, Face, Foldover, RunOrder, Spread,
};
pub use duration::parse_duration;
pub use expression::{EvaluateError, Expression, ParseError, Scope, Value};
pub use factor::{Change, Domain, Factor, FactorKind, Scale};
pub use job::{JOB_KEYS, JobError, JobSpec, JobTemplate, Optimizer, Strategy, UpdateMode};
pub use level::Level;
pub use machine::Machine;
pub use metric::{Direction, Echo, Metric, MetricSource, Pattern, Pick, TextFile, seconds_per};
pub use network_name::NetworkName;
pub use observation::Observation;
pub use problem::{FaultyFile, Problem, StudyError};
pub use schedule::Schedule;
pub use schema::study_schema;
pub use seed::Seed;
pub use study::{
    AnalysisSpec, Budget, CommandTemplate, CommandWord, PrepareCommand, RunOptions, SourceFile,
    Study, Task,
};
pub use template::{Template, is_identifier};
pub use trial::{
    Measurement, NetworkScope, NetworkUsage, Outcome, PlannedTrial, Series, TrialRecord,
    TrialState, Usage,
};
