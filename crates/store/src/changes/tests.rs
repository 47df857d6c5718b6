//! Each change by itself, on a store of three planned trials.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use trainwright_study::{Level, TrialState, Usage};

use super::*;
use crate::{Durability, StoredTrial};

fn planned(number: u32) -> PlannedTrial {
    PlannedTrial {
        number,
        row: Some(number),
        replicate: 1,
        configuration: Configuration::new(vec![("x".to_owned(), Level::Integer(number.into()))]),
        seed: 10 + number,
        block: None,
        whole_plot: None,
    }
}

fn measured(metric: &str, value: f64) -> Measurement {
    Measurement { metric: metric.to_owned(), value, in_range: true }
}

fn record(outcome: Outcome, wall_s: f64) -> TrialRecord {
    TrialRecord {
        outcome,
        measurements: vec![measured("y", wall_s)],
        usage: Some(Usage { wall_s, ..Usage::default() }),
        series: Vec::new(),
        command: vec!["run".to_owned()],
        environment: BTreeMap::new(),
        started_ms: 5,
        output_end: "end".to_owned(),
        cluster: Vec::new(),
    }
}

/// A store with trials 1 to 3 of the study `s`, and the study's key.
fn store(folder: &Path) -> (Store, i64) {
    let mut store = Store::open(&folder.join("t.db"), Durability::Unflushed).unwrap();
    let added = (1..=3).map(planned).collect();
    let update = PlanUpdate { name: "s", added, ..PlanUpdate::default() };
    let study = store.update_plan(&update).unwrap();
    (store, study)
}

fn with_store(claim: impl FnOnce(Store, i64)) {
    let folder = tempfile::tempdir().unwrap();
    let (store, study) = store(folder.path());
    claim(store, study);
}

fn trial(store: &Store, study: i64, number: u32) -> StoredTrial {
    store.trials(study).unwrap().into_iter().find(|own| own.number == number).unwrap()
}

fn end(store: &mut Store, study: i64, number: u32, record: &TrialRecord) {
    let machine = store.keep_machine(&Machine::default()).unwrap();
    let own = Circumstances {
        engine: "e".into(),
        slots: 2,
        rules: json!([]),
        task: json!(null),
        superseded: None,
    };
    let circumstances = store.keep_circumstances(&own).unwrap();
    let environment = BTreeMap::new();
    let ended = Ended { number, record, environment, machine, circumstances };
    store.end(study, &ended, &[]).unwrap();
}

fn change(store: &Store) -> i64 {
    Store::look(store.path()).unwrap().unwrap().change()
}

#[test]
fn every_change_raises_the_number_by_one_and_reading_does_not() {
    with_store(|mut store, study| {
        let before = change(&store);
        store.start(study, &[planned(1), planned(2)]).unwrap();
        store.tell_progress(study, 1, 0.5, &[]).unwrap();
        store.put_back(study, &[1, 2]).unwrap();
        store.import(study, &[]).unwrap();
        store.trials(study).unwrap();
        assert_eq!(change(&store), before + 4);
    });
}

#[test]
fn a_change_that_fails_changes_nothing() {
    with_store(|mut store, study| {
        let (before, trials) = (change(&store), store.trials(study).unwrap());
        // The first trial is new, the second is there already.
        let update = PlanUpdate {
            name: "s",
            source: "another",
            forgotten: vec![2],
            added: vec![planned(9), planned(3)],
            ..PlanUpdate::default()
        };
        assert!(store.update_plan(&update).is_err());
        assert_eq!((change(&store), store.trials(study).unwrap()), (before, trials));
        assert_eq!(store.study("s").unwrap().unwrap().source, "");
    });
}

#[test]
fn studies_keep_their_keys_and_their_trials_apart() {
    with_store(|mut store, study| {
        let update = PlanUpdate { name: "other", added: vec![planned(1)], ..PlanUpdate::default() };
        let other = store.update_plan(&update).unwrap();
        assert_ne!(other, study);
        store.start(other, &[planned(1)]).unwrap();
        assert_eq!(trial(&store, study, 1).state, TrialState::Planned);
        let again = PlanUpdate { name: "s", source: "text", ..PlanUpdate::default() };
        assert_eq!(store.update_plan(&again).unwrap(), study);
        assert_eq!(store.trials(study).unwrap().len(), 3);
        assert_eq!(store.study("none").unwrap(), None);
    });
}

