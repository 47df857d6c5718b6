//! Functions with known minima, and a search of them from beginning to end.

use std::collections::BTreeMap;
use std::time::Duration;

use trainwright_search::{
    Aims, Goal, History, Proposal, Proposer, SearchBudget, SearchProposer, SearchRules, Searcher,
};
use trainwright_study::{
    Configuration, Direction, Level, Observation, PlannedTrial, Seed, Study, TrialState,
};

pub(crate) fn study(factors: &str) -> Study {
    let text = format!("schema = 1\n[study]\nname = \"s\"\n{factors}\n[metrics.y]\n");
    Study::from_text(&text).unwrap()
}

pub(crate) const BRANIN: &str = "[factors.a]\nrange = { from = -5.0, to = 10.0 }\n\
                                 [factors.b]\nrange = { from = 0.0, to = 15.0 }\n";

pub(crate) const MIXED: &str = "[factors.lr]\nrange = { from = 0.001, to = 1.0 }\nscale = \"log\"\n\
    [factors.batch]\nlevels = [16, 32, 64, 128]\nscale = \"log2\"\n\
    [factors.optimizer]\nlevels = [\"sgd\", \"adam\", \"rms\"]\n\
    [factors.momentum]\nrange = { from = 0.0, to = 0.99 }\nwhen = \"optimizer == 'sgd'\"\n\
    [[constraint]]\nexpr = \"lr * batch <= 16\"\n";

pub(crate) const SMALL: &str =
    "[factors.a]\nlevels = [1, 2, 3, 4]\n[factors.b]\nlevels = [\"x\", \"y\", \"z\"]\n";

pub(crate) fn number(own: &Configuration, name: &str) -> f64 {
    own.get(name).and_then(Level::number).unwrap()
}

/// Branin's function; its least value, 0.397887, is at three places (Dixon and Szegoe, "Towards
/// Global Optimization 2", 1978).
pub(crate) fn branin(own: &Configuration) -> f64 {
    use std::f64::consts::PI;
    let (x, y) = (number(own, "a"), number(own, "b"));
    let bent = y - 5.1 / (4.0 * PI * PI) * x * x + 5.0 / PI * x - 6.0;
    bent * bent + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x.cos() + 10.0
}

/// Least, 0.5, at lr 0.1, batch 64, sgd, momentum 0.9.
pub(crate) fn mixed(own: &Configuration) -> f64 {
    let rate = (number(own, "lr") / 0.1).log10().powi(2);
    let batch = (number(own, "batch") / 64.0).log2().powi(2) / 8.0;
    let optimizer = match own.get("optimizer") {
        Some(Level::Text(name)) if name == "sgd" => (number(own, "momentum") - 0.9).powi(2),
        Some(Level::Text(name)) if name == "adam" => 0.3,
        _ => 0.8,
    };
    0.5 + rate + batch + optimizer
}

pub(crate) fn small(own: &Configuration) -> f64 {
    let offset = match own.get("b") {
        Some(Level::Text(name)) if name == "y" => 0.0,
        _ => 2.0,
    };
    (number(own, "a") - 3.0).powi(2) + offset
}

pub(crate) fn aims() -> Aims {
    let goals = vec![Goal { metric: "y".to_owned(), direction: Direction::Minimize }];
    Aims { goals, ..Aims::default() }
}

/// What comes of a trial: its value, or a failure where there is none.
pub(crate) fn ended(trial: &PlannedTrial, value: Option<f64>) -> Observation {
    let state = if value.is_some() { TrialState::Finished } else { TrialState::Failed };
    let values: BTreeMap<String, f64> =
        value.map(|own| ("y".to_owned(), own)).into_iter().collect();
    let own = Observation::of(trial.clone(), state, values);
    Observation { seconds: Some(1.0), ..own }
}

pub(crate) fn rules(trials: u32, replicates: u32) -> SearchRules {
    let budget = SearchBudget { trials: Some(trials), ..SearchBudget::default() };
    SearchRules { seed: Seed::new(5), replicates, budget, confirm: None }
}

/// Runs a search, one trial at a time.
pub(crate) fn search(
    searcher: Box<dyn Searcher>,
    trials: u32,
    value: &dyn Fn(&Configuration) -> Option<f64>,
) -> (SearchProposer, Vec<PlannedTrial>) {
    let mut own = SearchProposer::new(searcher, History::new(aims()), Vec::new(), rules(trials, 1));
    let tried = run(&mut own, 1, value);
    (own, tried)
}

/// Asks for as many trials as there are slots, and ends the first of them, again and again.
pub(crate) fn run(
    own: &mut SearchProposer,
    slots: usize,
    value: &dyn Fn(&Configuration) -> Option<f64>,
) -> Vec<PlannedTrial> {
    let (mut tried, mut running) = (Vec::new(), std::collections::VecDeque::new());
    loop {
        while running.len() < slots {
            match own.ask(Duration::ZERO) {
                Proposal::GoOn(trial) => panic!("{trial:?} was never cut short"),
                Proposal::Try(trial) => {
                    tried.push(trial.clone());
                    running.push_back(trial);
                }
                Proposal::Later(_) => {
                    assert!(!running.is_empty(), "a searcher waits for nothing");
                    break;
                }
                Proposal::Done => break,
            }
        }
        let Some(trial) = running.pop_front() else { return tried };
        own.tell(&ended(&trial, value(&trial.configuration)));
    }
}

pub(crate) fn best(own: &SearchProposer) -> f64 {
    own.known().best(0).and_then(|cell| cell.loss(0)).unwrap()
}
