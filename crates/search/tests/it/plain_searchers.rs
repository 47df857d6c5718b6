//! Searchers that need no model: grids, spread points, descents and line searches.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use trainwright_search::{
    Confirm, CoordinateDescent, Grid, History, LineSearch, PointSearch, Points, Proposal, Proposer,
    SearchProposer, SearchRules, Space, StopReason,
};
use trainwright_study::{Configuration, Level, Seed};

use crate::functions::{SMALL, aims, best, ended, number, rules, run, search, small, study};

fn space(factors: &str) -> Space {
    Space::of(&study(factors)).unwrap()
}

fn words(all: &[Configuration]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

/// All that a grid tries, in its order.
fn of_grid(factors: &str, points: u32) -> Vec<Configuration> {
    let grid = Grid::new(&space(factors), points);
    let size = grid.size();
    let (own, tried) = search(Box::new(grid), 500, &|_| Some(1.0));
    assert_eq!(own.stopped(), Some(&StopReason::PlanComplete));
    assert_eq!(tried.len(), size);
    tried.into_iter().map(|trial| trial.configuration).collect()
}

#[test]
fn a_grid_has_every_level_both_ends_of_a_range_and_the_last_factor_slowest() {
    let levels = "[factors.a]\nlevels = [1, 2]\n[factors.b]\nlevels = [\"x\", \"y\"]\n";
    assert_eq!(words(&of_grid(levels, 9)), ["a=1 b=x", "a=2 b=x", "a=1 b=y", "a=2 b=y"]);
    let range = "[factors.x]\nrange = { from = 0.0, to = 1.0 }\n[factors.n]\nrange = { from = 1, to = 100 }\n";
    let found = of_grid(range, 3);
    let numbers: Vec<(f64, f64)> =
        found.iter().map(|own| (number(own, "x"), number(own, "n"))).collect();
    assert_eq!(numbers.len(), 9);
    assert_eq!(numbers[0], (0.0, 1.0));
    assert_eq!(numbers[8], (1.0, 100.0));
    assert_eq!(numbers[4].0, 0.5);
}

#[test]
fn a_grid_leaves_out_what_constraints_forbid() {
    let factors = "[factors.a]\nlevels = [1, 2, 3]\n[factors.b]\nlevels = [1, 2, 3]\n\
                   [[constraint]]\nexpr = \"a + b <= 4\"\n";
    let found = of_grid(factors, 3);
    assert_eq!(found.len(), 6);
    assert!(found.iter().all(|own| number(own, "a") + number(own, "b") <= 4.0));
}

#[test]
fn one_of_so_many_points_lies_in_every_part_of_every_range() {
    let factors = "[factors.a]\nrange = { from = 0.0, to = 8.0 }\n[factors.b]\nrange = { from = -1.0, to = 1.0 }\n";
    let found = Points::LatinHypercube.configurations(&space(factors), 16, Seed::new(3));
    assert_eq!(found.len(), 16);
    for (name, low, width) in [("a", 0.0, 8.0), ("b", -1.0, 2.0)] {
        let parts: BTreeSet<usize> = found
            .iter()
            .map(|own| ((number(own, name) - low) / width * 16.0).floor().min(15.0) as usize)
            .collect();
        assert_eq!(parts.len(), 16, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn spread_points_differ_keep_constraints_and_follow_from_the_seed(
        count in 1_usize..30, seed in 0_u64..1000,
    ) {
        let factors = "[factors.a]\nlevels = [1, 2, 3, 4]\n[factors.x]\nrange = { from = 0.0, to = 1.0 }\n\
                       [[constraint]]\nexpr = \"a * x <= 2\"\n";
        let space = space(factors);
        for points in [Points::Random, Points::LatinHypercube, Points::Sobol] {
            let found = points.configurations(&space, count, Seed::new(seed));
            let seen: BTreeSet<String> = found.iter().map(Configuration::identity).collect();
            prop_assert_eq!((seen.len(), found.len()), (count, count), "{:?}", points);
            prop_assert!(found.iter().all(|own| number(own, "a") * number(own, "x") <= 2.0));
            let again = points.configurations(&space, count, Seed::new(seed));
            prop_assert_eq!(found, again, "{:?}", points);
        }
    }
}

#[test]
fn a_small_space_gives_all_that_it_has_and_no_more() {
    for points in [Points::Random, Points::LatinHypercube, Points::Sobol] {
        let found = points.configurations(&space(SMALL), 100, Seed::new(1));
        assert_eq!(found.len(), 12, "{points:?}");
    }
    let own = PointSearch::new(space(SMALL), Points::Random, 0, Seed::new(2));
    let (own, tried) = search(Box::new(own), 50, &|own| Some(small(own)));
    assert_eq!((tried.len(), own.stopped()), (12, Some(&StopReason::SpaceExhausted)));
}

#[test]
fn a_descent_over_levels_ends_at_the_best_of_a_sum() {
    let factors = "[factors.a]\nlevels = [1, 2, 3, 4, 5, 6]\n[factors.b]\nlevels = [\"x\", \"y\", \"z\"]\n\
                   [factors.c]\nlevels = [10, 20, 30]\n";
    let value = |own: &Configuration| {
        let text = match own.get("b") {
            Some(Level::Text(name)) => f64::from(name.as_bytes()[0]) - 121.0,
            _ => unreachable!("the factor is a text"),
        };
        (number(own, "a") - 5.0).powi(2) + text.abs() + (number(own, "c") - 10.0).abs() / 10.0
    };
    let space = space(factors);
    for corner in [[0.0, 0.0, 0.0], [0.99, 0.99, 0.99], [0.5, 0.1, 0.9]] {
        let start = space.candidate(&corner).unwrap().configuration;
        let descent = CoordinateDescent::new(space.clone(), start, 0.05);
        let (own, tried) = search(Box::new(descent), 200, &|own| Some(value(own)));
        assert_eq!(best(&own), 0.0, "from {corner:?}");
        assert!(tried.len() < 54, "less than everything: {}", tried.len());
        let ended = StopReason::NoStepImproves { at_edge: Vec::new() };
        assert_eq!(own.stopped(), Some(&ended));
    }
}

#[test]
fn a_descent_leaves_a_start_that_fails() {
    let space = space("[factors.a]\nlevels = [1, 2, 3]\n[factors.b]\nlevels = [1, 2, 3]\n");
    let start = space.candidate(&[0.0, 0.0]).unwrap().configuration;
    let descent = CoordinateDescent::new(space, start, 0.05);
    let value = |own: &Configuration| {
        let sum = number(own, "a") + number(own, "b");
        (sum > 2.0).then_some(10.0 - sum)
    };
    let (own, _) = search(Box::new(descent), 50, &value);
    assert_eq!(best(&own), 4.0);
}

#[test]
fn a_line_search_leaves_a_start_at_zero() {
    // A study's line search begins at the lowest values, and 0 is one of the commonest.
    let factors = "[factors.dropout]\nrange = { from = 0.0, to = 0.8 }\n[factors.warmup]\nlevels = [0, 100, 1000]\n\
                   [factors.shift]\nrange = { from = -4, to = 4 }\n";
    let study = study(factors);
    let space = Space::of(&study).unwrap();
    let start = space.candidate(&[0.0; 3]).unwrap().configuration;
    assert_eq!(start.to_string(), "dropout=0 warmup=0 shift=-4");
    let value = |own: &Configuration| {
        let warm = (number(own, "warmup") - 100.0).abs() / 1000.0;
        (number(own, "dropout") - 0.3).powi(2) + warm + (number(own, "shift") - 1.0).powi(2)
    };
    let line = LineSearch::new(space, &study.factors, start, 0.05);
    let (own, _) = search(Box::new(line), 200, &|own| Some(value(own)));
    let found = own.known().best(0).unwrap().configuration;
    assert_eq!((number(&found, "warmup"), number(&found, "shift")), (100.0, 1.0), "{found}");
    assert!((number(&found, "dropout") - 0.3).abs() < 0.03, "{found}");
    assert_eq!(own.stopped(), Some(&StopReason::NoStepImproves { at_edge: Vec::new() }));
}

#[test]
fn the_best_are_run_again_in_the_end_until_they_have_enough() {
    let rules = SearchRules { confirm: Some(Confirm { best: 2, replications: 3 }), ..rules(6, 1) };
    let searcher = PointSearch::new(space(SMALL), Points::Random, 0, Seed::new(4));
    let mut own = SearchProposer::new(Box::new(searcher), History::new(aims()), Vec::new(), rules);
    let tried = run(&mut own, 2, &|own| Some(small(own)));
    assert_eq!(tried.len(), 6 + 4, "two more trials of each of the two best");
    let mut cells = own.known().cells();
    cells.sort_by(|a, b| a.loss(0).unwrap().total_cmp(&b.loss(0).unwrap()));
    let counts: Vec<u32> = cells.iter().map(|cell| cell.measured()).collect();
    assert_eq!(counts, [3, 3, 1, 1, 1, 1]);
    let again: Vec<u32> = tried[6..].iter().map(|trial| trial.replicate).collect();
    assert_eq!(again.iter().filter(|own| **own == 2).count(), 2, "{again:?}");
    let seeds: BTreeSet<u32> = tried.iter().map(|trial| trial.seed).collect();
    assert_eq!(seeds.len(), tried.len(), "replicates have seeds of their own");
}

#[test]
fn who_is_confirmed_is_settled_once_and_lucky_values_do_not_win() {
    // The search's own trials of half the configurations are lucky; the true values are those of
    // `small`, which confirming trials give.
    let confirm = Confirm { best: 3, replications: 4 };
    let rules = SearchRules { confirm: Some(confirm), ..rules(12, 1) };
    for slots in [1, 3] {
        let searcher = PointSearch::new(space(SMALL), Points::Random, 0, Seed::new(4));
        let known = History::new(aims());
        let mut own = SearchProposer::new(Box::new(searcher), known, Vec::new(), rules.clone());
        let seen = std::cell::RefCell::new(std::collections::BTreeMap::<String, u32>::new());
        let noisy = |own: &trainwright_study::Configuration| {
            let mut seen = seen.borrow_mut();
            let times = seen.entry(own.identity()).or_default();
            *times += 1;
            let luck = if *times == 1 && number(own, "a") < 3.0 { 9.0 } else { 0.0 };
            Some(small(own) - luck + f64::from(*times) / 100.0)
        };
        let tried = run(&mut own, slots, &noisy);
        assert_eq!(tried.len(), 12 + 3 * 3, "{slots} slots");
        let blocks: Vec<u32> = tried[12..].iter().map(|trial| trial.replicate).collect();
        assert_eq!(blocks, [2, 2, 2, 3, 3, 3, 4, 4, 4], "{slots} slots");
        let judged = confirm.judged(own.known(), 1);
        assert_eq!(
            judged.iter().map(trainwright_search::Cell::measured).collect::<Vec<_>>(),
            [3, 3, 3]
        );
        assert!(judged[0].loss(0).unwrap() > 0.0, "the luck of the first trial does not count");
    }
}

#[test]
fn a_trial_that_was_given_back_is_the_next_one() {
    let searcher = PointSearch::new(space(SMALL), Points::Random, 0, Seed::new(4));
    let mut own =
        SearchProposer::new(Box::new(searcher), History::new(aims()), Vec::new(), rules(3, 1));
    let Proposal::Try(first) = own.ask(Duration::ZERO) else { panic!("there is one") };
    let Proposal::Try(second) = own.ask(Duration::ZERO) else { panic!("there is another") };
    own.put_back(second.clone());
    assert_eq!(own.ask(Duration::ZERO), Proposal::Try(second.clone()));
    for trial in [first, second] {
        own.tell(&ended(&trial, Some(1.0)));
    }
    assert!(matches!(own.ask(Duration::ZERO), Proposal::Try(third) if third.number == 3));
}

#[test]
fn reasons_to_stop_are_told_in_words_and_as_json() {
    for (reason, words, json) in [
        (
            StopReason::HoursSpent { hours: 1.234 },
            "the budget is spent: trials took 1.23 hours",
            r#"{"reason":"hours-spent","hours":1.234}"#,
        ),
        (
            StopReason::MoneySpent { money: 7.5 },
            "the budget is spent: trials cost 7.50",
            r#"{"reason":"money-spent","money":7.5}"#,
        ),
        (
            StopReason::LittleToGain { share: 0.004, threshold: 0.01 },
            "little is left to gain: the next trial is expected to improve the best by 0.40 %, less than 1.00 %",
            r#"{"reason":"little-to-gain","share":0.004,"threshold":0.01}"#,
        ),
        (
            StopReason::SpaceExhausted,
            "every configuration was tried",
            r#"{"reason":"space-exhausted"}"#,
        ),
        (
            StopReason::NoStepImproves { at_edge: vec!["lr".to_owned(), "batch".to_owned()] },
            "no step from the best configuration improves it, but lr, batch ended at the edge of the range: a wider range may hold a better value",
            r#"{"reason":"no-step-improves","at_edge":["lr","batch"]}"#,
        ),
    ] {
        assert_eq!(reason.to_string(), words);
        assert_eq!(serde_json::to_string(&reason).unwrap(), json);
    }
}

#[test]
fn a_grid_thins_ranges_and_leaves_no_level_out() {
    let factors = "[factors.a]\nlevels = [1, 2, 3, 4, 5, 6, 7, 8]\n\
                   [factors.b]\nlevels = [\"p\", \"q\", \"r\", \"s\"]\n\
                   [factors.x]\nrange = { from = 0.0, to = 1.0 }\n";
    let found = of_grid(factors, 2);
    assert_eq!(found.len(), 8 * 4 * 2);
    for (name, levels) in [("a", 8), ("b", 4), ("x", 2)] {
        let seen: BTreeSet<String> =
            found.iter().map(|own| own.get(name).unwrap().to_string()).collect();
        assert_eq!(seen.len(), levels, "{name}: {seen:?}");
    }
}

#[test]
fn a_grid_of_more_points_than_a_machine_can_hold_is_cut() {
    let factors: String = (0..30)
        .map(|at| format!("[factors.f{at}]\nrange = {{ from = 0.0, to = 1.0 }}\n"))
        .collect();
    assert_eq!(Grid::new(&space(&factors), 9).size(), 1 << 16);
}
