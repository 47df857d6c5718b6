//! Metrics and echoes before any check.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Direction, Pick};

/// A quantity measured in every trial.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetricDraft {
    /// Where it is read; without it, the metrics file and then `::metric` lines are searched.
    pub from: Option<MetricFrom>,
    /// Key in the JSON lines; the metric's name where absent.
    pub key: Option<String>,
    /// `stdout`, `stderr` or a path.
    pub file: Option<String>,
    /// Pattern with a group `(?P<value>...)`.
    #[serde(rename = "match")]
    pub pattern: Option<String>,
    /// Which of several values counts.
    pub pick: Option<Pick>,
    /// JSON Pointer, such as `/eval/accuracy`.
    pub pointer: Option<String>,
    /// CSV column; the metric's name where absent.
    pub column: Option<String>,
    /// TensorBoard tag; the metric's name where absent.
    pub tag: Option<String>,
    /// Formula over factors and other metrics.
    pub expr: Option<String>,
    /// Unit, mandatory for time and money.
    pub unit: Option<String>,
    /// Smallest and largest believable value.
    pub range: Option<[f64; 2]>,
    /// Whether the study wants it small or large.
    pub objective: Option<Direction>,
}

/// Where a metric is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words of the key `from`")]
pub enum MetricFrom {
    Wall,
    Jsonl,
    Stdout,
    Regex,
    Json,
    Csv,
    Tensorboard,
    Expr,
}

/// A parameter read back from the output.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EchoDraft {
    /// Pattern with a group `(?P<value>...)`.
    #[serde(rename = "match")]
    pub pattern: String,
    /// `stdout`, `stderr` or a path.
    pub file: Option<String>,
}
