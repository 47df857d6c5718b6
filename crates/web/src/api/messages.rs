//! What programs send and get. The OpenAPI description is made from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trainwright::StudyView;
use trainwright::pages::ReportTrial;
use trainwright_study::Level;

use crate::studies::shelf::Entry;

/// All studies.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StudyList {
    pub(crate) schema: &'static str,
    pub(crate) studies: Vec<StudySummary>,
}

/// A study and how far it has come.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StudySummary {
    /// Its name in addresses.
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// A number that every change to its store raises.
    pub(crate) change: i64,
    /// The process that runs it.
    pub(crate) runner: Option<u32>,
    /// Whether it has a search.
    pub(crate) search: bool,
    /// Trials by state, and `total`.
    pub(crate) trials: BTreeMap<String, usize>,
    /// Factors, in file order.
    pub(crate) factors: Vec<String>,
    /// Metrics, in file order.
    pub(crate) metrics: Vec<String>,
    /// The metric that the analysis explains.
    pub(crate) response: String,
    /// Seconds that all attempts took together.
    pub(crate) used_s: f64,
    /// Seconds that the trials left will take, where it can be estimated.
    pub(crate) left_s: Option<f64>,
    /// Money spent, where the study names a price.
    pub(crate) spent: Option<f64>,
}

impl StudySummary {
    pub(crate) fn of(entry: &Entry, view: &StudyView) -> Self {
        let states = view.counts.states.iter().map(|(state, own)| (state.word().to_owned(), *own));
        Self {
            id: entry.id.clone(),
            name: entry.name.clone(),
            change: view.change,
            runner: view.runner,
            search: view.study.search.is_some(),
            trials: states.chain([("total".to_owned(), view.counts.total)]).collect(),
            factors: view.study.factors.iter().map(|own| own.name.clone()).collect(),
            metrics: view.study.metrics.iter().map(|own| own.name.clone()).collect(),
            response: view.study.analysis.response.clone(),
            used_s: view.used_s,
            left_s: view.time_left.map(|own| own.seconds),
            spent: view.spent(),
        }
    }
}

/// Trials of a study that a query chose.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrialPage {
    pub(crate) schema: &'static str,
    /// Trials of the study.
    pub(crate) total: usize,
    /// Trials for which the expression is true.
    pub(crate) matching: usize,
    /// The place of the first one given.
    pub(crate) from: usize,
    /// Those asked for.
    pub(crate) trials: Vec<TrialSummary>,
}

/// A trial.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrialSummary {
    /// Its number in run order.
    pub(crate) trial: u32,
    /// The row of the design.
    pub(crate) row: Option<u32>,
    /// Its number among repeats of the row.
    pub(crate) replicate: u32,
    /// How it stands.
    pub(crate) state: String,
    /// How often it was started.
    pub(crate) attempts: u32,
    /// What it runs with.
    pub(crate) configuration: BTreeMap<String, serde_json::Value>,
    /// What it measured.
    pub(crate) metrics: BTreeMap<String, f64>,
    /// When it started, in milliseconds since 1970.
    pub(crate) started_ms: Option<i64>,
    /// How long it took.
    pub(crate) wall_s: Option<f64>,
    /// Processor time, user and system.
    pub(crate) cpu_s: Option<f64>,
    /// Its command line.
    pub(crate) command: Vec<String>,
    /// Why it did not finish.
    pub(crate) reason: Option<String>,
    /// Why it is left out of the analysis.
    pub(crate) excluded: Option<String>,
}

impl TrialSummary {
    pub(crate) fn of(trial: &ReportTrial) -> Self {
        let usage = trial.usage.as_ref();
        let finite = trial.measurements.iter().filter(|own| own.value.is_finite());
        Self {
            trial: trial.number,
            row: trial.row,
            replicate: trial.replicate,
            state: trial.state.word().to_owned(),
            attempts: trial.attempts,
            configuration: levels(trial.configuration.iter()),
            metrics: finite.map(|own| (own.metric.clone(), own.value)).collect(),
            started_ms: trial.started_ms,
            wall_s: usage.map(|own| own.wall_s),
            cpu_s: usage.map(|own| own.user_s + own.system_s),
            command: trial.command.clone(),
            reason: trial.reason.clone(),
            excluded: trial.excluded.clone(),
        }
    }
}

