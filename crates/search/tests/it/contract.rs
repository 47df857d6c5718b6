//! What every proposer keeps to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use trainwright_search::{
    Arrival, Arrivals, FixedPlan, Proposal, Proposer, RecordedPlan, Unplanned,
};
use trainwright_study::{Configuration, Level, Observation, PlannedTrial, Seed, TrialState};

pub(crate) fn trial(number: u32, x: i64, replicate: u32) -> PlannedTrial {
    PlannedTrial {
        number,
        row: Some(number),
        replicate,
        configuration: Configuration::new(vec![("x".into(), Level::Integer(x))]),
        seed: number,
        block: None,
        whole_plot: None,
    }
}

fn plan() -> Vec<PlannedTrial> {
    (1..=5).map(|number| trial(number, i64::from(number), 1)).collect()
}

/// Asks until there is no more, telling of every trial; gives the trials.
pub(crate) fn drain(proposer: &mut dyn Proposer) -> Vec<PlannedTrial> {
    let (mut now, mut tried) = (Duration::ZERO, Vec::new());
    loop {
        match proposer.ask(now) {
            Proposal::GoOn(trial) => panic!("{trial:?} was never cut short"),
            Proposal::Try(trial) => {
                let told = Observation::of(trial.clone(), TrialState::Finished, BTreeMap::new());
                proposer.tell(&told);
                tried.push(trial);
            }
            Proposal::Later(at) => {
                assert!(at > now, "a proposer that waits names a later time");
                now = at;
            }
            Proposal::Done => return tried,
        }
    }
}

fn check(make: &dyn Fn() -> Box<dyn Proposer>) {
    let mut proposer = make();
    let tried = drain(proposer.as_mut());
    assert!(!tried.is_empty());
    let numbers: BTreeSet<u32> = tried.iter().map(|trial| trial.number).collect();
    assert_eq!(numbers.len(), tried.len(), "no number is proposed twice");
    assert_eq!(proposer.ask(Duration::MAX), Proposal::Done, "done stays done");
    assert_eq!(drain(make().as_mut()), tried, "the same questions get the same answers");
}

#[test]
fn a_fixed_plan_keeps_the_contract() {
    check(&|| Box::new(FixedPlan::new(plan())));
}

#[test]
fn recorded_trials_keep_the_contract() {
    let recorded = [trial(7, 3, 1), trial(8, 1, 1), trial(9, 42, 1)];
    check(&move || Box::new(RecordedPlan::new(&recorded, &plan(), &[1, 3], Unplanned::Add)));
}

#[test]
fn arrivals_keep_the_contract() {
    let common = Arrival { configuration: Configuration::default(), row: None, seed: Seed::new(7) };
    check(&move || Box::new(Arrivals::new(common.clone(), vec![0.0, 0.5, 0.5, 2.0])));
}
