use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use trainwright_store::{
    Circumstances, Durability, Ended, ImportedTrial, MovedTrial, PlanUpdate, Reread, Store,
};
use trainwright_study::{
    ClusterTask, Configuration, Level, Machine, Measurement, Outcome, PlannedTrial, Series,
    TrialRecord, TrialState, Usage,
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

pub(crate) fn record() -> TrialRecord {
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
        cluster: Vec::new(),
    }
}

pub(crate) fn update(added: Vec<PlannedTrial>) -> PlanUpdate<'static> {
    PlanUpdate { name: "demo", source: STUDY, added, ..PlanUpdate::default() }
}

pub(crate) fn store_with_two_trials(path: &Path) -> (Store, i64) {
    let mut store = Store::open(path, Durability::Flushed).unwrap();
    let study = store.update_plan(&update(vec![planned(1), planned(2)])).unwrap();
    (store, study)
}

fn circumstances() -> Circumstances {
    let (engine, slots) = ("local".to_owned(), 2);
    Circumstances {
        engine,
        slots,
        rules: json!(["old"]),
        task: json!({ "command": "train" }),
        superseded: None,
    }
}

/// Keeps the end of a trial; `next` starts with the same change.
pub(crate) fn end(
    store: &mut Store,
    study: i64,
    number: u32,
    record: &TrialRecord,
    next: &[PlannedTrial],
) {
    let machine = store.keep_machine(&Machine { cores: 2, ..Machine::default() }).unwrap();
    let circumstances = store.keep_circumstances(&circumstances()).unwrap();
    let environment = BTreeMap::from([("TOKEN".to_owned(), None)]);
    let ended = Ended { number, record, environment, machine, circumstances };
    store.end(study, &ended, next).unwrap();
}

#[test]
fn an_ended_trial_comes_back_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trainwright.db");
    let (mut store, study) = store_with_two_trials(&path);
    store.start(study, &[planned(1)]).unwrap();
    end(&mut store, study, 1, &record(), &[planned(2)]);
    drop(store);

    let look = Store::look(&path).unwrap().unwrap();
    let trials = look.trials(study).unwrap();
    assert_eq!(trials[0].state, TrialState::Finished);
    assert_eq!((trials[0].attempts, trials[0].started_ms), (1, Some(12)));
    assert_eq!(trials[0].measurements, record().measurements);
    assert_eq!(trials[0].usage, record().usage);
    assert_eq!(trials[0].planned(), planned(1));
    assert_eq!(trials[0].circumstances, Some(circumstances()));
    assert_eq!((trials[1].state, trials[1].attempts), (TrialState::Running, 1));
    assert_eq!(look.series(study, 1).unwrap(), record().series);
    assert_eq!(look.machines(study).unwrap()[0].cores, 2);
}

#[test]
fn a_second_attempt_replaces_what_the_first_left_and_adds_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let (mut store, study) = store_with_two_trials(&path);
    let mut failed = record();
    failed.outcome = Outcome::Failed { reason: "exit code 3".into() };
    store.start(study, &[planned(1)]).unwrap();
    end(&mut store, study, 1, &failed, &[planned(1)]);
    assert_eq!(store.trials(study).unwrap()[0].state, TrialState::Running);
    let mut last = record();
    last.measurements.clear();
    last.series.clear();
    end(&mut store, study, 1, &last, &[]);
    let trial = store.trials(study).unwrap().remove(0);
    assert_eq!((trial.attempts, trial.reason, trial.measurements.len()), (2, None, 0));
    assert_eq!(trial.used_s, 3.0);
    assert!(Store::look(&path).unwrap().unwrap().series(study, 1).unwrap().is_empty());
}

#[test]
fn the_time_of_an_attempt_that_nobody_saw_end_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let (mut store, study) = store_with_two_trials(&path);
    store.start(study, &[planned(1)]).unwrap();
    store.tell_progress(study, 1, 0.5, &[]).unwrap();
    store.tell_progress(study, 1, 2.5, &[("loss".to_owned(), 0.25)]).unwrap();
    let told = Store::look(&path).unwrap().unwrap().progress(study).unwrap().remove(0);
    assert_eq!((told.number, told.elapsed_s, told.latest["loss"]), (1, 2.5, 0.25));
    store.put_back(study, &[1]).unwrap();
    let trial = store.trials(study).unwrap().remove(0);
    assert_eq!((trial.state, trial.used_s), (TrialState::Planned, 2.5));
    assert!(Store::look(&path).unwrap().unwrap().progress(study).unwrap().is_empty());
}

