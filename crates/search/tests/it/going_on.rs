//! A search whose trials are cut short at rungs and go on: against a count by hand, and whatever
//! happens in between.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use trainwright_search::{
    Course, CutBy, EarlyStopRule, Goal, History, PointSearch, Points, Proposal, Proposer,
    SearchProposer, Space, StopReason,
};
use trainwright_study::{Direction, Observation, PlannedTrial, Seed, Series, TrialState};

use crate::functions::{BRANIN, aims, rules, study};

/// Steps of a whole trial.
const STEPS: u32 = 9;

fn proposer(trials: u32, cut_short: Option<Vec<PlannedTrial>>) -> SearchProposer {
    let space = Space::of(&study(BRANIN)).unwrap();
    let searcher = Box::new(PointSearch::new(space, Points::Random, 0, Seed::new(3)));
    let goal = Goal { metric: "y".to_owned(), direction: Direction::Minimize };
    let rule = EarlyStopRule::new(CutBy::Halving { factor: 3 }, goal, 1.0);
    let own = SearchProposer::new(searcher, History::new(aims()), Vec::new(), rules(trials, 1));
    let own = own.with_early_stop(rule);
    match cut_short {
        Some(trials) => own.with_going_on(trials),
        None => own,
    }
}

/// Loss of a trial at a step: its own level, a little less each step.
fn loss(level: f64, step: u32) -> f64 {
    level - 0.001 * f64::from(step)
}

/// How far each trial came, and how often it was begun.
#[derive(Debug, Default, Clone, PartialEq)]
struct Life {
    steps: u32,
    attempts: u32,
    finished: bool,
}

/// Runs all that is proposed, one at a time; levels of trials by their number.
fn lives(own: &mut SearchProposer, levels: &[f64]) -> BTreeMap<u32, Life> {
    let mut lives: BTreeMap<u32, Life> = BTreeMap::new();
    loop {
        let (trial, goes_on) = match own.ask(Duration::ZERO) {
            Proposal::Try(trial) => (trial, false),
            Proposal::GoOn(trial) => (trial, true),
            Proposal::Later(_) => panic!("nothing is under way"),
            Proposal::Done => return lives,
        };
        let life = lives.entry(trial.number).or_default();
        assert_eq!(life.steps > 0, goes_on, "only what was begun goes on");
        assert!(!life.finished);
        life.attempts += 1;
        let level = levels[trial.number as usize % levels.len()];
        let mut state = TrialState::Finished;
        while life.steps < STEPS {
            life.steps += 1;
            let values = [("y".to_owned(), loss(level, life.steps))];
            if own.hear(trial.number, f64::from(life.steps), &values) != Course::GoOn {
                state = TrialState::CutShort;
                break;
            }
        }
        life.finished = state == TrialState::Finished;
        let at: Vec<u32> = (1..=life.steps).collect();
        let values: Vec<f64> = at.iter().map(|step| loss(level, *step)).collect();
        let curve = Series {
            name: "metric.y".to_owned(),
            unit: String::new(),
            axis: "step".to_owned(),
            at: at.iter().map(|step| f64::from(*step)).collect(),
            values: values.clone(),
        };
        own.learn(trial.number, &[curve]);
        let told: BTreeMap<String, f64> =
            [("y".to_owned(), values[values.len() - 1])].into_iter().collect();
        let told = Observation::of(trial, state, told);
        own.tell(&Observation { seconds: Some(1.0), ..told });
    }
}

#[test]
fn those_among_the_best_third_of_a_rung_go_on_in_the_end() {
    // Ever better: each one is the best when it comes, so that nothing is cut short.
    let falling: Vec<f64> = (0..12).map(|at| 20.0 - f64::from(at)).collect();
    assert!(lives(&mut proposer(9, Some(Vec::new())), &falling).values().all(|own| own.finished));
    // Ever worse: the first two come through for want of others, then none; of nine at the first
    // rung three may go on, so that the third one does, but it is not the best of three at the next.
    let rising: Vec<f64> = (0..12).map(f64::from).collect();
    let found = lives(&mut proposer(9, Some(Vec::new())), &rising);
    let steps: Vec<u32> = found.values().map(|own| own.steps).collect();
    assert_eq!(steps, [9, 9, 3, 1, 1, 1, 1, 1, 1]);
    assert_eq!(found[&3].attempts, 2);
    // Where trials cannot go on, it stays where it was.
    let found = lives(&mut proposer(9, None), &rising);
    assert_eq!(found[&3], Life { steps: 1, attempts: 1, finished: false });
}

#[test]
fn a_spent_budget_of_trials_does_not_keep_one_from_going_on() {
    let rising: Vec<f64> = (0..12).map(f64::from).collect();
    let mut own = proposer(9, Some(Vec::new()));
    assert_eq!(lives(&mut own, &rising).len(), 9);
    assert_eq!(own.stopped(), Some(&StopReason::TrialsSpent { trials: 9 }));
}

proptest! {
    #[test]
    fn at_each_rung_no_more_go_on_than_may_and_none_of_the_best_is_left(
        levels in prop::collection::vec(0.0..100.0_f64, 12..40),
    ) {
        let trials = levels.len() as u32;
        let found = lives(&mut proposer(trials, Some(Vec::new())), &levels);
        prop_assert_eq!(found.len(), levels.len());
        // What the rule promises in the end: whoever is in the best third of those that reached a
        // rung has gone beyond it.
        for rung in [1, 3] {
            let mut reached: Vec<(f64, u32)> = found
                .iter()
                .filter(|(_, own)| own.steps >= rung)
                .map(|(number, own)| (loss(levels[*number as usize % levels.len()], rung), own.steps))
                .collect();
            reached.sort_by(|a, b| a.0.total_cmp(&b.0));
            let best = &reached[..reached.len() / 3];
            prop_assert!(best.iter().all(|own| own.1 > rung), "rung {rung}: {reached:?}");
        }
        prop_assert!(found.values().all(|own| [1, 3, 9].contains(&own.steps)));
    }
}
