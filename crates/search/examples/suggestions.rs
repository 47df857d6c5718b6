//! A search driven line by line, for comparisons with other programs.
//!
//! `suggestions STUDY METHOD SEED TRIALS` prints a JSON line for each suggestion with the time
//! that it took, and reads a line with the value, or `failed`, before the next.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use trainwright_search::{
    Aims, Bayesian, BayesianSettings, Goal, History, ParzenSettings, PointSearch, Points, Proposal,
    Proposer, SearchBudget, SearchProposer, SearchRules, Searcher, Space, TreeParzen,
};
use trainwright_study::{Direction, Observation, Seed, Study, TrialState};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [study, method, seed, trials] = words.as_slice() else {
        return Err("suggestions STUDY METHOD SEED TRIALS".into());
    };
    let (study, seed) = (Study::load(Path::new(study))?, Seed::new(seed.parse()?));
    let space = Space::of(&study)?;
    let searcher: Box<dyn Searcher> = match method.as_str() {
        "bayesian" => {
            let settings = BayesianSettings::for_space(&space, seed);
            Box::new(Bayesian::new(space, settings))
        }
        "tpe" => {
            let settings = ParzenSettings { start: Points::Sobol, start_count: 10, seed };
            Box::new(TreeParzen::new(space, settings))
        }
        "random" => Box::new(PointSearch::new(space, Points::Random, 0, seed)),
        other => return Err(format!("no method {other}").into()),
    };
    let metric = study.response().name.clone();
    let goals = vec![Goal { metric: metric.clone(), direction: Direction::Minimize }];
    let known = History::new(Aims { goals, ..Aims::default() });
    let budget = SearchBudget { trials: Some(trials.parse()?), ..SearchBudget::default() };
    let rules = SearchRules { seed, replicates: 1, budget, confirm: None };
    let mut search = SearchProposer::new(searcher, known, Vec::new(), rules);
    let mut lines = io::stdin().lock().lines();
    loop {
        let begun = Instant::now();
        let Proposal::Try(trial) = search.ask(Duration::ZERO) else { return Ok(()) };
        let micros = begun.elapsed().as_micros();
        let configuration = serde_json::to_value(&trial.configuration)?;
        println!("{}", serde_json::json!({ "configuration": configuration, "micros": micros }));
        io::stdout().flush()?;
        let Some(line) = lines.next() else { return Ok(()) };
        let value: Option<f64> = line?.trim().parse().ok();
        let state = if value.is_some() { TrialState::Finished } else { TrialState::Failed };
        let values: BTreeMap<String, f64> =
            value.map(|own| (metric.clone(), own)).into_iter().collect();
        search.tell(&Observation::of(trial, state, values));
    }
}
