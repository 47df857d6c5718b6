//! How well searches search.

use trainwright_random::Random;
use trainwright_search::{
    Aims, Bayesian, BayesianSettings, CoordinateDescent, Goal, History, Limit, LineSearch,
    LittleToGain, ParzenSettings, PointSearch, Points, SearchBudget, SearchProposer, SearchRules,
    Searcher, Side, Space, StopReason, TreeParzen, TrialCost, Tuneful, TunefulSettings,
};
use trainwright_study::{Direction, Level, Seed};

use crate::functions::{
    BRANIN, MIXED, aims, best, branin, ended, mixed, number, rules, run, search, study,
};

fn bayesian(factors: &str, seed: u64) -> Box<dyn Searcher> {
    let space = Space::of(&study(factors)).unwrap();
    let settings = BayesianSettings::for_space(&space, Seed::new(seed));
    Box::new(Bayesian::new(space, settings))
}

fn parzen(factors: &str, seed: u64) -> Box<dyn Searcher> {
    let space = Space::of(&study(factors)).unwrap();
    let seed = Seed::new(seed);
    Box::new(TreeParzen::new(space, ParzenSettings { start: Points::Sobol, start_count: 8, seed }))
}

fn random(factors: &str, seed: u64) -> Box<dyn Searcher> {
    let space = Space::of(&study(factors)).unwrap();
    Box::new(PointSearch::new(space, Points::Random, 0, Seed::new(seed)))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn a_bayesian_search_finds_the_least_of_branin_in_25_trials() {
    let found =
        (0..7).map(|seed| best(&search(bayesian(BRANIN, seed), 25, &|own| Some(branin(own))).0));
    let found = median(found.collect());
    assert!(found < 0.45, "the least is 0.398, found {found}");
}

#[test]
fn searches_that_learn_beat_chance() {
    let medians = [bayesian, parzen, random].map(|make| {
        let one = |seed: u64| best(&search(make(MIXED, seed), 40, &|own| Some(mixed(own))).0);
        median((0..9).map(one).collect())
    });
    let [bayesian, parzen, random] = medians;
    assert!(bayesian < 0.52, "the least is 0.5, found {bayesian}");
    assert!(bayesian < random && parzen < random, "{medians:?}");
}

#[test]
fn a_search_learns_where_trials_fail() {
    // Half of the space fails; the least of the rest is at its border.
    let value =
        |own: &trainwright_study::Configuration| (number(own, "a") < 2.0).then(|| branin(own));
    let (own, tried) = search(bayesian(BRANIN, 3), 40, &value);
    let failed = tried[20..].iter().filter(|own| number(&own.configuration, "a") >= 2.0).count();
    assert!(failed <= 7, "{failed} of the last 20 trials failed");
    assert!(best(&own) < 0.6, "{}", best(&own));
}

const HALF_FAILS: &str = "[factors.a]\nrange = { from = 0.0, to = 1.0 }\n\
                          [factors.b]\nrange = { from = 0.01, to = 100.0 }\nscale = \"log\"\n";

/// How many of 40 trials fail, over six seeds, and the worst of the best values.
fn failures_of(
    value: &dyn Fn(&trainwright_study::Configuration) -> Option<f64>,
) -> (Vec<usize>, f64) {
    let one = |seed: u64| {
        let (own, tried) = search(bayesian(HALF_FAILS, seed), 40, value);
        (tried.iter().filter(|own| value(&own.configuration).is_none()).count(), best(&own))
    };
    let all: Vec<(usize, f64)> = (0..6).map(one).collect();
    let worst = all.iter().map(|own| own.1).fold(f64::NEG_INFINITY, f64::max);
    (all.into_iter().map(|own| own.0).collect(), worst)
}

#[test]
fn few_trials_fail_although_the_best_ones_are_beside_those_that_do() {
    let at_border = |own: &trainwright_study::Configuration| {
        let (a, b) = (number(own, "a"), number(own, "b"));
        (a >= 0.5).then(|| 1.0 + a + b.ln().powi(2) / 10.0)
    };
    let inside = |own: &trainwright_study::Configuration| {
        let (a, b) = (number(own, "a"), number(own, "b"));
        (a >= 0.5).then(|| 1.0 + (a - 0.8).powi(2) + b.ln().powi(2) / 10.0)
    };
    // Sobol points make 2 or 3 of the first 5 fail, whatever follows.
    for (value, most, least) in [(&at_border as &dyn Fn(&_) -> _, 9, 1.55), (&inside, 12, 1.01)] {
        let (failed, worst) = failures_of(value);
        assert!(failed.iter().all(|own| *own <= most), "{failed:?} of 40 trials failed");
        assert!(worst < least, "{worst}");
    }
}

#[test]
fn a_limit_is_kept_by_what_is_called_best() {
    let study = study(BRANIN);
    let space = Space::of(&study).unwrap();
    let settings = BayesianSettings::for_space(&space, Seed::new(1));
    let limit = Limit { metric: "t".to_owned(), side: Side::AtMost, bound: 5.0 };
    let known = History::new(Aims { limits: vec![limit], ..aims() });
    let searcher = Box::new(Bayesian::new(space, settings));
    let mut own = SearchProposer::new(searcher, known, Vec::new(), rules(30, 1));
    let mut kept = 0;
    loop {
        use trainwright_search::{Proposal, Proposer};
        let Proposal::Try(trial) = own.ask(std::time::Duration::ZERO) else { break };
        let time = 5.0 + number(&trial.configuration, "a");
        kept += u32::from(time <= 5.0 && trial.number > 10);
        let mut told = ended(&trial, Some(branin(&trial.configuration)));
        told.values.insert("t".to_owned(), time);
        own.tell(&told);
    }
    let best = own.known().best(0).unwrap();
    assert!(number(&best.configuration, "a") <= 0.0);
    assert!(best.loss(0).unwrap() < 0.6, "{best:?}");
    assert!(kept >= 14, "{kept} of 20 trials kept the limit");
}

#[test]
fn noise_does_not_fool_a_search_for_long() {
    let noisy = |own: &trainwright_study::Configuration| {
        // Noise that depends on the configuration, so that the search stays repeatable.
        let bits = own
            .identity()
            .bytes()
            .fold(7, |sum, byte| trainwright_random::mix(sum ^ u64::from(byte)));
        Some(branin(own) + 4.0 * (Random::new(bits).unit() - 0.5))
    };
    let found = (0..5).map(|seed| {
        let (own, _) = search(bayesian(BRANIN, seed), 40, &noisy);
        let cell = own.known().best(0).unwrap();
        branin(&cell.configuration)
    });
    let found = median(found.collect());
    assert!(found < 2.5, "{found}");
}

#[test]
fn a_search_stops_when_little_is_left_to_gain() {
    let space = Space::of(&study(BRANIN)).unwrap();
    let stop = Some(LittleToGain { threshold: 0.01, least: 10 });
    let settings = BayesianSettings { stop, ..BayesianSettings::for_space(&space, Seed::new(2)) };
    let (own, tried) =
        search(Box::new(Bayesian::new(space, settings)), 80, &|own| Some(10.0 + branin(own)));
    assert!(matches!(own.stopped(), Some(StopReason::LittleToGain { .. })), "{:?}", own.stopped());
    assert!((10..70).contains(&tried.len()), "{}", tried.len());
    assert!(best(&own) < 10.6, "{}", best(&own));
}

#[test]
fn several_slots_stop_when_little_is_left_to_gain_too() {
    let space = Space::of(&study(BRANIN)).unwrap();
    let stop = Some(LittleToGain { threshold: 0.05, least: 12 });
    let settings = BayesianSettings { stop, ..BayesianSettings::for_space(&space, Seed::new(2)) };
    for slots in [1, 2, 4] {
        let searcher = Box::new(Bayesian::new(space.clone(), settings));
        let mut own = SearchProposer::new(searcher, History::new(aims()), Vec::new(), rules(60, 1));
        let tried = run(&mut own, slots, &|own| Some(10.0 + branin(own)));
        assert!(matches!(own.stopped(), Some(StopReason::LittleToGain { .. })), "{slots} slots");
        assert!(tried.len() < 45, "{} with {slots} slots", tried.len());
    }
}

#[test]
fn a_search_whose_best_value_is_0_stops_too() {
    let space = Space::of(&study(BRANIN)).unwrap();
    let stop = Some(LittleToGain { threshold: 0.05, least: 12 });
    let settings = BayesianSettings { stop, ..BayesianSettings::for_space(&space, Seed::new(2)) };
    let bowl = |own: &trainwright_study::Configuration| {
        Some((number(own, "a") - 2.0).powi(2) + (number(own, "b") - 5.0).powi(2))
    };
    let (own, _) = search(Box::new(Bayesian::new(space, settings)), 60, &bowl);
    assert!(matches!(own.stopped(), Some(StopReason::LittleToGain { .. })), "{:?}", own.stopped());
    assert!(best(&own) < 0.05, "{}", best(&own));
}

#[test]
fn what_did_well_elsewhere_is_tried_although_a_design_has_run() {
    let known_good = || {
        let space = Space::of(&study(BRANIN)).unwrap();
        vec![space.candidate(&[0.11, 0.22]).unwrap().configuration]
    };
    let space = Space::of(&study(BRANIN)).unwrap();
    let settings = BayesianSettings::for_space(&space, Seed::new(1));
    let parzen = ParzenSettings { start: Points::Sobol, start_count: 8, seed: Seed::new(1) };
    let searchers: [Box<dyn Searcher>; 2] = [
        Box::new(Bayesian::new(space.clone(), settings).starting_with(known_good())),
        Box::new(TreeParzen::new(space, parzen).starting_with(known_good())),
    ];
    let (design, _) = search(random(BRANIN, 9), 20, &|own| Some(branin(own)));
    for mut own in searchers {
        let next = own.suggest(design.known());
        assert_eq!(
            next,
            trainwright_search::Suggestion::Try(known_good().remove(0)),
            "{}",
            own.name()
        );
    }
}

#[test]
fn a_descent_ends_beside_no_better_whole_number() {
    for (factor, best) in [
        ("[factors.a]\nrange = { from = 1, to = 9 }\nscale = \"log2\"\n", 6.0),
        ("[factors.a]\nrange = { from = 1, to = 100 }\n", 37.0),
    ] {
        let space = Space::of(&study(factor)).unwrap();
        let start = space.candidate(&[0.5]).unwrap().configuration;
        let descent = CoordinateDescent::new(space, start, 0.05);
        let value =
            |own: &trainwright_study::Configuration| Some((number(own, "a") - best).powi(2));
        let (own, _) = search(Box::new(descent), 60, &value);
        let found = own.known().best(0).unwrap();
        assert_eq!(number(&found.configuration, "a"), best);
        assert_eq!(own.stopped(), Some(&StopReason::NoStepImproves { at_edge: Vec::new() }));
    }
}

#[test]
fn several_goals_are_traded_off() {
    let goals = vec![
        Goal { metric: "y".to_owned(), direction: Direction::Minimize },
        Goal { metric: "z".to_owned(), direction: Direction::Maximize },
    ];
    let space = Space::of(&study(BRANIN)).unwrap();
    let settings = BayesianSettings::for_space(&space, Seed::new(1));
    let known = History::new(Aims { goals, ..Aims::default() });
    let searcher = Box::new(Bayesian::new(space, settings));
    let mut own = SearchProposer::new(searcher, known, Vec::new(), rules(40, 1));
    loop {
        use trainwright_search::{Proposal, Proposer};
        let Proposal::Try(trial) = own.ask(std::time::Duration::ZERO) else { break };
        let mut told = ended(&trial, Some(branin(&trial.configuration)));
        told.values.insert("z".to_owned(), number(&trial.configuration, "a"));
        own.tell(&told);
    }
    let best = |goal: usize| own.known().best(goal).unwrap().loss(goal).unwrap();
    assert!(best(0) < 2.0 && best(1) < -9.5, "{} {}", best(0), best(1));
}

#[test]
fn a_descent_ends_at_a_valley_and_a_line_search_at_an_edge() {
    let factors =
        "[factors.a]\nrange = { from = 1, to = 64 }\n[factors.b]\nlevels = [\"x\", \"y\"]\n";
    let study = study(factors);
    let space = Space::of(&study).unwrap();
    let start = space.candidate(&[0.2, 0.0]).unwrap().configuration;
    let value = |own: &trainwright_study::Configuration| {
        let worse = f64::from(u8::from(own.get("b") == Some(&Level::Text("x".into()))));
        Some(((number(own, "a") - 40.0) / 10.0).powi(2) + worse)
    };
    let descent = CoordinateDescent::new(space.clone(), start.clone(), 0.05);
    let (own, _) = search(Box::new(descent), 60, &value);
    assert!(best(&own) < 0.05, "{}", best(&own));
    let falling = |own: &trainwright_study::Configuration| Some(1.0 / number(own, "a"));
    let line = LineSearch::new(space, &study.factors, start, 0.05);
    let (own, tried) = search(Box::new(line), 60, &falling);
    assert_eq!(own.stopped(), Some(&StopReason::NoStepImproves { at_edge: vec!["a".to_owned()] }));
    assert!(tried.len() < 12, "doubling is quick: {}", tried.len());
}

#[test]
fn a_line_search_stops_at_a_tie() {
    let study = study("[factors.a]\nrange = { from = 1, to = 1024 }\n");
    let space = Space::of(&study).unwrap();
    let start = space.candidate(&[0.0]).unwrap().configuration;
    let line = LineSearch::new(space, &study.factors, start, 0.05);
    let mut own =
        SearchProposer::new(Box::new(line), History::new(aims()), Vec::new(), rules(90, 3));
    let mut random = Random::new(3);
    let mut flat = || 1.0 + 0.1 * random.unit();
    loop {
        use trainwright_search::{Proposal, Proposer};
        let Proposal::Try(trial) = own.ask(std::time::Duration::ZERO) else { break };
        let steep = 3.0 * (8.0 / number(&trial.configuration, "a")).log2().max(0.0);
        let value = flat() + steep;
        own.tell(&ended(&trial, Some(value)));
    }
    assert!(matches!(own.stopped(), Some(StopReason::NoStepImproves { .. })));
    assert!(own.known().trials() < 60, "it does not walk through the noise");
    assert!(number(&own.known().best(0).unwrap().configuration, "a") >= 8.0);
}

#[test]
fn budgets_end_a_search_with_their_reason() {
    let with = |budget: SearchBudget| {
        let rules = SearchRules { seed: Seed::new(1), replicates: 1, budget, confirm: None };
        let searcher = random(BRANIN, 1);
        let mut own = SearchProposer::new(searcher, History::new(aims()), Vec::new(), rules);
        let tried = run(&mut own, 1, &|own| Some(branin(own))).len();
        (tried, own.stopped().unwrap().to_string())
    };
    let none = SearchBudget::default();
    let (tried, words) = with(SearchBudget { trials: Some(4), ..none });
    assert_eq!((tried, words.as_str()), (4, "the budget of 4 trials is spent"));
    // Every trial takes a second.
    let (tried, words) = with(SearchBudget { hours: Some(6.0 / 3600.0), ..none });
    assert_eq!(tried, 6, "{words}");
    let money = SearchBudget { money: Some(0.05), price_per_hour: Some(18.0), ..none };
    let (tried, words) = with(money);
    assert_eq!(tried, 10, "{words}");
}

#[test]
fn a_search_by_the_second_prefers_short_trials() {
    let seconds = |cost: TrialCost| {
        let space = Space::of(&study(BRANIN)).unwrap();
        let mut settings = BayesianSettings::for_space(&space, Seed::new(4));
        settings.surrogate.cost = cost;
        let searcher = Box::new(Bayesian::new(space, settings));
        let mut own = SearchProposer::new(searcher, History::new(aims()), Vec::new(), rules(30, 1));
        let mut sum = 0.0;
        loop {
            use trainwright_search::{Proposal, Proposer};
            let Proposal::Try(trial) = own.ask(std::time::Duration::ZERO) else { break };
            let mut told = ended(&trial, Some(branin(&trial.configuration)));
            let time = (0.4 * number(&trial.configuration, "a")).exp();
            told.seconds = Some(time);
            sum += time;
            own.tell(&told);
        }
        (sum, best(&own))
    };
    let (equal, by_second) = (seconds(TrialCost::Equal), seconds(TrialCost::Seconds));
    assert!(by_second.0 < equal.0, "{equal:?} {by_second:?}");
    assert!(by_second.1 < 0.6, "{by_second:?}");
}

/// Twelve factors; two of them matter.
fn twelve() -> String {
    (0..12).map(|i| format!("[factors.x{i}]\nrange = {{ from = 0.0, to = 1.0 }}\n")).collect()
}

fn two_of_twelve(own: &trainwright_study::Configuration) -> f64 {
    let rest: f64 = (0..12).map(|i| number(own, &format!("x{i}"))).sum();
    let own = |name: &str, at: f64| (number(own, name) - at).powi(2);
    1.0 + 8.0 * own("x3", 0.2) + 5.0 * own("x8", 0.9) + 0.002 * rest
}

#[test]
fn tuneful_keeps_the_factors_that_matter_and_leaves_the_rest_alone() {
    let space = Space::of(&study(&twelve())).unwrap();
    let mut right = 0;
    for seed in 0..10 {
        let published = TunefulSettings::published(Seed::new(seed));
        let settings = TunefulSettings { round: 20, stop: None, ..published };
        let own = Tuneful::new(space.clone(), settings);
        let (found, tried) = search(Box::new(own.clone()), 50, &|own| Some(two_of_twelve(own)));
        let kept = own.significant(found.known()).expect("both rounds have ended");
        assert_eq!(kept.len(), 2, "two fifths of two fifths of twelve");
        let next = own.next_trial(found.known()).expect("it has a model").configuration;
        let idle = (0..12).map(|i| format!("x{i}")).find(|own| !kept.contains(own)).unwrap();
        assert_eq!(number(&next, &idle), number(&tried[40].configuration, &idle));
        for trial in &tried[41..] {
            for i in (0..12).filter(|i| !kept.contains(&format!("x{i}"))) {
                let name = format!("x{i}");
                let (own, first) = (number(&trial.configuration, &name), &tried[40].configuration);
                assert_eq!(own, number(first, &name), "{name} stays while the others are tuned");
            }
        }
        right += u32::from(kept == ["x3", "x8"] && best(&found) < 1.05);
    }
    assert!(right >= 7, "{right} of 10 searches found both and tuned them");
}