#[test]
fn keeping_a_study_again_keeps_its_trials() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, study) = store_with_two_trials(&folder.path().join("s.db"));
    assert_eq!(store.update_plan(&update(Vec::new())).unwrap(), study);
    assert_eq!(store.trials(study).unwrap().len(), 2);
    assert_eq!(store.study("demo").unwrap().unwrap().id, study);
    assert_eq!(store.study("other").unwrap(), None);
}

#[test]
fn forgetting_a_plan_spares_what_ran() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, study) = store_with_two_trials(&folder.path().join("s.db"));
    store.start(study, &[planned(1)]).unwrap();
    store.update_plan(&PlanUpdate { forgotten: vec![1, 2], ..update(Vec::new()) }).unwrap();
    let left: Vec<u32> = store.trials(study).unwrap().iter().map(|trial| trial.number).collect();
    assert_eq!(left, [1]);
}

#[test]
fn a_plan_that_cannot_grow_whole_does_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, study) = store_with_two_trials(&folder.path().join("s.db"));
    let before = store.trials(study).unwrap();
    let mut update = update(vec![planned(3), planned(2)]);
    update.forgotten = vec![1];
    update.moved = vec![MovedTrial { number: 2, cell: Some((9, 9)) }];
    assert!(store.update_plan(&update).is_err(), "trial 2 is there already");
    assert_eq!(store.trials(study).unwrap(), before);
}

#[test]
fn a_factor_joins_with_the_value_that_earlier_trials_had() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, study) = store_with_two_trials(&folder.path().join("s.db"));
    let grown = Configuration::new(vec![
        ("threads".into(), Level::Integer(2)),
        ("lr".into(), Level::Number(0.01)),
    ]);
    let joined = vec![(1, grown.clone())];
    store.update_plan(&PlanUpdate { joined, ..update(Vec::new()) }).unwrap();
    let configurations: Vec<Configuration> =
        store.trials(study).unwrap().into_iter().map(|trial| trial.configuration).collect();
    assert_eq!(configurations, [grown, planned(2).configuration]);
}

#[test]
fn outputs_read_again_change_what_was_read_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let (mut store, study) = store_with_two_trials(&path);
    let mut failed = record();
    failed.outcome = Outcome::Failed { reason: "no accuracy".into() };
    failed.measurements.clear();
    failed.series[0].name = "memory".into();
    store.start(study, &[planned(1)]).unwrap();
    end(&mut store, study, 1, &failed, &[]);
    let reread = Reread {
        number: 1,
        outcome: Outcome::Finished,
        measurements: record().measurements,
        curves: record().series,
        rules: json!(["new"]),
        superseded: None,
    };
    store.update_plan(&PlanUpdate { reread: vec![reread], ..update(Vec::new()) }).unwrap();
    let trial = store.trials(study).unwrap().remove(0);
    assert_eq!((trial.state, trial.reason), (TrialState::Finished, None));
    assert_eq!(trial.measurements, record().measurements);
    assert_eq!((trial.attempts, trial.usage), (1, record().usage));
    let expected = Circumstances { rules: json!(["new"]), ..circumstances() };
    assert_eq!(trial.circumstances, Some(expected));
    let look = Store::look(&path).unwrap().unwrap();
    let names: Vec<String> =
        look.series(study, 1).unwrap().into_iter().map(|series| series.name).collect();
    assert_eq!(names, ["memory", "metric.loss"]);
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
}

#[test]
fn a_trial_that_nobody_planned_is_added_when_it_starts() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, study) = store_with_two_trials(&folder.path().join("s.db"));
    let proposed = PlannedTrial { row: None, ..planned(3) };
    store.start(study, std::slice::from_ref(&proposed)).unwrap();
    let trial = store.trials(study).unwrap().remove(2);
    assert_eq!((trial.state, trial.attempts), (TrialState::Running, 1));
    assert_eq!(trial.planned(), proposed);
}

