//! The nouns of an experiment: study, factor, level, configuration, trial, metric, measurement,
//! observation. Data only: nothing here runs, stores, fits or draws.
//!
//! Read `study.rs` first; `file.rs` is how a study file becomes one.

mod changes;
mod design_spec;
mod expression;
mod factor;
mod file;
mod job;
mod metric;
mod moment;
mod search_spec;
mod seed;
mod study;
mod trial;

pub use changes::{ChangeEffect, CommandPart, StudyBasis, StudyChange, changes};
pub use design_spec::{
    Additions, AxialDistance, BlockSpec, DesignKind, DesignSpec, Face, Foldover, RunOrder, Spread,
};
pub use expression::{EvaluateError, Expression, ParseError, Scope, Value};
pub use factor::configuration::Configuration;
pub use factor::level::Level;
pub use factor::{Change, Domain, Factor, FactorKind, Scale};
pub use file::draft;
pub use file::duration::parse_duration;
pub use file::problem::{FaultyFile, Problem, StudyError};
pub use file::schema::study_schema;
pub use job::augmentation::Augmentation;
pub use job::compression::Compression;
pub use job::network_name::NetworkName;
pub use job::schedule::Schedule;
pub use job::split::{Cut, CutLayer, JobPipeline, JobSplit, StageOrder};
pub use job::strategy::{AllReduce, Consistency, Scaling, Strategy};
pub use job::{JOB_KEYS, JobError, JobSpec, JobTemplate, Optimizer, UpdateMode};
pub use metric::derived::{Derived, MissingValue, derive};
pub use metric::{Direction, Echo, Metric, MetricSource, Pattern, Pick, TextFile, seconds_per};
pub use moment::Moment;
pub use search_spec::{
    BoundSide, EarlyStop, EarlyStopRule, GoOn, SearchBound, SearchConfirm, SearchLimits,
    SearchMethod, SearchObjective, SearchSpec, SearchStart, SearchStop, SearchWeight, StartPoints,
};
pub use seed::Seed;
pub use study::template::{Template, is_identifier};
pub use study::{
    AnalysisSpec, Budget, CommandTemplate, CommandWord, DivergedTrials, EngineSpec, PrepareCommand,
    RunOptions, SourceFile, SparkSpec, Study, Task,
};
pub use trial::capacities::{Capacities, DiskCapacity, ReadFrom, Repeated};
pub use trial::cluster::ClusterTask;
pub use trial::gpu::{GpuScope, GpuUsage};
pub use trial::machine::Machine;
pub use trial::observation::Observation;
pub use trial::{
    Measurement, NetworkScope, NetworkUsage, Outcome, PlannedTrial, Series, TrialRecord,
    TrialState, Usage,
};
