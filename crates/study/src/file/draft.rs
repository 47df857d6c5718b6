//! A study before any check: what the study file says, or what a program puts together.
//!
//! [`Study::from_draft`](crate::Study::from_draft) checks one that was built in code. Serde reads
//! drafts from the study file and the JSON Schema shows them.

mod design;
mod factor;
mod job;
mod metric;
mod run;
mod search;

use schemars::JsonSchema;
use serde::Deserialize;

pub use self::design::{CenterDraft, DesignDraft, DesignKindDraft, FoldoverDraft};
pub use self::factor::{FactorDraft, RangeDraft};
pub use self::job::JobDraft;
pub use self::metric::{EchoDraft, MetricDraft, MetricFrom};
pub use self::run::{
    BudgetDraft, EngineDraft, EngineKind, PrepareDraft, RunDraft, TelemetryDraft, WordDraft,
};
pub use self::search::{
    ConfirmDraft, EarlyStopDraft, SearchBudgetDraft, SearchDraft, StartDraft, StopDraft,
};
use crate::DivergedTrials;
pub use crate::file::ordered::Ordered;

/// A Trainwright study: factors, a design, something to run, metrics and an analysis.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyDraft {
    /// Version of the study file format: 1.
    pub schema: u32,
    /// Name, seed and purpose.
    pub study: HeadDraft,
    /// What is varied: one table a factor.
    #[serde(default)]
    pub factors: Ordered<FactorDraft>,
    /// Which configurations run, how often and in which order.
    pub design: Option<DesignDraft>,
    /// How configurations are searched for, instead of a design or after it.
    pub search: Option<SearchDraft>,
    /// A job of the built-in trainer. A factor may stand for any of its keys.
    pub job: Option<JobDraft>,
    /// How trials run, and the command where `[job]` is absent.
    #[serde(default)]
    pub run: RunDraft,
    /// What is measured: one table a metric.
    pub metrics: Ordered<MetricDraft>,
    /// Parameters read back from the output: one table a factor.
    #[serde(default)]
    pub echo: Ordered<EchoDraft>,
    /// What is asked of the measurements.
    #[serde(default)]
    pub analysis: AnalysisDraft,
    /// Conditions that every configuration must meet.
    #[serde(default)]
    pub constraint: Vec<ConstraintDraft>,
    /// Where trials run.
    #[serde(default)]
    pub engine: EngineDraft,
    /// Resource sampling.
    #[serde(default)]
    pub telemetry: TelemetryDraft,
    /// Limits and price.
    #[serde(default)]
    pub budget: BudgetDraft,
}

impl StudyDraft {
    /// A study of this name with nothing in it yet.
    pub fn new(name: &str) -> Self {
        Self {
            schema: 1,
            study: HeadDraft { name: name.to_owned(), ..HeadDraft::default() },
            factors: Ordered::default(),
            design: None,
            search: None,
            job: None,
            run: RunDraft::default(),
            metrics: Ordered::default(),
            echo: Ordered::default(),
            analysis: AnalysisDraft::default(),
            constraint: Vec::new(),
            engine: EngineDraft::default(),
            telemetry: TelemetryDraft::default(),
            budget: BudgetDraft::default(),
        }
    }
}

/// Name, seed and purpose of the study.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadDraft {
    /// Letters, digits, dots, dashes and underscores.
    pub name: String,
    /// Drives the run order and the seed of every trial.
    #[serde(default)]
    pub seed: u64,
    /// What the study asks.
    pub description: Option<String>,
}

/// What is asked of the measurements.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalysisDraft {
    /// The metric to explain; the one with an objective where absent.
    pub response: Option<String>,
    /// `main`, `main + 2fi`, `quadratic` (with squares), or a formula such as `lr*batch + neurons`;
    /// where absent `quadratic` for central composite and Box-Behnken designs, `main` for
    /// Plackett-Burman and one-factor designs, else `main + 2fi`.
    /// In `main` a numeric factor of three or more levels may bend, in a formula it is a straight
    /// line beside the powers written, such as `lr + lr^2`.
    pub terms: Option<String>,
    /// Largest p-value called evidence.
    pub alpha: Option<f64>,
    /// Whether diverged trials that have a finite response count: `leave-out` (the default) or
    /// `count`.
    pub diverged: Option<DivergedTrials>,
}

/// A condition that every configuration must meet.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintDraft {
    /// Such as `replicas * batch <= 512`.
    pub expr: String,
}