/// `tests/data/version-1.db` was written by the first version: four trials, two of them failed,
/// with a learning curve each.
#[test]
fn a_store_of_version_1_still_reads_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/version-1.db"), &path).unwrap();
    let unchanged = Store::look(&path).unwrap().unwrap();
    let id = unchanged.study("sample").unwrap().unwrap().id;
    assert_eq!(unchanged.trials(id).unwrap().len(), 4, "reading alone does not migrate");
    assert_eq!((unchanged.change(), unchanged.progress(id).unwrap().len()), (0, 0));
    drop(unchanged);
    let mut store = Store::open(&path, Durability::Flushed).unwrap();
    let study = store.study("sample").unwrap().unwrap();
    let states: Vec<TrialState> =
        store.trials(study.id).unwrap().iter().map(|trial| trial.state).collect();
    let (finished, failed) = (TrialState::Finished, TrialState::Failed);
    assert!(store.trials(study.id).unwrap().iter().all(|trial| trial.used_s > 0.0));
    assert_eq!(states, [finished, failed, finished, failed]);
    let look = Store::look(&path).unwrap().unwrap();
    let curve = look.series(study.id, 1).unwrap().remove(0);
    assert_eq!((curve.name.as_str(), curve.values), ("metric.accuracy", vec![0.1, 0.2, 0.3]));
    assert_eq!(look.machines(study.id).unwrap()[0].cores, 2);
    let second = store.trials(study.id).unwrap()[1].planned();
    store.start(study.id, &[second]).unwrap();
    assert_eq!(store.trials(study.id).unwrap()[1].attempts, 2);
}

/// `tests/data/version-4.db` was written by the last version without exclusions: four finished
/// trials.
#[test]
fn a_store_of_version_4_reads_without_exclusions_and_keeps_them_from_now_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/version-4.db"), &path).unwrap();
    let unchanged = Store::look(&path).unwrap().unwrap();
    let id = unchanged.study("sample").unwrap().unwrap().id;
    let trials = unchanged.trials(id).unwrap();
    assert_eq!(trials.len(), 4, "reading alone does not migrate");
    assert!(trials.iter().all(|trial| trial.excluded.is_none()));
    drop(unchanged);
    let mut store = Store::open(&path, Durability::Flushed).unwrap();
    store.exclude(id, 2, Some("the disk was full")).unwrap();
    store.exclude(id, 3, Some("first")).unwrap();
    store.exclude(id, 3, Some("second")).unwrap();
    store.exclude(id, 4, Some("by mistake")).unwrap();
    store.exclude(id, 4, None).unwrap();
    let reasons: Vec<Option<String>> =
        store.trials(id).unwrap().into_iter().map(|trial| trial.excluded).collect();
    let expected = [None, Some("the disk was full"), Some("second"), None];
    assert_eq!(reasons, expected.map(|reason| reason.map(str::to_owned)));
}

/// `tests/data/version-3.db` was written by the last version without clusters: two finished trials.
#[test]
fn a_store_of_version_3_reads_without_clusters_and_keeps_them_from_now_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/version-3.db"), &path).unwrap();
    let unchanged = Store::look(&path).unwrap().unwrap();
    let id = unchanged.study("sample").unwrap().unwrap().id;
    assert_eq!(unchanged.trials(id).unwrap().len(), 2, "reading alone does not migrate");
    assert!(unchanged.cluster_tasks(id).unwrap().is_empty());
    drop(unchanged);
    let mut store = Store::open(&path, Durability::Flushed).unwrap();
    let planned = store.trials(id).unwrap()[1].planned();
    store.start(id, std::slice::from_ref(&planned)).unwrap();
    let task = ClusterTask {
        label: "trial 2".into(),
        partition: 0,
        attempt: 2,
        executor: "1".into(),
        host: "127.0.0.2".into(),
        status: "success".into(),
        speculative: false,
        launched_ms: 5,
        duration_s: Some(0.1 + 0.2),
        scheduler_delay_s: None,
        error: Some("lost".into()),
        usage: None,
    };
    let record = TrialRecord { cluster: vec![task.clone()], ..record() };
    end(&mut store, id, planned.number, &record, &[]);
    drop(store);
    let look = Store::look(&path).unwrap().unwrap();
    assert_eq!(look.cluster_tasks(id).unwrap(), [(2, task)]);
}