#[test]
fn every_start_is_an_attempt() {
    with_store(|mut store, study| {
        for attempts in 1..=3 {
            store.start(study, &[planned(2)]).unwrap();
            let own = trial(&store, study, 2);
            assert_eq!((own.attempts, own.state), (attempts, TrialState::Running));
            assert!(own.has_run() && own.started_ms.is_some());
        }
        assert!(!trial(&store, study, 1).has_run());
    });
}

#[test]
fn only_trials_that_never_ran_are_forgotten() {
    with_store(|mut store, study| {
        store.start(study, &[planned(1)]).unwrap();
        store.put_back(study, &[1]).unwrap();
        let import = ImportedTrial {
            fills: Some(2),
            configuration: planned(2).configuration,
            replicate: 1,
            measurements: Vec::new(),
        };
        store.import(study, &[import]).unwrap();
        let update = PlanUpdate { name: "s", forgotten: vec![1, 2, 3, 4], ..PlanUpdate::default() };
        store.update_plan(&update).unwrap();
        let left: Vec<u32> = store.trials(study).unwrap().iter().map(|own| own.number).collect();
        assert_eq!(left, [1, 2]);
    });
}

#[test]
fn a_trial_outside_the_new_design_keeps_its_replicate() {
    with_store(|mut store, study| {
        let moved = vec![
            MovedTrial { number: 1, cell: Some((7, 2)) },
            MovedTrial { number: 2, cell: None },
        ];
        store.update_plan(&PlanUpdate { name: "s", moved, ..PlanUpdate::default() }).unwrap();
        let place = |number| {
            let own = trial(&store, study, number);
            (own.row, own.replicate)
        };
        assert_eq!([place(1), place(2), place(3)], [(Some(7), 2), (None, 1), (Some(3), 1)]);
    });
}

#[test]
fn each_outcome_is_kept_with_its_reason_and_its_values() {
    let reason = || "why".to_owned();
    for outcome in [
        Outcome::Finished,
        Outcome::Stopped,
        Outcome::Failed { reason: reason() },
        Outcome::Diverged { reason: reason() },
    ] {
        with_store(|mut store, study| {
            store.start(study, &[planned(1)]).unwrap();
            end(&mut store, study, 1, &record(outcome.clone(), 1.5));
            let own = trial(&store, study, 1);
            assert_eq!((own.state, own.reason.as_deref()), (outcome.state(), outcome.reason()));
            assert_eq!((own.used_s, own.measurements), (1.5, vec![measured("y", 1.5)]));
            assert_eq!(own.circumstances.unwrap().slots, 2);
        });
    }
}

#[test]
fn an_end_and_the_next_start_are_one_change() {
    with_store(|mut store, study| {
        store.start(study, &[planned(1)]).unwrap();
        let machine = store.keep_machine(&Machine::default()).unwrap();
        let own = Circumstances {
            engine: "e".into(),
            slots: 1,
            rules: json!(1),
            task: json!(2),
            superseded: None,
        };
        let circumstances = store.keep_circumstances(&own).unwrap();
        let before = change(&store);
        let record = record(Outcome::Finished, 1.0);
        let environment = BTreeMap::new();
        let ended = Ended { number: 1, record: &record, environment, machine, circumstances };
        store.end(study, &ended, &[planned(2), planned(3)]).unwrap();
        assert_eq!(change(&store), before + 1);
        let states: Vec<TrialState> =
            store.trials(study).unwrap().iter().map(|own| own.state).collect();
        assert_eq!(states, [TrialState::Finished, TrialState::Running, TrialState::Running]);
    });
}

#[test]
fn what_is_described_alike_has_one_key() {
    with_store(|mut store, _| {
        let machine = Machine { cores: 4, ..Machine::default() };
        let key = store.keep_machine(&machine).unwrap();
        assert_eq!(store.keep_machine(&machine).unwrap(), key);
        assert_ne!(store.keep_machine(&Machine { cores: 8, ..machine }).unwrap(), key);
    });
}

