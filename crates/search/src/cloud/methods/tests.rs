//! What sets each published method apart: how it begins, and why it stops.

use super::super::advisor::{Advisor, Stop};
use super::super::history::PastWorkload;
use super::super::method::Method;
use super::super::problem::Objective;
use super::super::replay::tests::{history, problem};
use super::*;

/// Lets a method choose runs of a recorded workload until it stops; gives the runs and the reason.
fn searched(method: Method, tested: &str, objective: Objective, seed: u64) -> (Vec<Told>, Stop) {
    let (history, problem) = (history(), problem(objective));
    let own = history.workloads.iter().find(|own| own.name == tested).unwrap().clone();
    let advisor = method.advisor(&problem, &history.without_group(tested)).unwrap();
    until_stop(advisor.as_ref(), &own, seed)
}

fn until_stop(advisor: &dyn Advisor, own: &PastWorkload, seed: u64) -> (Vec<Told>, Stop) {
    let mut told: Vec<Told> = Vec::new();
    loop {
        let advice = advisor.advise(&told, seed);
        if let Some(stop) = advice.stop {
            return (told, stop);
        }
        let candidate = advice.next.unwrap();
        let run = own.runs[candidate].clone().unwrap();
        let (elapsed_s, completed) = (run.elapsed_s, run.completed);
        told.push(Told { candidate, elapsed_s, completed, metrics: run.metrics });
    }
}

fn places(told: &[Told]) -> Vec<usize> {
    told.iter().map(|own| own.candidate).collect()
}

#[test]
fn cherrypick_takes_six_runs_at_least_and_stops_below_a_tenth() {
    for seed in 0..5 {
        let (told, stop) = searched(Method::Cherrypick, "w01", Objective::Time, seed);
        assert!(told.len() >= 6, "{} runs", told.len());
        let Stop::LittleToGain { expected_gain, threshold } = stop else { panic!("{stop:?}") };
        assert!(expected_gain < threshold && threshold == 0.10);
        // The first three are by chance, as any method's order is.
        assert_eq!(places(&told[..3]), shuffled(&problem(Objective::Time), seed)[..3]);
    }
}

#[test]
fn paris_runs_its_two_references_and_the_best_that_it_foretells() {
    let (told, stop) = searched(Method::Paris, "w02", Objective::Time, 1);
    assert_eq!(stop, Stop::RunsSpent { runs: 3 });
    // The cheapest type, and of those with most processors the cheapest.
    assert_eq!(places(&told[..2]), [0, 2]);
    // The seed changes nothing: there is no chance in it.
    assert_eq!(searched(Method::Paris, "w02", Objective::Time, 9).0, told);
}

#[test]
fn arrow_begins_with_three_that_differ_and_says_what_it_expects_of_the_rest() {
    for seed in 0..5 {
        let (told, stop) = searched(Method::Arrow, "w11", Objective::Cost, seed);
        assert!(told.len() >= 4);
        let families: std::collections::BTreeSet<usize> =
            told[..3].iter().map(|own| own.candidate / 3).collect();
        assert!(families.len() >= 2, "{:?}", places(&told));
        match stop {
            Stop::NoneWithin { expected_ratio, limit } => {
                assert!(expected_ratio > limit && limit == 1.1);
                assert!(stop.words().contains("times the best"), "{}", stop.words());
            }
            other => assert_eq!(other, Stop::AllTried),
        }
    }
}

#[test]
fn scout_climbs_from_one_run_and_gives_up_when_nothing_promises_more() {
    for seed in 0..5 {
        let (told, stop) = searched(Method::Scout, "w12", Objective::Time, seed);
        assert_eq!(told[0].candidate, shuffled(&problem(Objective::Time), seed)[0]);
        match stop {
            Stop::NoneBetter { chance } => assert!(chance < 0.5),
            other => assert_eq!(other, Stop::Misses { runs: 3 }),
        }
    }
}

#[test]
fn micky_names_one_machine_for_all_and_runs_it_once() {
    let (told, stop) = searched(Method::Micky, "w00", Objective::Time, 4);
    assert_eq!((told.len(), stop), (1, Stop::RunsSpent { runs: 1 }));
    // It is what other workloads say alone.
    let others = history().without_group("w00");
    let advisor = Method::Micky.advisor(&problem(Objective::Time), &others).unwrap();
    assert_eq!(advisor.advise(&[], 4).next, Some(told[0].candidate));
}

#[test]
fn tuneful_stops_after_ten_runs_or_when_all_have_run() {
    // Nine candidates are fewer than its least number of runs.
    let (told, stop) = searched(Method::Tuneful, "w20", Objective::Time, 2);
    assert_eq!((told.len(), stop), (9, Stop::AllTried));
}

#[test]
fn coordinate_descent_ends_where_no_neighbour_is_better() {
    for seed in 0..5 {
        let (told, _) = searched(Method::CoordinateDescent, "w02", Objective::Time, seed);
        let best = problem(Objective::Time).best(&told).unwrap().0;
        // Time falls with processors, so that the best is of the largest size.
        assert_eq!(told[best].candidate % 3, 2, "{:?}", places(&told));
    }
}

#[test]
fn trying_everything_tries_everything_in_order() {
    let (told, stop) = searched(Method::Exhaustive, "w00", Objective::Cost, 1);
    assert_eq!(places(&told), (0..9).collect::<Vec<_>>());
    assert_eq!(stop, Stop::AllTried);
    let (told, _) = searched(Method::Random, "w00", Objective::Cost, 1);
    assert_eq!(places(&told), shuffled(&problem(Objective::Cost), 1)[..told.len()]);
}
