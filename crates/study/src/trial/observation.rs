//! A trial reduced to what analysis and search need.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Configuration, PlannedTrial, TrialState};

/// An ended trial reduced to its configuration and its metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Position in the run order, from 1.
    pub trial: u32,
    /// Row of the design, from 1; absent where no design asked for it.
    pub row: Option<u32>,
    /// Number among the repeats of that row, from 1.
    pub replicate: u32,
    /// Block that it ran in, from 1; absent where runs are not blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Group of runs between which hard-to-change factors were set anew, from 1; absent where all
    /// factors are easy to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_plot: Option<u32>,
    /// Trials that could run at the same time when it did; absent where nobody kept it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// What ran.
    pub configuration: Configuration,
    /// How it ended; only finished trials enter fits.
    pub state: TrialState,
    /// Metric values by name.
    pub values: BTreeMap<String, f64>,
}

impl Observation {
    /// What came of a planned trial.
    pub fn of(trial: PlannedTrial, state: TrialState, values: BTreeMap<String, f64>) -> Self {
        Self {
            trial: trial.number,
            row: trial.row,
            replicate: trial.replicate,
            block: trial.block,
            whole_plot: trial.whole_plot,
            slots: None,
            configuration: trial.configuration,
            state,
            values,
        }
    }
}