#[test]
fn progress_is_what_was_told_last_until_the_trial_ends() {
    with_store(|mut store, study| {
        let told = |store: &Store| {
            let all = Store::look(store.path()).unwrap().unwrap().progress(study).unwrap();
            all.into_iter().map(|own| (own.number, own.elapsed_s, own.latest)).collect::<Vec<_>>()
        };
        let latest = |loss: f64| BTreeMap::from([("loss".to_owned(), loss)]);
        store.start(study, &[planned(1), planned(2)]).unwrap();
        store.tell_progress(study, 2, 0.5, &[]).unwrap();
        store.tell_progress(study, 1, 1.0, &[("loss".to_owned(), 3.0)]).unwrap();
        store.tell_progress(study, 1, 2.0, &[("loss".to_owned(), 2.5)]).unwrap();
        assert_eq!(told(&store), [(1, 2.0, latest(2.5)), (2, 0.5, BTreeMap::new())]);
        end(&mut store, study, 1, &record(Outcome::Finished, 2.5));
        store.put_back(study, &[2]).unwrap();
        assert_eq!(told(&store), []);
        assert_eq!((trial(&store, study, 1).used_s, trial(&store, study, 2).used_s), (2.5, 0.5));
    });
}

#[test]
fn a_value_that_is_no_number_hides_no_other_progress() {
    with_store(|mut store, study| {
        store.start(study, &[planned(1)]).unwrap();
        let latest = [("loss".to_owned(), f64::NAN), ("step".to_owned(), 3.0)];
        store.tell_progress(study, 1, 1.0, &latest).unwrap();
        let told = Store::look(store.path()).unwrap().unwrap().progress(study).unwrap();
        assert_eq!(told[0].latest, BTreeMap::from([("step".to_owned(), 3.0)]));
    });
}

#[test]
fn imports_beside_the_plan_get_the_next_numbers() {
    with_store(|mut store, study| {
        let import = |value: f64| ImportedTrial {
            fills: None,
            configuration: planned(8).configuration,
            replicate: 2,
            measurements: vec![measured("y", value)],
        };
        store.import(study, &[import(1.0), import(2.0)]).unwrap();
        store.import(study, &[import(3.0)]).unwrap();
        let all = store.trials(study).unwrap();
        let added: Vec<(u32, Option<u32>, u32, f64)> = all[3..]
            .iter()
            .map(|own| (own.number, own.row, own.replicate, own.measurements[0].value))
            .collect();
        assert_eq!(added, [(4, None, 2, 1.0), (5, None, 2, 2.0), (6, None, 2, 3.0)]);
        assert!(all[3..].iter().all(|own| own.imported && own.state == TrialState::Finished));
    });
}

#[test]
fn outputs_of_a_trial_without_circumstances_are_read_again_without_them() {
    with_store(|mut store, study| {
        let reread = vec![Reread {
            number: 1,
            outcome: Outcome::Finished,
            measurements: vec![measured("y", 4.0)],
            curves: Vec::new(),
            rules: json!(["new"]),
            superseded: None,
        }];
        store.update_plan(&PlanUpdate { name: "s", reread, ..PlanUpdate::default() }).unwrap();
        let own = trial(&store, study, 1);
        assert_eq!((own.state, own.circumstances), (TrialState::Finished, None));
        assert_eq!(own.measurements, [measured("y", 4.0)]);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn numbers_and_texts_come_back_as_they_were(
        value in any::<f64>().prop_filter("finite", |value| value.is_finite()),
        word in "\\PC{0,20}",
        seed in any::<u32>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, study) = store(folder.path());
        let configuration = Configuration::new(vec![
            ("x".to_owned(), Level::Number(value)),
            ("w".to_owned(), Level::Text(word.clone())),
        ]);
        let own = PlannedTrial { number: 4, seed, configuration, ..planned(4) };
        store.start(study, std::slice::from_ref(&own)).unwrap();
        let mut record = record(Outcome::Failed { reason: word.clone() }, 1.0);
        record.measurements = vec![measured(&word, value)];
        end(&mut store, study, 4, &record);
        let kept = trial(&store, study, 4);
        prop_assert_eq!(kept.planned(), own);
        prop_assert_eq!(kept.reason, Some(word.clone()));
        prop_assert_eq!(&kept.measurements, &record.measurements);
        prop_assert_eq!(kept.measurements[0].value.to_bits() << 1, value.to_bits() << 1);
    }
}