/// Levels by factor.
pub(crate) fn levels<'a>(
    pairs: impl Iterator<Item = (&'a str, &'a Level)>,
) -> BTreeMap<String, serde_json::Value> {
    let json = |level: &Level| serde_json::to_value(level).unwrap_or(serde_json::Value::Null);
    pairs.map(|(name, level)| (name.to_owned(), json(level))).collect()
}

/// Learning curves and telemetry of a trial.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SeriesList {
    pub(crate) schema: &'static str,
    pub(crate) trial: u32,
    pub(crate) series: Vec<SeriesOut>,
}

/// Values along an axis.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SeriesOut {
    /// `metric.NAME` for a learning curve, else what was sampled.
    pub(crate) name: String,
    /// What the axis counts: `s` or `step`.
    pub(crate) axis: String,
    /// Unit of the values.
    pub(crate) unit: String,
    /// Places on the axis.
    pub(crate) at: Vec<f64>,
    /// The values there.
    pub(crate) values: Vec<f64>,
}

/// What the measurements of a study say.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnalysisOut {
    pub(crate) schema: &'static str,
    /// The change number of the store when it was analysed.
    pub(crate) change: i64,
    /// The analysis, as `trainwright analyze --json` prints it.
    pub(crate) analysis: Option<serde_json::Value>,
    /// Why there is none yet.
    pub(crate) refused: Option<String>,
}

/// How many trials to run elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskIn {
    /// Trials wanted.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) count: u32,
}

fn one() -> u32 {
    1
}

/// Trials to run elsewhere.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AskOut {
    pub(crate) schema: &'static str,
    /// What to run; empty when there is nothing to run now.
    pub(crate) trials: Vec<AskedOut>,
    /// Whether trials under way must end before there is more to run.
    pub(crate) wait: bool,
    /// Why the search has stopped, where it has.
    pub(crate) stopped: Option<String>,
}

/// A trial to run elsewhere.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AskedOut {
    /// Its number, by which its result is told.
    pub(crate) trial: u32,
    /// Its number among the repeats of its configuration.
    pub(crate) replicate: u32,
    /// A seed for it.
    pub(crate) seed: u32,
    /// What to run.
    pub(crate) configuration: BTreeMap<String, serde_json::Value>,
    /// The trial's own token, by which it may send metrics while it runs.
    pub(crate) token: String,
}

/// What came of a trial.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TellIn {
    /// Which trial.
    pub(crate) trial: u32,
    /// Metrics by name.
    #[serde(default)]
    pub(crate) values: BTreeMap<String, f64>,
    /// Why it failed, where it did.
    pub(crate) failed: Option<String>,
    /// Seconds that it took.
    pub(crate) seconds: Option<f64>,
}

/// What is known after a result was told.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TellOut {
    pub(crate) schema: &'static str,
    pub(crate) trial: u32,
    /// How it ended.
    pub(crate) state: String,
    /// The best configuration by now.
    pub(crate) best: Option<BTreeMap<String, serde_json::Value>>,
    /// Its value of the first objective.
    pub(crate) best_value: Option<f64>,
}

/// Metrics of a running trial.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MetricsIn {
    /// Values by name.
    pub(crate) values: BTreeMap<String, f64>,
    /// The step that they belong to.
    pub(crate) step: Option<f64>,
}

/// The token of a trial.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TokenOut {
    pub(crate) schema: &'static str,
    pub(crate) trial: u32,
    /// Opens `metrics` of this trial and nothing else.
    pub(crate) token: String,
}

/// That metrics were taken.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MetricsOut {
    pub(crate) schema: &'static str,
    pub(crate) trial: u32,
    /// How many values were taken.
    pub(crate) taken: usize,
}

/// Why there is no answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FaultOut {
    pub(crate) error: String,
}
