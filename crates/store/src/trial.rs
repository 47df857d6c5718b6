//! What the store knows of studies and trials.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use trainwright_study::{Configuration, Measurement, Observation, PlannedTrial, TrialState, Usage};

/// A study as the store knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredStudy {
    /// Key in the store.
    pub id: i64,
    /// Name.
    pub name: String,
    /// What its trials depend on, as it was when they were last planned.
    pub fixed: Value,
    /// Text of the study file when it was last run.
    pub source: String,
}

/// What was true when a trial ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Circumstances {
    /// The engine that ran it.
    pub engine: String,
    /// Trials that could run at the same time.
    pub slots: u32,
    /// How its metrics were read, as JSON.
    pub rules: Value,
    /// What it ran, before its factors were filled in, as JSON.
    pub task: Value,
    /// What earlier rules found, where its outputs were gone when they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded: Option<Superseded>,
}

/// Values that earlier rules found in outputs that are gone: not believed under other rules, and
/// right again where the study returns to these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Superseded {
    /// The rules, as JSON.
    pub rules: Value,
    /// What they found.
    pub measurements: Vec<Measurement>,
}

/// A trial as the store knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTrial {
    /// Position in the run order, from 1.
    pub number: u32,
    /// Row of the design, from 1; absent where no design asked for it.
    pub row: Option<u32>,
    /// Number among the repeats of its configuration, from 1.
    pub replicate: u32,
    /// Seed given to the trial.
    pub seed: u32,
    /// Block that it runs in, from 1.
    pub block: Option<u32>,
    /// Group of runs between which hard-to-change factors are set anew, from 1.
    pub whole_plot: Option<u32>,
    /// What runs.
    pub configuration: Configuration,
    /// Where it stands.
    pub state: TrialState,
    /// Times it was started.
    pub attempts: u32,
    /// Seconds that all its attempts took together.
    pub used_s: f64,
    /// Whether it was measured elsewhere.
    pub imported: bool,
    /// Start of the last attempt, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// The command line of the last attempt.
    pub command: Vec<String>,
    /// What the last attempt used.
    pub usage: Option<Usage>,
    /// Why it failed or diverged.
    pub reason: Option<String>,
    /// The last lines of its output.
    pub output_end: Option<String>,
    /// What was true when it ran; absent where it did not, or an older program ran it.
    pub circumstances: Option<Circumstances>,
    /// Metrics measured.
    pub measurements: Vec<Measurement>,
    /// Why somebody left it out of the analysis, where they did.
    pub excluded: Option<String>,
}

impl StoredTrial {
    /// The trial as it was planned.
    pub fn planned(&self) -> PlannedTrial {
        PlannedTrial {
            number: self.number,
            row: self.row,
            replicate: self.replicate,
            configuration: self.configuration.clone(),
            seed: self.seed,
            block: self.block,
            whole_plot: self.whole_plot,
        }
    }

    /// Whether it was ever started, here or elsewhere.
    pub fn has_run(&self) -> bool {
        self.attempts > 0 || self.imported
    }

    /// The trial reduced to what analysis needs.
    pub fn observation(&self) -> Observation {
        let values = self.measurements.iter().map(|m| (m.metric.clone(), m.value)).collect();
        let slots = self.circumstances.as_ref().map(|own| own.slots);
        let seconds = self.usage.as_ref().map(|usage| usage.wall_s);
        Observation { slots, seconds, ..Observation::of(self.planned(), self.state, values) }
    }
}

/// What a running trial last told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Progress {
    /// The trial's number.
    pub number: u32,
    /// Seconds since its start.
    pub elapsed_s: f64,
    /// The last value it reported of each key.
    pub latest: BTreeMap<String, f64>,
    /// When it told so, in milliseconds since 1970.
    pub told_ms: i64,
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trainwright_study::Level;

    use super::*;

    fn trial() -> StoredTrial {
        let level = |own: &str, value: i64| (own.to_owned(), Level::Integer(value));
        StoredTrial {
            number: 4,
            row: Some(2),
            replicate: 3,
            seed: 9,
            block: Some(1),
            whole_plot: Some(5),
            configuration: Configuration::new(vec![level("x", 1)]),
            state: TrialState::Planned,
            attempts: 0,
            used_s: 0.0,
            imported: false,
            started_ms: None,
            command: Vec::new(),
            usage: None,
            reason: None,
            output_end: None,
            circumstances: None,
            measurements: Vec::new(),
            excluded: None,
        }
    }

    #[test]
    fn a_trial_has_run_once_it_was_started_or_imported() {
        assert!(!trial().has_run());
        assert!(StoredTrial { attempts: 1, ..trial() }.has_run());
        assert!(StoredTrial { imported: true, ..trial() }.has_run());
        // Its state alone says nothing: one that was put back is planned again.
        assert!(StoredTrial { attempts: 2, state: TrialState::Planned, ..trial() }.has_run());
    }

    #[test]
    fn an_observation_has_the_plan_the_values_and_the_slots() {
        let measured = |metric: &str, value: f64| Measurement {
            metric: metric.to_owned(),
            value,
            in_range: false,
        };
        let circumstances = Circumstances {
            engine: "e".into(),
            slots: 3,
            rules: json!(1),
            task: json!(2),
            superseded: None,
        };
        let own = StoredTrial {
            state: TrialState::Diverged,
            measurements: vec![measured("b", 2.0), measured("a", 1.0)],
            circumstances: Some(circumstances),
            ..trial()
        };
        let seen = own.observation();
        assert_eq!((seen.trial, seen.row, seen.replicate), (4, Some(2), 3));
        assert_eq!((seen.block, seen.whole_plot, seen.slots), (Some(1), Some(5), Some(3)));
        assert_eq!(seen.state, TrialState::Diverged);
        let values = [("a".to_owned(), 1.0), ("b".to_owned(), 2.0)];
        assert_eq!(seen.values, BTreeMap::from(values));
        assert_eq!(trial().observation().slots, None);
    }

    #[test]
    fn the_plan_of_a_trial_is_what_was_planned() {
        let own = trial();
        let planned = own.planned();
        assert_eq!((planned.number, planned.seed, planned.replicate), (4, 9, 3));
        assert_eq!(planned.configuration, own.configuration);
    }
}
