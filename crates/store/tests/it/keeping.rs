use std::collections::BTreeMap;
use std::path::Path;

use trainwright_store::{Durability, Ended, ImportedTrial, Store};
use trainwright_study::{
    Configuration, Level, Machine, Measurement, Outcome, PlannedTrial, Series, Study, TrialRecord,
    TrialState, Usage,
};

pub(crate) const STUDY: &str = r#"schema = 1
[study]
name = "demo"
[factors.lr]
levels = [0.001, 0.01]
[design]
type = "full"
[run]
command = ["train", "{lr}"]
[metrics.accuracy]
objective = "maximize"
"#;

pub(crate) fn planned(number: u32) -> PlannedTrial {
    let configuration = Configuration::new(vec![("lr".into(), Level::Number(0.01))]);
    let (block, whole_plot) = (Some(1), Some(number));
    PlannedTrial {
        number,
        row: Some(number),
        replicate: 1,
        configuration,
        seed: 5,
        block,
        whole_plot,
    }
}

fn record() -> TrialRecord {
    TrialRecord {
        outcome: Outcome::Finished,
        measurements: vec![Measurement { metric: "accuracy".into(), value: 0.9, in_range: true }],
        usage: Some(Usage { wall_s: 1.5, exit_code: Some(0), ..Usage::default() }),
        series: vec![Series {
            name: "metric.loss".into(),
            axis: "step".into(),
            unit: String::new(),
            at: vec![1.0, 2.0],
            values: vec![0.5, 0.25],
        }],
        command: vec!["train".into(), "0.01".into()],
        environment: BTreeMap::new(),
        started_ms: 12,
        output_end: "done".into(),
    }
}

pub(crate) fn store_with_two_trials(path: &Path) -> (Store, i64) {
    let mut store = Store::open(path, Durability::Flushed).unwrap();
    let study = store.keep_study(&Study::from_text(STUDY).unwrap()).unwrap();
    store.plan(study.id, &[planned(1), planned(2)]).unwrap();
    (store, study.id)
}

#[test]
fn an_ended_trial_comes_back_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trainwright.db");
    let (mut store, study) = store_with_two_trials(&path);
    let machine = store.keep_machine(&Machine { cores: 2, ..Machine::default() }).unwrap();
    store.start(study, &[1]).unwrap();
    store.end(study, &Ended { number: 1, record: &record(), machine }, &[2]).unwrap();
    drop(store);

    let store = Store::open_for_reading(&path).unwrap().unwrap();
    let trials = store.trials(study).unwrap();
    assert_eq!(trials[0].state, TrialState::Finished);
    assert_eq!((trials[0].attempts, trials[0].started_ms), (1, Some(12)));
    assert_eq!(trials[0].measurements, record().measurements);
    assert_eq!(trials[0].usage, record().usage);
    assert_eq!(trials[0].planned(), Some(planned(1)));
    assert_eq!((trials[1].state, trials[1].attempts), (TrialState::Running, 1));
    assert_eq!(store.series(study, 1).unwrap(), record().series);
    assert_eq!(store.machines(study).unwrap()[0].cores, 2);
}

#[test]
fn a_second_attempt_replaces_what_the_first_left() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, study) = store_with_two_trials(&folder.path().join("s.db"));
    let machine = store.keep_machine(&Machine::default()).unwrap();
    let mut failed = record();
    failed.outcome = Outcome::Failed { reason: "exit code 3".into() };
    store.start(study, &[1]).unwrap();
    store.end(study, &Ended { number: 1, record: &failed, machine }, &[1]).unwrap();
    assert_eq!(store.trials(study).unwrap()[0].state, TrialState::Running);
    let mut last = record();
    last.measurements.clear();
    last.series.clear();
    store.end(study, &Ended { number: 1, record: &last, machine }, &[]).unwrap();
    let trial = store.trials(study).unwrap().remove(0);
    assert_eq!((trial.attempts, trial.reason, trial.measurements.len()), (2, None, 0));
    assert!(store.series(study, 1).unwrap().is_empty());
}

#[test]
fn keeping_a_study_again_keeps_its_trials() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, study) = store_with_two_trials(&folder.path().join("s.db"));
    let again = store.keep_study(&Study::from_text(STUDY).unwrap()).unwrap();
    assert_eq!(again.id, study);
    assert_eq!(store.trials(study).unwrap().len(), 2);
    assert_eq!(store.study("demo").unwrap().unwrap().id, study);
    assert_eq!(store.study("other").unwrap(), None);
}

#[test]
fn forgetting_a_plan_spares_what_ran() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, study) = store_with_two_trials(&folder.path().join("s.db"));
    store.start(study, &[1]).unwrap();
    store.forget_plan(study, 1).unwrap();
    assert_eq!(store.trials(study).unwrap().len(), 2);
    store.forget_plan(study, 0).unwrap();
    let left: Vec<u32> = store.trials(study).unwrap().iter().map(|trial| trial.number).collect();
    assert_eq!(left, [1]);
}

#[test]
fn imported_results_fill_planned_trials_or_add_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, study) = store_with_two_trials(&folder.path().join("s.db"));
    let result = |fills, value| ImportedTrial {
        fills,
        configuration: planned(1).configuration,
        replicate: 1,
        measurements: vec![Measurement { metric: "accuracy".into(), value, in_range: true }],
    };
    store.import(study, &[result(Some(2), 0.5), result(None, 0.7)]).unwrap();
    let trials = store.trials(study).unwrap();
    assert_eq!(trials.len(), 3);
    assert_eq!(trials[0].state, TrialState::Planned);
    assert_eq!((trials[1].measurements[0].value, trials[1].imported), (0.5, true));
    assert_eq!((trials[2].row, trials[2].measurements[0].value), (None, 0.7));
    assert_eq!(trials[2].planned(), None);
}

/// `tests/data/version-1.db` was written by the first version: four trials, two of them failed,
/// with a learning curve each.
#[test]
fn a_store_of_version_1_still_reads_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/version-1.db"), &path).unwrap();
    let unchanged = Store::open_for_reading(&path).unwrap().unwrap();
    let id = unchanged.study("sample").unwrap().unwrap().id;
    assert_eq!(unchanged.trials(id).unwrap().len(), 4, "reading alone does not migrate");
    drop(unchanged);
    let mut store = Store::open(&path, Durability::Flushed).unwrap();
    let study = store.study("sample").unwrap().unwrap();
    let states: Vec<TrialState> =
        store.trials(study.id).unwrap().iter().map(|trial| trial.state).collect();
    let (finished, failed) = (TrialState::Finished, TrialState::Failed);
    assert_eq!(states, [finished, failed, finished, failed]);
    let curve = store.series(study.id, 1).unwrap().remove(0);
    assert_eq!((curve.name.as_str(), curve.values), ("metric.accuracy", vec![0.1, 0.2, 0.3]));
    assert_eq!(store.machines(study.id).unwrap()[0].cores, 2);
    store.start(study.id, &[2]).unwrap();
    assert_eq!(store.trials(study.id).unwrap()[1].attempts, 2);
}
