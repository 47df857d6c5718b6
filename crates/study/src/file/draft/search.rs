//! A search before any check.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{EarlyStopRule, SearchMethod, SearchWeight, StartPoints};

/// How configurations are searched for, instead of a design or after it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchDraft {
    /// How the next configuration is chosen; `bayesian` where absent.
    #[serde(default)]
    pub method: SearchMethod,
    /// How much the search may cost; at least one limit.
    pub budget: SearchBudgetDraft,
    /// Source of the search's randomness; the study's seed where absent.
    pub seed: Option<u64>,
    /// How it begins.
    #[serde(default)]
    pub start: StartDraft,
    /// Trials of each configuration; 1 where absent.
    pub replicates: Option<u32>,
    /// When it stops before the budget is spent; for `bayesian`.
    pub stop: Option<StopDraft>,
    /// Metrics to make small or large; the response of the analysis where absent. Of several, the
    /// search finds the configurations that no other one beats in all.
    #[serde(default)]
    pub objectives: Vec<String>,
    /// Largest values that metrics of a good configuration have.
    #[serde(default)]
    pub at_most: BTreeMap<String, f64>,
    /// Smallest values that metrics of a good configuration have.
    #[serde(default)]
    pub at_least: BTreeMap<String, f64>,
    /// Whether a trial counts once or by the seconds that it is expected to take; for `bayesian`.
    pub weigh: Option<SearchWeight>,
    /// When a trial that does badly ends early.
    pub early_stop: Option<EarlyStopDraft>,
    /// Earlier studies of the same store whose best configurations are tried first; for `bayesian`,
    /// `tpe` and `hyperband`.
    #[serde(default)]
    pub warm_start: Vec<String>,
    /// Runs the best configurations again when the search has ended, to tell them apart; beyond
    /// the budget.
    pub confirm: Option<ConfirmDraft>,
}

/// How the best configurations are told apart.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmDraft {
    /// How many of the best run again; 3 where absent.
    pub best: Option<u32>,
    /// Trials that each has in the end.
    pub replications: u32,
}

/// How much a search may cost.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchBudgetDraft {
    /// Trials in all, replicates included.
    pub trials: Option<u32>,
    /// Hours that trials take.
    pub hours: Option<f64>,
    /// What trials cost, by `price_per_hour` of `[budget]`.
    pub money: Option<f64>,
}

/// How a search begins.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartDraft {
    /// How the first configurations are spread; `sobol` where absent.
    pub points: Option<StartPoints>,
    /// How many they are; by the number of factors where absent.
    pub count: Option<u32>,
}

/// When a search stops by itself.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopDraft {
    /// It stops where the next trial is expected to gain less than this share of the best value.
    pub gain: f64,
    /// Configurations that are tried in any case; 10 where absent.
    pub least: Option<u32>,
}

/// When a trial that does badly ends early.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EarlyStopDraft {
    /// By which rule.
    pub rule: EarlyStopRule,
    /// The metric that trials report with their steps; the first objective where absent.
    pub metric: Option<String>,
    /// No trial ends before this step; 1 where absent.
    pub from: Option<f64>,
    /// One in so many goes on at each rung, and rungs are further apart by this factor; 3 where
    /// absent.
    pub factor: Option<u32>,
    /// Whether a trial that was cut short goes on from its checkpoint where it turns out to be
    /// among the best of its rung after all; where absent, trials of the built-in trainer do and
    /// others do not.
    pub go_on: Option<bool>,
}
