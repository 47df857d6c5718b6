//! Studies and stored trials that the tests of this room share.

use trainwright_design::plan;
use trainwright_store::{StoredStudy, StoredTrial};
use trainwright_study::{Measurement, PlannedTrial, Study, TrialState, Usage};

use super::planned::design_of;

/// Two factors of two levels, twice each, and a metric that a log tells.
pub(crate) const TWO_BY_TWO: &str = r#"schema = 1
[study]
name = "demo"
seed = 3
[factors.a]
levels = [1, 2]
[factors.b]
levels = ["low", "high"]
[design]
type = "full"
replications = 2
[run]
command = ["./train", "{a}", "{b}"]
[metrics.y]
from = "stdout"
objective = "maximize"
"#;

pub(crate) fn study(text: &str) -> Study {
    Study::from_text(text).unwrap_or_else(|error| panic!("{error}"))
}

/// All trials of a study, as a store holds them before any has run.
pub(crate) fn planned_trials(study: &Study) -> Vec<StoredTrial> {
    let design = design_of(study).unwrap();
    plan(study, &design).into_iter().map(stored).collect()
}

/// A trial with a value of `y`.
pub(crate) fn finished(trial: StoredTrial, y: f64) -> StoredTrial {
    StoredTrial {
        state: TrialState::Finished,
        attempts: 1,
        started_ms: Some(1000),
        usage: Some(Usage { wall_s: 2.0, ..Usage::default() }),
        measurements: vec![measured("y", y)],
        ..trial
    }
}

pub(crate) fn measured(metric: &str, value: f64) -> Measurement {
    Measurement { metric: metric.to_owned(), value, in_range: true }
}

/// What a store keeps of a study.
pub(crate) fn kept(study: &Study) -> StoredStudy {
    StoredStudy {
        id: 1,
        name: study.name.clone(),
        fixed: serde_json::to_value(study.basis()).unwrap(),
        source: String::new(),
    }
}

fn stored(trial: PlannedTrial) -> StoredTrial {
    StoredTrial {
        number: trial.number,
        row: trial.row,
        replicate: trial.replicate,
        seed: trial.seed,
        block: trial.block,
        whole_plot: trial.whole_plot,
        configuration: trial.configuration,
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
