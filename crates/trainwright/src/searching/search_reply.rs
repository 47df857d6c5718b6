//! What a search has found: the best, why it ended, what the next trial is worth, what mattered.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use trainwright_search::{
    Cell, Contour, Goal, History, Importance, Proposer, SearchProposer, Slice, StopReason,
    Surrogate, TracePoint, contour, front, hypervolume, importances, slices, trace,
};
use trainwright_stats::welch_t;
use trainwright_store::StoredTrial;
use trainwright_study::{Configuration, Level, PlannedTrial, SearchMethod, Study, TrialState};

use super::from_study::StudySearch;
use super::search::{SearchEnd, known};
use crate::studies::status::TrialCounts;
use crate::{Error, Results, RunEnd};

/// Pairs of factors that are looked at for a contour.
const MOST_PAIRS: usize = 20;
/// Trials up to which the gain promised at each step is computed again.
const MOST_TRACED: usize = 200;

/// What a search has found.
#[derive(Debug, Serialize)]
pub struct SearchReply {
    /// The study's name.
    pub study: String,
    /// How configurations were chosen.
    pub method: &'static str,
    /// How the run ended; absent where nothing ran now.
    pub end: Option<RunEnd>,
    /// Largest p-value that counts as a difference.
    pub alpha: f64,
    /// Whether good configurations keep bounds.
    #[serde(skip)]
    pub bounded: bool,
    /// Whether the method has a model of its own, which chooses the next trial.
    #[serde(skip)]
    pub own_model: bool,
    /// Why the search stopped, in words.
    pub stopped: Option<String>,
    /// The same for programs.
    pub stop_reason: Option<StopReason>,
    /// How many trials are in each state.
    pub trials: TrialCounts,
    /// Seconds that trials took.
    pub seconds: f64,
    /// The objectives, the first one first.
    pub objectives: Vec<String>,
    /// The best configuration of the first objective among those that keep all bounds.
    pub best: Option<Found>,
    /// The next best one, and whether it can be told from the best.
    pub runner_up: Option<RunnerUp>,
    /// With several objectives: configurations that no other one beats.
    pub front: Vec<Found>,
    /// The volume that the front covers, as a share of the box of all values measured.
    pub hypervolume: Option<f64>,
    /// What the next trial would be worth.
    pub next: Option<Next>,
    /// How much of the variation each factor causes.
    pub importances: Vec<Importance>,
    /// The objective along each factor round the best.
    pub slices: Vec<Slice>,
    /// The objective over the two factors that matter most.
    pub contour: Option<Contour>,
    /// The best value after each trial, and what the next one promised.
    pub trace: Vec<TracePoint>,
    /// Factors whose best value is at an end of its range.
    pub at_edge: Vec<String>,
}

/// A configuration with what it measured.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// What ran.
    pub configuration: Configuration,
    /// Number of its first trial.
    pub trial: u32,
    /// Measured trials.
    pub replicates: u32,
    /// Whether the confirming trials alone count, of which `replicates` are meant then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub confirmed: bool,
    /// Means of the objectives.
    pub values: BTreeMap<String, f64>,
}

/// The next best configuration.
#[derive(Debug, Serialize)]
pub struct RunnerUp {
    /// What ran and what it measured.
    #[serde(flatten)]
    pub found: Found,
    /// P-value of Welch's test against the best; absent without replicates.
    pub p: Option<f64>,
}

/// The next trial of a search.
#[derive(Debug, Serialize)]
pub struct Next {
    /// What it would try.
    pub configuration: Configuration,
    /// The gain expected of it, as a share of the best value.
    pub gain: Option<f64>,
}

impl SearchReply {
    /// Tells what a search has found by now.
    ///
    /// # Errors
    /// The study has no search.
    pub fn of(study: &Study, results: &Results, end: Option<SearchEnd>) -> Result<Self, Error> {
        let own = StudySearch::of(study)?;
        let known = known(study, &own, &results.trials);
        let goals = &known.aims().goals;
        let bayesian = own.bayesian();
        let learnt = bayesian.learnt(&known);
        let rules = own.rules();
        let confirmed = rules.confirm.map(|own| own.judged(&known, rules.replicates));
        let confirmed = confirmed.filter(|all| !all.is_empty());
        let best = confirmed.as_ref().map_or_else(|| known.best(0), |all| all.first().cloned());
        let second = confirmed.as_ref().map_or_else(
            || best.as_ref().and_then(|best| next_best(&known, best)),
            |all| all.get(1).cloned(),
        );
        let told = |cell: &Cell| Found { confirmed: confirmed.is_some(), ..found(&known, cell) };
        let importances = learnt
            .as_ref()
            .map(|learnt| importances(&own.space, learnt, study.seed.value()))
            .unwrap_or_default();
        let pictured = learnt.as_ref().zip(best.as_ref()).filter(|_| goals.len() == 1);
        let (slices, contour) = pictured
            .map(|(learnt, best)| {
                pictures(&own, learnt, &goals[0], &best.configuration, &importances)
            })
            .unwrap_or_default();
        let next = own
            .next_trial(&known)
            .map(|next| Next { configuration: next.configuration, gain: next.share });
        let judge = (known.trials() <= MOST_TRACED && goals.len() == 1).then_some(&bayesian);
        let stopped = match &end {
            Some(end) => end.stopped.clone(),
            None => why_stopped(&own, &known, waiting(results)),
        };
        let several = goals.len() > 1;
        Ok(Self {
            study: study.name.clone(),
            method: own.spec.method.word(),
            end: end.as_ref().map(|end| end.end),
            alpha: study.analysis.alpha,
            bounded: !own.spec.bounds.is_empty(),
            own_model: matches!(own.spec.method, SearchMethod::Bayesian | SearchMethod::Tuneful),
            stopped: stopped.as_ref().map(StopReason::to_string),
            stop_reason: stopped,
            trials: TrialCounts::of(results),
            seconds: known.seconds(),
            objectives: goals.iter().map(|goal| goal.metric.clone()).collect(),
            at_edge: best
                .as_ref()
                .map(|best| at_edge(study, &best.configuration))
                .unwrap_or_default(),
            runner_up: best.as_ref().zip(second.as_ref()).map(|(best, second)| RunnerUp {
                p: difference(best, second),
                found: told(second),
            }),
            best: best.as_ref().map(told),
            front: if several {
                front(&known).iter().map(|cell| found(&known, cell)).collect()
            } else {
                Vec::new()
            },
            hypervolume: if several { covered(&known) } else { None },
            next,
            importances,
            slices,
            contour,
            trace: trace(&known, judge),
        })
    }
}

