//! What each proposer does beyond the contract.

use std::time::Duration;

use trainwright_search::{
    Arrival, Arrivals, FixedPlan, Proposal, Proposer, RecordedPlan, Unplanned,
};
use trainwright_study::{Configuration, Level, PlannedTrial, Seed};

use crate::contract::{drain, trial};

fn numbers(trials: &[PlannedTrial]) -> Vec<u32> {
    trials.iter().map(|trial| trial.number).collect()
}

#[test]
fn a_plan_runs_in_its_order() {
    let plan = vec![trial(3, 1, 1), trial(1, 2, 1), trial(2, 1, 2)];
    assert_eq!(drain(&mut FixedPlan::new(plan.clone())), plan);
}

#[test]
fn a_recorded_trial_takes_the_place_that_waits_for_it() {
    let known = [trial(1, 10, 1), trial(2, 20, 1), trial(3, 20, 2)];
    let recorded = [trial(9, 20, 2), trial(8, 10, 1), trial(7, 20, 1), trial(6, 99, 1)];
    let mut plan = RecordedPlan::new(&recorded, &known, &[2, 3], Unplanned::LeaveOut);
    assert_eq!(plan.left_out(), 1);
    assert_eq!(numbers(&drain(&mut plan)), [3, 2], "trial 1 has run already");
}

#[test]
fn without_a_design_recorded_trials_join_with_new_numbers() {
    let known = [trial(4, 10, 1)];
    let recorded = [trial(1, 10, 1), trial(2, 20, 1), trial(3, 20, 2)];
    let mut plan = RecordedPlan::new(&recorded, &known, &[], Unplanned::Add);
    let tried = drain(&mut plan);
    assert_eq!(numbers(&tried), [5, 6]);
    assert!(tried.iter().all(|trial| trial.row.is_none()));
    assert_eq!((tried[0].replicate, tried[1].replicate), (1, 2));
}

#[test]
fn numbers_spelled_differently_are_the_same_configuration() {
    let mut spelled = trial(1, 0, 1);
    spelled.configuration = Configuration::new(vec![("x".into(), Level::Number(10.0))]);
    let mut plan = RecordedPlan::new(&[spelled], &[trial(1, 10, 1)], &[1], Unplanned::LeaveOut);
    assert_eq!(numbers(&drain(&mut plan)), [1]);
}

#[test]
fn jobs_come_at_their_time_and_wait_for_a_slot() {
    let seconds = Duration::from_secs_f64;
    let common = Arrival { configuration: Configuration::default(), row: None, seed: Seed::new(7) };
    let mut arrivals = Arrivals::new(common, vec![1.0, 1.5]);
    let Proposal::Later(at) = arrivals.ask(seconds(0.2)) else { panic!("it comes later") };
    assert!(at >= seconds(1.0) && at < seconds(1.1), "{at:?}");
    let Proposal::Try(first) = arrivals.ask(at) else { panic!("it has come") };
    assert_eq!(first.number, 1);
    assert!(matches!(arrivals.ask(at), Proposal::Later(_)), "the second is not there yet");
    let Proposal::Try(second) = arrivals.ask(seconds(1.6)) else { panic!("it has come") };
    assert_ne!(first.seed, second.seed, "jobs are independent");
}
