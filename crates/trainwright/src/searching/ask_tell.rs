//! The verbs `ask` and `tell`: a search that somebody else runs, with its state in the store.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use trainwright_probe::machine;
use trainwright_search::{History, Proposal, Proposer, SearchProposer};
use trainwright_store::{Circumstances, Durability, Ended, Store, StoredTrial};
use trainwright_study::{
    Configuration, Measurement, MetricSource, Outcome, PlannedTrial, Study, TrialRecord,
    TrialState, Usage,
};

use super::asked::{forget_asked, keep_asked};
use super::from_study::StudySearch;
use super::search::known;
use super::warm_start::known_good;
use crate::running::lock::Lock;
use crate::studies::plan_change::Accepted;
use crate::studies::planned::{design_of, planned};
use crate::studies::rereading::rules;
use crate::{Error, Place};

/// Trials to run elsewhere.
#[derive(Debug, Serialize)]
pub struct AskReply {
    /// The study's name.
    pub study: String,
    /// What to run; empty when there is nothing to run now.
    pub trials: Vec<AskedTrial>,
    /// Whether trials under way must end before there is more to run.
    pub wait: bool,
    /// Why the search has stopped, where it has.
    pub stopped: Option<String>,
}

/// A trial to run elsewhere.
#[derive(Debug, Serialize)]
pub struct AskedTrial {
    /// Its number, by which its result is told.
    pub trial: u32,
    /// Its number among the repeats of its configuration, from 1.
    pub replicate: u32,
    /// A seed for it.
    pub seed: u32,
    /// What to run.
    pub configuration: Configuration,
}

/// What came of a trial that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Which trial.
    pub trial: u32,
    /// Metrics by name.
    pub values: BTreeMap<String, f64>,
    /// Why it failed, where it did.
    pub failed: Option<String>,
    /// Seconds that it took, where somebody measured them.
    pub seconds: Option<f64>,
}

/// What is known after a result was told.
#[derive(Debug, Serialize)]
pub struct TellReply {
    /// The study's name.
    pub study: String,
    /// The trial that was told of.
    pub trial: u32,
    /// How it ended.
    pub state: TrialState,
    /// The best configuration by now.
    pub best: Option<Configuration>,
    /// The best value of the first objective by now.
    pub best_value: Option<f64>,
}

/// Asks a study's search which trials to run next, and keeps that they are under way.
///
/// # Errors
/// The study has no search, a runner works on it, or the store cannot be written.
pub fn ask(study: &Study, store: Option<&Path>, count: u32) -> Result<AskReply, Error> {
    let own = StudySearch::of(study)?;
    let (place, mut store) = opened(study, store)?;
    let _lock = Lock::take(&place.trials, &study.name)?;
    let planned = planned(&mut store, study, &design_of(study)?, &place, Accepted::default())?;
    let good = known_good(&store, study, &own.space, &own.aims())?;
    let known = known(study, &own, &planned.trials);
    let waits =
        |trial: &&StoredTrial| matches!(trial.state, TrialState::Planned | TrialState::Stopped);
    let waiting = planned.trials.iter().filter(waits).map(StoredTrial::planned).collect();
    let mut proposer = SearchProposer::new(own.searcher(good), known, waiting, own.rules());
    let (trials, wait) = proposed(&mut proposer, count);
    // First, so that nobody takes them for a dead runner's if this ends here.
    keep_asked(&place.trials, trials.iter().map(|trial| trial.number))?;
    store.start(planned.study_id, &trials)?;
    Ok(AskReply::of(study, trials, wait, &proposer))
}

/// So many trials to run next, or fewer; and whether others must end before there are more.
pub(super) fn proposed(proposer: &mut SearchProposer, count: u32) -> (Vec<PlannedTrial>, bool) {
    let mut trials = Vec::new();
    while trials.len() < count as usize {
        match proposer.ask(Duration::ZERO) {
            Proposal::Try(trial) | Proposal::GoOn(trial) => trials.push(trial),
            Proposal::Later(_) => return (trials, true),
            Proposal::Done => break,
        }
    }
    (trials, false)
}

impl AskReply {
    pub(super) fn of(
        study: &Study,
        trials: Vec<PlannedTrial>,
        wait: bool,
        proposer: &SearchProposer,
    ) -> Self {
        let asked = |trial: PlannedTrial| AskedTrial {
            trial: trial.number,
            replicate: trial.replicate,
            seed: trial.seed,
            configuration: trial.configuration,
        };
        Self {
            study: study.name.clone(),
            trials: trials.into_iter().map(asked).collect(),
            wait,
            stopped: proposer.stopped().map(ToString::to_string),
        }
    }
}

