//! What every searcher keeps to.

use std::collections::BTreeSet;

use trainwright_search::{
    Bayesian, BayesianSettings, CoordinateDescent, Grid, History, LineSearch, ParzenSettings,
    PointSearch, Points, SearchProposer, Searcher, Space, TreeParzen, Tuneful, TunefulSettings,
};
use trainwright_study::{Configuration, Seed, Study};

use crate::functions::{MIXED, SMALL, aims, ended, mixed, rules, run, search, small, study};

type Make = dyn Fn(&Study, Seed) -> Box<dyn Searcher>;

fn space(study: &Study) -> Space {
    Space::of(study).unwrap()
}

fn start(study: &Study) -> Configuration {
    space(study).candidate(&vec![0.3; study.factors.len()]).unwrap().configuration
}

fn every() -> Vec<(&'static str, Box<Make>)> {
    let points = |own: Points| -> Box<Make> {
        Box::new(move |study, seed| Box::new(PointSearch::new(space(study), own, 12, seed)))
    };
    vec![
        ("grid", Box::new(|study, _| Box::new(Grid::new(&space(study), 4)))),
        ("random", points(Points::Random)),
        ("latin-hypercube", points(Points::LatinHypercube)),
        ("sobol", points(Points::Sobol)),
        (
            "coordinate-descent",
            Box::new(|study, _| Box::new(CoordinateDescent::new(space(study), start(study), 0.05))),
        ),
        (
            "line",
            Box::new(|study, _| {
                Box::new(LineSearch::new(space(study), &study.factors, start(study), 0.05))
            }),
        ),
        (
            "tpe",
            Box::new(|study, seed| {
                let settings = ParzenSettings { start: Points::Sobol, start_count: 6, seed };
                Box::new(TreeParzen::new(space(study), settings))
            }),
        ),
        (
            "bayesian",
            Box::new(|study, seed| {
                let settings = BayesianSettings::for_space(&space(study), seed);
                Box::new(Bayesian::new(space(study), settings))
            }),
        ),
        (
            "tuneful",
            Box::new(|study, seed| {
                let settings = TunefulSettings::published(seed);
                let settings = TunefulSettings { round: 4, stop: None, ..settings };
                Box::new(Tuneful::new(space(study), settings))
            }),
        ),
    ]
}

/// A function with a region that fails.
fn partly(own: &Configuration) -> Option<f64> {
    let fails = own.get("batch").and_then(|level| level.number()) == Some(128.0);
    (!fails).then(|| mixed(own))
}

fn identities(trials: &[trainwright_study::PlannedTrial]) -> Vec<String> {
    trials.iter().map(|trial| trial.configuration.identity()).collect()
}

#[test]
fn names_are_those_of_study_files() {
    for (name, make) in every() {
        assert_eq!(make(&study(SMALL), Seed::new(1)).name(), name);
    }
}

#[test]
fn nothing_is_tried_twice_and_constraints_are_kept() {
    for (name, make) in every() {
        for slots in [1, 3] {
            let study = study(MIXED);
            let searcher = make(&study, Seed::new(3));
            let mut own =
                SearchProposer::new(searcher, History::new(aims()), Vec::new(), rules(30, 1));
            let tried = run(&mut own, slots, &partly);
            assert!(tried.len() > 3, "{name}");
            let different: BTreeSet<String> = identities(&tried).into_iter().collect();
            assert_eq!(different.len(), tried.len(), "{name} with {slots} slots");
            let space = space(&study);
            for trial in &tried {
                let point = space.point(&trial.configuration).unwrap();
                assert!(space.candidate(&point).is_some(), "{name}: {}", trial.configuration);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_search() {
    for (name, make) in every() {
        let tried = |seed: u64| {
            let searcher = make(&study(MIXED), Seed::new(seed));
            identities(&search(searcher, 16, &partly).1)
        };
        assert_eq!(tried(7), tried(7), "{name}");
        if !["grid", "coordinate-descent", "line"].contains(&name) {
            assert_ne!(tried(7), tried(8), "{name}");
        }
    }
}

#[test]
fn a_search_that_was_interrupted_goes_on_as_if_it_had_not_been() {
    for (name, make) in every() {
        let study = study(MIXED);
        let (_, whole) = search(make(&study, Seed::new(4)), 18, &partly);
        for cut in [1, 7, 12] {
            if cut >= whole.len() {
                continue;
            }
            let mut known = History::new(aims());
            // Trials that ended are told in another order; one was under way.
            for trial in whole[..cut].iter().rev() {
                known.tell(&ended(trial, partly(&trial.configuration)));
            }
            let waiting = vec![whole[cut].clone()];
            let searcher = make(&study, Seed::new(4));
            let mut own = SearchProposer::new(searcher, known, waiting, rules(18, 1));
            assert_eq!(run(&mut own, 1, &partly), whole[cut..], "{name} after {cut}");
        }
    }
}

#[test]
fn a_small_space_is_searched_to_its_end() {
    for (name, make) in every() {
        let (own, tried) = search(make(&study(SMALL), Seed::new(2)), 100, &|own| Some(small(own)));
        assert!(tried.len() <= 12, "{name}");
        assert!(own.stopped().is_some(), "{name}");
        let least = own.known().best(0).and_then(|cell| cell.loss(0));
        assert_eq!(least, Some(0.0), "{name}: {:?}", own.stopped());
    }
}

#[test]
fn replicates_come_before_new_configurations() {
    for (name, make) in every() {
        let searcher = make(&study(SMALL), Seed::new(2));
        let mut own = SearchProposer::new(searcher, History::new(aims()), Vec::new(), rules(9, 3));
        let tried = run(&mut own, 1, &|own| Some(small(own)));
        let replicates: Vec<u32> = tried.iter().map(|trial| trial.replicate).collect();
        assert_eq!(replicates, [1, 2, 3, 1, 2, 3, 1, 2, 3], "{name}");
        let seeds: BTreeSet<u32> = tried.iter().map(|trial| trial.seed).collect();
        assert_eq!(seeds.len(), 9, "{name}: every trial has a seed of its own");
    }
}