fn found(known: &History, cell: &Cell) -> Found {
    let goals = known.aims().goals.iter().enumerate();
    let values = goals
        .filter_map(|(place, goal)| Some((goal.metric.clone(), goal.value(cell.loss(place)?))));
    Found {
        configuration: cell.configuration.clone(),
        trial: cell.first,
        replicates: cell.measured(),
        confirmed: false,
        values: values.collect(),
    }
}

/// Why the search of a study that nobody runs now has stopped, where it has.
fn why_stopped(
    own: &StudySearch<'_>,
    known: &History,
    waiting: Vec<PlannedTrial>,
) -> Option<StopReason> {
    if known.trials() == 0 {
        return None;
    }
    let searcher = own.searcher(Vec::new());
    let mut proposer = SearchProposer::new(searcher, known.clone(), waiting, own.rules());
    // Its answer is thrown away: nothing is begun.
    proposer.ask(Duration::ZERO);
    proposer.stopped().cloned()
}

/// Trials that the next run begins with.
fn waiting(results: &Results) -> Vec<PlannedTrial> {
    let waits = |own: &&StoredTrial| matches!(own.state, TrialState::Planned | TrialState::Stopped);
    results.trials.iter().filter(waits).map(StoredTrial::planned).collect()
}

/// The second best configuration.
fn next_best(known: &History, best: &Cell) -> Option<Cell> {
    let others = known.cells().into_iter().filter(|own| own.identity != best.identity);
    let scored =
        others.filter(|own| known.keeps_limits(own)).filter_map(|own| Some((own.loss(0)?, own)));
    scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, own)| own)
}

/// P-value of the difference of two configurations; nothing where a test needs more.
fn difference(best: &Cell, second: &Cell) -> Option<f64> {
    let replicated = best.measured() > 1 && second.measured() > 1;
    let test = || welch_t(&best.losses[0], &second.losses[0]).ok();
    replicated.then(test).flatten().map(|test| test.p)
}

/// The share of the box of all measured losses that the front beats.
fn covered(known: &History) -> Option<f64> {
    let goals = known.aims().goals.len();
    let losses: Vec<Vec<f64>> = known
        .cells()
        .iter()
        .filter_map(|own| (0..goals).map(|goal| own.loss(goal)).collect())
        .collect();
    let column = |goal: usize| losses.iter().map(move |own| own[goal]);
    let low: Vec<f64> = (0..goals).map(|goal| column(goal).fold(f64::INFINITY, f64::min)).collect();
    let high: Vec<f64> =
        (0..goals).map(|goal| column(goal).fold(f64::NEG_INFINITY, f64::max)).collect();
    let whole: f64 = low.iter().zip(&high).map(|(low, high)| high - low).product();
    (whole > 0.0).then(|| hypervolume(&losses, &high) / whole)
}

fn pictures(
    own: &StudySearch<'_>,
    learnt: &Surrogate,
    goal: &Goal,
    best: &Configuration,
    importances: &[Importance],
) -> (Vec<Slice>, Option<Contour>) {
    let single = importances.iter().filter(|own| own.factors.len() == 1);
    let single = single.filter(|own| best.get(&own.factors[0]).is_some());
    let top: Vec<&str> = single.map(|own| own.factors[0].as_str()).collect();
    // The two that matter most among those that have a contour, which categories have not.
    let pairs = top
        .iter()
        .enumerate()
        .flat_map(|(place, second)| top[..place].iter().map(move |first| [*first, *second]));
    let contour =
        pairs.take(MOST_PAIRS).find_map(|pair| contour(&own.space, learnt, goal, best, pair));
    (slices(&own.space, learnt, goal, best), contour)
}

/// Factors whose value is at an end of its range, where a wider range may hold better ones.
fn at_edge(study: &Study, best: &Configuration) -> Vec<String> {
    let at_end = |factor: &&trainwright_study::Factor| {
        let value = best.get(&factor.name).and_then(Level::number);
        let ends = factor.ends().map(|(low, high)| [low.number(), high.number()]);
        value.is_some() && ends.is_some_and(|ends| ends.contains(&value))
    };
    let numeric =
        study.factors.iter().filter(|own| own.levels.len() > 2 || !own.domain.is_levels());
    numeric.filter(at_end).map(|own| own.name.clone()).collect()
}