/// Keeps what came of a trial that was asked for.
///
/// # Errors
/// There is no such trial under way, a metric is unknown or missing, or the store cannot be
/// written.
pub fn tell(study: &Study, store: Option<&Path>, told: &Told) -> Result<TellReply, Error> {
    let own = StudySearch::of(study)?;
    let (place, mut store) = opened(study, store)?;
    let _lock = Lock::take(&place.trials, &study.name)?;
    let none = || Error::NoResults { study: study.name.clone(), store: place.store.clone() };
    let study_id = store.study(&study.name)?.ok_or_else(none)?.id;
    let trials = store.trials(study_id)?;
    let trial = trials.iter().find(|trial| trial.number == told.trial).ok_or_else(|| {
        let last = trials.iter().map(|trial| trial.number).max().unwrap_or(0);
        Error::NoSuchTrial { study: study.name.clone(), trial: told.trial, last }
    })?;
    if trial.state != TrialState::Running {
        return Err(Error::NotAsked { trial: told.trial, state: trial.state });
    }
    let record = record(study, told, trial.started_ms.unwrap_or(0))?;
    let machine = store.keep_machine(&machine(study.folder()))?;
    let mut basis = serde_json::to_value(study.basis()).expect("plain data becomes JSON");
    let circumstances = store.keep_circumstances(&Circumstances {
        engine: "outside".to_owned(),
        slots: 1,
        rules: rules(study),
        task: basis["task"].take(),
        superseded: None,
    })?;
    let environment = BTreeMap::new();
    let ended = Ended { number: told.trial, record: &record, environment, machine, circumstances };
    store.end(study_id, &ended, &[])?;
    forget_asked(&place.trials, told.trial)?;
    let known = known(study, &own, &store.trials(study_id)?);
    Ok(TellReply::of(study, told.trial, record.outcome.state(), &known))
}

impl TellReply {
    pub(super) fn of(study: &Study, trial: u32, state: TrialState, known: &History) -> Self {
        let best = known.best(0);
        let goal = &known.aims().goals[0];
        Self {
            study: study.name.clone(),
            trial,
            state,
            best_value: best.as_ref().and_then(|own| own.loss(0)).map(|loss| goal.value(loss)),
            best: best.map(|own| own.configuration),
        }
    }
}

fn opened(study: &Study, store: Option<&Path>) -> Result<(Place, Store), Error> {
    let place = Place::of(study, store).made()?;
    let store = place.open(Durability::Flushed)?;
    Ok((place, store))
}

/// A budget of time that no trial takes from would never end.
fn check_time_is_told(study: &Study, told: &Told) -> Result<(), Error> {
    let budget = study.search.as_ref().map(|own| own.budget).unwrap_or_default();
    let unit = match (budget.hours, budget.money) {
        (Some(_), _) => "hours",
        (None, Some(_)) => "money",
        (None, None) => return Ok(()),
    };
    if told.seconds.is_some() {
        return Ok(());
    }
    Err(Error::Request(format!(
        "the budget of the search is in {unit}: tell how many seconds trial {} took (--seconds)",
        told.trial
    )))
}

/// A trial that ran elsewhere, as it is kept.
pub(super) fn record(study: &Study, told: &Told, started_ms: i64) -> Result<TrialRecord, Error> {
    if let Some(seconds) = told.seconds.filter(|own| !own.is_finite() || *own < 0.0) {
        return Err(Error::Request(format!("trial {} cannot have taken {seconds} s", told.trial)));
    }
    check_time_is_told(study, told)?;
    let measured = |metric: &&trainwright_study::Metric| metric.formula().is_none();
    let wanted: Vec<&str> =
        study.metrics.iter().filter(measured).map(|metric| metric.name.as_str()).collect();
    if let Some(name) = told.values.keys().find(|name| !wanted.contains(&name.as_str())) {
        let name = name.clone();
        return Err(Error::UnknownMetric { metric: name, known: wanted.join(", ") });
    }
    let mut values = told.values.clone();
    // The time of a trial is a metric where the study says so.
    let is_wall = |metric: &&trainwright_study::Metric| metric.source == MetricSource::Wall;
    for metric in study.metrics.iter().filter(is_wall) {
        if let Some(seconds) = told.seconds {
            values.entry(metric.name.clone()).or_insert(seconds);
        }
    }
    let missing = wanted.iter().find(|name| !values.contains_key(**name));
    let diverged = values.iter().find(|(_, value)| !value.is_finite());
    let outcome = match (&told.failed, missing, diverged) {
        (Some(reason), _, _) => Outcome::Failed { reason: reason.clone() },
        (None, Some(name), _) => {
            return Err(Error::MissingMetric { trial: told.trial, metric: (*name).to_owned() });
        }
        (None, None, Some((name, value))) => {
            Outcome::Diverged { reason: format!("metric `{name}` was {value}") }
        }
        (None, None, None) => Outcome::Finished,
    };
    let finite = values.iter().filter(|(_, value)| value.is_finite());
    let measurements = finite.map(|(name, value)| {
        let range = study.metric(name).and_then(|metric| metric.range);
        let in_range = range.is_none_or(|(low, high)| (low..=high).contains(value));
        Measurement { metric: name.clone(), value: *value, in_range }
    });
    let usage = told.seconds.map(|wall_s| Usage { wall_s, ..Usage::default() });
    Ok(TrialRecord {
        outcome,
        measurements: measurements.collect(),
        usage,
        series: Vec::new(),
        command: Vec::new(),
        environment: BTreeMap::new(),
        started_ms,
        output_end: String::new(),
        cluster: Vec::new(),
    })
}
