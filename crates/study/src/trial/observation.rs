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
    /// Seconds that it took; absent where nobody measured them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
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
            seconds: None,
            configuration: trial.configuration,
            state,
            values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_is_the_planned_trial_with_its_values() {
        let planned = PlannedTrial {
            number: 5,
            row: None,
            replicate: 2,
            configuration: Configuration::default(),
            seed: 1,
            block: Some(3),
            whole_plot: Some(4),
        };
        let values = BTreeMap::from([("y".to_owned(), 0.5)]);
        let own = Observation::of(planned, TrialState::Finished, values.clone());
        assert_eq!((own.trial, own.row, own.replicate), (5, None, 2));
        assert_eq!((own.block, own.whole_plot, own.slots), (Some(3), Some(4), None));
        assert_eq!((own.state, &own.values), (TrialState::Finished, &values));
        let kept = serde_json::to_string(&own).unwrap();
        assert!(!kept.contains("slots"), "{kept}");
        assert_eq!(serde_json::from_str::<Observation>(&kept).unwrap(), own);
    }
}
