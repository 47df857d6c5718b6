use std::sync::atomic::{AtomicBool, Ordering};

use trainwright_store::{Durability, PlanUpdate, Store};
use trainwright_study::TrialState;

use crate::keeping::{end, planned, record, store_with_two_trials, update};

#[test]
fn a_look_stays_as_it_was_until_it_is_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let (mut store, study) = store_with_two_trials(&path);
    let mut look = Store::look(&path).unwrap().unwrap();
    let before = look.change();
    assert!(!look.renew().unwrap(), "nothing has changed");
    store.start(study, &[planned(1)]).unwrap();
    end(&mut store, study, 1, &record(), &[]);
    let states = |look: &trainwright_store::Snapshot| -> Vec<TrialState> {
        look.trials(study).unwrap().iter().map(|trial| trial.state).collect()
    };
    assert_eq!(states(&look), [TrialState::Planned, TrialState::Planned]);
    assert!(look.series(study, 1).unwrap().is_empty(), "series belong to the same moment");
    assert!(look.renew().unwrap());
    assert!(look.change() > before);
    assert_eq!(states(&look), [TrialState::Finished, TrialState::Planned]);
    assert_eq!(look.series(study, 1).unwrap(), record().series);
}

/// A finished trial without its metric was seen by readers of a running study.
#[test]
fn a_finished_trial_always_has_its_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let mut store = Store::open(&path, Durability::Unflushed).unwrap();
    let all: Vec<_> = (1..=300).map(planned).collect();
    let study =
        store.update_plan(&PlanUpdate { added: all.clone(), ..update(Vec::new()) }).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut looks = 0;
            while !done.load(Ordering::Relaxed) {
                let look = Store::look(&path).unwrap().unwrap();
                for trial in look.trials(study).unwrap() {
                    let measured = trial.measurements.len();
                    let finished = trial.state == TrialState::Finished;
                    assert_eq!(measured, usize::from(finished), "trial {}", trial.number);
                    if finished {
                        assert_eq!(look.series(study, trial.number).unwrap().len(), 1);
                    }
                }
                looks += 1;
            }
            looks
        });
        store.start(study, &all[..1]).unwrap();
        for (index, trial) in all.iter().enumerate() {
            let next = all.get(index + 1..index + 2).unwrap_or_default();
            end(&mut store, study, trial.number, &record(), next);
        }
        done.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
}
