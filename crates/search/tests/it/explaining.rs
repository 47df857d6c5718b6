//! What a search has learnt.

use trainwright_search::{
    Bayesian, BayesianSettings, Goal, Importance, Space, contour, importances, slices, trace,
};
use trainwright_study::{Configuration, Direction, Level, Seed};

use crate::functions::{number, search, study};

const FACTORS: &str = "[factors.a]\nrange = { from = 0.0, to = 1.0 }\n\
    [factors.b]\nrange = { from = 0.0, to = 1.0 }\n[factors.c]\nlevels = [1, 2, 3]\n";

fn learnt(value: fn(&Configuration) -> f64) -> (Space, Bayesian, trainwright_search::History) {
    let space = Space::of(&study(FACTORS)).unwrap();
    let settings = BayesianSettings::for_space(&space, Seed::new(3));
    let bayesian = Bayesian::new(space.clone(), settings);
    let spread = trainwright_search::PointSearch::new(
        space.clone(),
        trainwright_search::Points::Sobol,
        40,
        Seed::new(1),
    );
    let (own, _) = search(Box::new(spread), 40, &|own| Some(value(own)));
    (space, bayesian, own.known().clone())
}

fn share(found: &[Importance], factors: &[&str]) -> f64 {
    let same = |own: &&Importance| {
        own.factors.len() == factors.len()
            && factors.iter().all(|name| own.factors.iter().any(|own| own == name))
    };
    found.iter().find(same).unwrap().share
}

#[test]
fn shares_of_a_sum_are_those_of_its_parts() {
    // Uniform parts: variances 9/12 and 1/12 of the sum, nothing together.
    let (space, bayesian, known) = learnt(|own| 5.0 + 3.0 * number(own, "a") + number(own, "b"));
    let found = importances(&space, &bayesian.learnt(&known).unwrap(), 1);
    assert!((share(&found, &["a"]) - 0.9).abs() < 0.05, "{found:?}");
    assert!((share(&found, &["b"]) - 0.1).abs() < 0.05, "{found:?}");
    assert!(share(&found, &["c"]) < 0.02 && share(&found, &["a", "b"]) < 0.05, "{found:?}");
    assert!(found.iter().all(|own| own.low <= own.share && own.share <= own.high));
}

#[test]
fn what_two_factors_cause_together_is_told() {
    // (a - 1/2)(b - 1/2): neither alone causes anything.
    let product =
        |own: &Configuration| 5.0 + 4.0 * (number(own, "a") - 0.5) * (number(own, "b") - 0.5);
    let (space, bayesian, known) = learnt(product);
    let found = importances(&space, &bayesian.learnt(&known).unwrap(), 1);
    assert!(share(&found, &["a", "b"]) > 0.7, "{found:?}");
    assert!(share(&found, &["a"]) < 0.2 && share(&found, &["b"]) < 0.2, "{found:?}");
}

#[test]
fn slices_follow_the_function_and_contours_cover_two_factors() {
    let valley =
        |own: &Configuration| 1.0 + (number(own, "a") - 0.3).powi(2) + 0.1 * number(own, "c");
    let (space, bayesian, known) = learnt(valley);
    let surrogate = bayesian.learnt(&known).unwrap();
    let goal = Goal { metric: "y".to_owned(), direction: Direction::Minimize };
    let best = known.best(0).unwrap().configuration;
    let found = slices(&space, &surrogate, &goal, &best);
    let names: Vec<&str> = found.iter().map(|own| own.factor.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let lowest = found[0].points.iter().min_by(|a, b| a.mean.total_cmp(&b.mean)).unwrap();
    assert!((lowest.level.number().unwrap() - 0.3).abs() < 0.1, "{lowest:?}");
    assert!(found[0].points.iter().all(|own| own.low <= own.mean && own.mean <= own.high));
    let levels: Vec<Level> = found[2].points.iter().map(|own| own.level.clone()).collect();
    assert_eq!(levels, [1, 2, 3].map(Level::Integer));
    let over = contour(&space, &surrogate, &goal, &best, ["a", "c"]).unwrap();
    assert_eq!((over.means.len(), over.means[0].len()), (3, 15));
    assert!(contour(&space, &surrogate, &goal, &best, ["a", "none"]).is_none());
}

#[test]
fn the_trace_never_gets_worse_and_promises_less_in_the_end() {
    let (_, bayesian, known) = learnt(|own| 2.0 + (number(own, "a") - 0.3).powi(2));
    let found = trace(&known, Some(&bayesian));
    assert_eq!(found.len(), 40);
    let best: Vec<f64> = found.iter().map(|own| own.best.unwrap()).collect();
    assert!(best.windows(2).all(|pair| pair[1] <= pair[0]));
    assert!(found[0].gain.is_none(), "one trial says nothing of the next");
    let last = found[39].gain.unwrap();
    assert!(last < 0.02, "{last}");
    assert!(trace(&known, None).iter().all(|own| own.gain.is_none()));
}
