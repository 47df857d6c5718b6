//! How a study searches; the `search` crate suggests, the `trainwright` crate runs it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Direction;

/// How configurations are searched for, how much that may cost and when it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchSpec {
    /// How the next configuration is chosen.
    pub method: SearchMethod,
    /// Source of the search's randomness; the study's seed where absent.
    pub seed: Option<u64>,
    /// How much it may cost.
    pub budget: SearchLimits,
    /// How it begins.
    pub start: SearchStart,
    /// Trials of each configuration.
    pub replicates: u32,
    /// When it stops by itself; not before the budget is spent where absent.
    pub stop: Option<SearchStop>,
    /// Metrics to make small or large, the first one first.
    pub objectives: Vec<SearchObjective>,
    /// Bounds that good configurations keep.
    pub bounds: Vec<SearchBound>,
    /// What a trial is weighed against.
    pub weigh: SearchWeight,
    /// When a trial that does badly ends early; never where absent.
    pub early_stop: Option<EarlyStop>,
    /// Earlier studies of the same store whose best configurations are tried first.
    pub warm_start: Vec<String>,
    /// How the best are told apart in the end; not at all where absent.
    pub confirm: Option<SearchConfirm>,
}

/// How the best configurations are told apart when a search has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchConfirm {
    /// How many of the best run again.
    pub best: u32,
    /// Trials that each has in the end.
    pub replications: u32,
}

/// How the next configuration is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchMethod {
    /// A Gaussian process learns from all trials; the most promising configuration is next.
    #[default]
    Bayesian,
    /// What is likely among good configurations and unlikely among others.
    Tpe,
    /// Many configurations begin; those that do badly are cut short at rungs that are further
    /// apart each time. New ones are chosen as by `tpe`.
    Hyperband,
    /// By chance.
    Random,
    /// Evenly spread points, one in every stratum of every factor.
    LatinHypercube,
    /// The points of the Sobol sequence.
    Sobol,
    /// Every combination.
    Grid,
    /// One factor at a time to its best value, until no change helps.
    CoordinateDescent,
    /// One factor at a time: double while it improves, then steps of a tenth.
    Line,
    /// Two rounds of spread-out trials find the factors that matter; a Gaussian process tunes
    /// those.
    Tuneful,
}

impl SearchMethod {
    /// All methods.
    pub const ALL: [Self; 10] = [
        Self::Bayesian,
        Self::Tpe,
        Self::Hyperband,
        Self::Random,
        Self::LatinHypercube,
        Self::Sobol,
        Self::Grid,
        Self::CoordinateDescent,
        Self::Line,
        Self::Tuneful,
    ];

    /// Its word in a study file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bayesian => "bayesian",
            Self::Tpe => "tpe",
            Self::Hyperband => "hyperband",
            Self::Random => "random",
            Self::LatinHypercube => "latin-hypercube",
            Self::Sobol => "sobol",
            Self::Grid => "grid",
            Self::CoordinateDescent => "coordinate-descent",
            Self::Line => "line",
            Self::Tuneful => "tuneful",
        }
    }
}

/// How much a search may cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchLimits {
    /// Trials in all.
    pub trials: Option<u32>,
    /// Hours that trials take.
    pub hours: Option<f64>,
    /// What trials cost, by the price of an hour in `[budget]`.
    pub money: Option<f64>,
}

/// How a search begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchStart {
    /// How the first configurations are spread.
    pub points: StartPoints,
    /// How many they are; by the number of factors where absent.
    pub count: Option<u32>,
}

/// How the first configurations are spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartPoints {
    /// The Sobol sequence, moved by chance.
    #[default]
    Sobol,
    /// One in every stratum of every factor.
    LatinHypercube,
    /// By chance.
    Random,
}

/// When a search stops by itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SearchStop {
    /// It stops where the next trial is expected to gain less than this share of the best value.
    pub gain: f64,
    /// Configurations that are tried in any case.
    pub least: u32,
}

/// A metric that a search makes small or large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchObjective {
    /// The metric.
    pub metric: String,
    /// Which way is better.
    pub direction: Direction,
}

/// A bound that good configurations keep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchBound {
    /// The metric.
    pub metric: String,
    /// Whether the metric stays below or above.
    pub side: BoundSide,
    /// The bound.
    pub bound: f64,
}

/// A side of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundSide {
    /// At most the bound.
    AtMost,
    /// At least the bound.
    AtLeast,
}

/// What a trial is weighed against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchWeight {
    /// Every trial counts the same.
    #[default]
    Trials,
    /// A trial counts the seconds that it is expected to take.
    Seconds,
}

/// When a trial that does badly ends early.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlyStop {
    /// By which rule.
    pub rule: EarlyStopRule,
    /// The metric that trials report with their steps.
    pub metric: String,
    /// Which way is better.
    pub direction: Direction,
    /// No trial ends before this step.
    pub from: f64,
    /// Trials beyond one in so many end at each rung; rungs are further apart by this factor.
    pub factor: u32,
    /// Which trials may go on after they were cut short.
    #[serde(default)]
    pub go_on: GoOn,
}

/// Which trials may go on from a checkpoint after they were cut short.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GoOn {
    /// Those of the built-in trainer, which keeps itself.
    #[default]
    OwnTrainer,
    /// All: the command keeps itself in the folder that it is given for that.
    Always,
    /// None.
    Never,
}

/// By which rule a trial ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EarlyStopRule {
    /// Its best value so far is worse than the median of the others' means up to the same step.
    Median,
    /// It is not among the best of those that reached the same rung.
    Halving,
    /// The same, with several sets of rungs that begin later and later.
    Hyperband,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_read_by_its_word() {
        for method in SearchMethod::ALL {
            let word = serde_json::Value::from(method.word());
            assert_eq!(serde_json::from_value::<SearchMethod>(word).unwrap(), method);
        }
    }
}
