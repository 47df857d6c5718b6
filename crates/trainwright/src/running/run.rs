//! The verb `run`: runs what is left of a study, whatever happened before.
//!
//! The loop is that of `driver.rs`; here is what it begins with and what is kept of it. This
//! thread is the store's one writer. A trial's end and the next one's start are kept as one
//! change, so a finished trial is safe before another begins and costs one flush.

mod keeper;
mod replay;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use trainwright_engine::spark::{SparkEngine, SparkPlace};
use trainwright_engine::{Engine, LocalEngine, LocalPlace, MissingMetric};
use trainwright_search::{FixedPlan, Proposer};
use trainwright_store::{Durability, Store, StoredTrial};
use trainwright_study::{DesignKind, EngineSpec, PlannedTrial, Study, TrialRecord, TrialState};

use crate::cluster::start::ClusterUse;
use crate::running::driver::{DriveEnd, Driver};
use crate::running::lock::Lock;
use crate::running::trial_variables::TrialVariables;
use crate::searching::asked::asked_outside;
use crate::studies::plan_change::Accepted;
use crate::studies::planned::{Planned, design_of, planned};
use crate::{Error, Place};
use keeper::StudyKeeper;

/// How a study is run.
#[derive(Debug, Clone)]
pub struct RunRequest<'a> {
    /// The store, where the user named one.
    pub store: Option<&'a Path>,
    /// Whether a finished trial survives a loss of power.
    pub durability: Durability,
    /// Whether failed trials get another chance.
    pub retry_failed: RetryFailed,
    /// Changes of the study that the user accepts although trials exist.
    pub accepted: Accepted,
    /// A store whose recorded trials are taken instead of running any.
    pub replay: Option<&'a Path>,
    /// This program, which trials of the built-in trainer start again.
    pub program: PathBuf,
    /// What runs the trials, where it is not what the study says.
    pub engine: Option<EngineSpec>,
    /// What sets further variables for each trial, such as where to log to.
    pub variables: Option<TrialVariables>,
}

/// Whether failed trials get another chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryFailed {
    /// They stay failed.
    No,
    /// They run again.
    Yes,
}

/// What the user asks of a running study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Go on.
    GoOn,
    /// End running trials as the protocol says and stop.
    Stop,
    /// Kill running trials and stop.
    StopNow,
}

/// What happens while a study runs.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// All trials are planned.
    Planned {
        /// Trials in all.
        total: usize,
        /// Trials still to run.
        left: usize,
        /// Trials that a dead runner had left behind.
        recovered: usize,
        /// What has changed since the trials were last planned, and recorded trials that find no
        /// place; a sentence each.
        changes: &'a [String],
    },
    /// A cluster is being started, or has been.
    Cluster {
        /// What there is to say of it.
        words: String,
    },
    /// A trial that will not count has started.
    WarmUp {
        /// Which of them, from 1.
        number: u32,
        /// How many there are.
        of: u32,
    },
    /// A trial has started.
    Started {
        /// The trial.
        trial: &'a PlannedTrial,
    },
    /// A running trial reports.
    Progress {
        /// Its number.
        number: u32,
        /// Time since its start.
        elapsed: Duration,
        /// The latest values it wrote.
        latest: &'a [(String, f64)],
    },
    /// A trial has ended and is kept.
    Ended {
        /// The trial.
        trial: &'a PlannedTrial,
        /// What came back, with formulas computed.
        record: &'a TrialRecord,
        /// Whether it will be tried again.
        again: bool,
    },
    /// The first trial ended without a metric, as all others would: no more begin.
    NoMetric {
        /// The trial.
        trial: &'a PlannedTrial,
        /// What was not found.
        missing: &'a [MissingMetric],
        /// By which rule, what came near, and how the output ends.
        reason: &'a str,
        /// The command that tries the rules on its output.
        try_with: String,
    },
    /// Another program keeps the store busy; the runner waits.
    StoreBusy,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// Every trial has ended.
    Complete,
    /// The user stopped it; the rest runs next time.
    Interrupted,
    /// The budget is spent; the rest runs with a larger one.
    BudgetSpent,
    /// The first trial ended without a metric; the rest runs when its rule is right.
    NoMetric,
}

/// Runs what is left of a study.
///
/// `wish` is asked several times a second; `on_event` hears what happens.
///
/// # Errors
/// The study is faulty or changed, another runner works on it, or the store cannot be written.
/// Failed trials are no error.
pub fn run(
    study: &Study,
    request: &RunRequest<'_>,
    wish: &dyn Fn() -> Wish,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> Result<RunEnd, Error> {
    if study.design.kind == DesignKind::Open && request.replay.is_none() {
        return Err(match study.search {
            Some(_) => Error::SearchNotRun { study: study.name.clone() },
            None => Error::NoDesign { study: study.name.clone() },
        });
    }
    let propose = |queue: &mut Queue, _: &Store| -> Result<Box<dyn Proposer>, Error> {
        Ok(match request.replay {
            Some(recorded) => {
                let proposer = replay::proposer(study, recorded, queue)?;
                queue.changes.extend(replay::left_out(&proposer));
                Box::new(proposer)
            }
            None => Box::new(FixedPlan::new(queue.left.clone())),
        })
    };
    Ok(run_proposed(study, request, wish, on_event, propose)?.0)
}

/// Runs what a proposer proposes that is made from the trials known before, and gives it back.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_proposed<P: Proposer>(
    study: &Study,
    request: &RunRequest<'_>,
    wish: &dyn Fn() -> Wish,
    on_event: &mut dyn FnMut(RunEvent<'_>),
    propose: impl FnOnce(&mut Queue, &Store) -> Result<P, Error>,
) -> Result<(RunEnd, P), Error> {
    let design = design_of(study)?;
    if study.task.is_none() && request.replay.is_none() {
        return Err(Error::NothingToRun { study: study.name.clone() });
    }
    if study.run.mlflow && request.replay.is_none() {
        let spec = request.engine.as_ref().unwrap_or(&study.engine);
        if *spec != EngineSpec::Local || request.variables.is_none() {
            return Err(Error::NoTracking { study: study.name.clone() });
        }
    }
    let place = Place::of(study, request.store).made()?;
    let _lock = Lock::take(&place.trials, &study.name)?;
    let mut store = place.open(request.durability)?;
    let planned = planned(&mut store, study, &design, &place, request.accepted)?;
    // Before the queue is known: the engine ends what a dead runner left.
    let mut engine = engine_of(study, &place, request, wish, on_event)?;
    let mut queue = Queue::of(&mut store, planned, request, &asked_outside(&place.trials)?)?;
    let mut proposer = propose(&mut queue, &store)?;
    on_event(RunEvent::Planned {
        total: queue.total.unwrap_or(queue.trials.len()),
        left: queue.total.map_or(queue.left.len(), |total| queue.left_of(total)),
        recovered: queue.recovered,
        changes: &queue.changes,
    });
    let first = queue.left.first().filter(|_| request.replay.is_none()).cloned();
    let mut keeper = StudyKeeper::new(study, &place, store, &queue, engine.as_ref(), on_event)?;
    let mut driver = Driver::new(Arc::new(study.clone()), engine.as_mut(), wish, None)
        .with_variables(request.variables.clone());
    if let Some(first) = first
        && !warm_up(study, &first, &mut driver, &mut keeper)?
    {
        return Ok((RunEnd::Interrupted, proposer));
    }
    let end = driver.drive(&mut proposer, &mut keeper)?;
    let end = match end {
        DriveEnd::Complete => RunEnd::Complete,
        DriveEnd::Interrupted | DriveEnd::TimeUp => RunEnd::Interrupted,
        DriveEnd::Halted => keeper.why_halted(),
    };
    Ok((end, proposer))
}

/// The engine that runs the trials, or plays recorded ones.
fn engine_of(
    study: &Study,
    place: &Place,
    request: &RunRequest<'_>,
    wish: &dyn Fn() -> Wish,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> Result<Box<dyn Engine>, Error> {
    let spec = request.engine.as_ref().unwrap_or(&study.engine);
    Ok(match (request.replay, spec) {
        (Some(recorded), _) => Box::new(replay::engine(study, recorded)?),
        (None, EngineSpec::Local) => {
            Box::new(LocalEngine::new(local_place(study, place, request))?)
        }
        (None, EngineSpec::Spark(spark)) => {
            let place = SparkPlace { trials: place.trials.clone(), slots: study.run.slots };
            let use_of = ClusterUse { spark, program: &request.program, suited: &[] };
            let mut tell = |words| on_event(RunEvent::Cluster { words });
            let driver = use_of.start(&|| wish() == Wish::GoOn, &mut tell)?;
            Box::new(SparkEngine::new(Arc::new(driver), place)?)
        }
    })
}

fn local_place(study: &Study, place: &Place, request: &RunRequest<'_>) -> LocalPlace {
    let (trials, program) = (place.trials.clone(), request.program.clone());
    LocalPlace { trials, program, slots: study.run.slots }
}

/// Runs the first configuration a few times and throws the results away; false where the user
/// stopped it.
fn warm_up(
    study: &Study,
    first: &PlannedTrial,
    driver: &mut Driver<'_>,
    keeper: &mut StudyKeeper<'_>,
) -> Result<bool, Error> {
    // Warming up for trials that the budget does not allow would be for nothing.
    let of = if keeper.budget_is_spent() { 0 } else { study.run.warmup };
    for number in 1..=of {
        keeper.tell(RunEvent::WarmUp { number, of });
        if !driver.warm_up(PlannedTrial { number: 0, ..first.clone() })? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The trials of a study before a run.
pub(crate) struct Queue {
    pub(crate) study_id: i64,
    /// All of them.
    pub(crate) trials: Vec<StoredTrial>,
    /// Those that are to run, in order.
    pub(crate) left: Vec<PlannedTrial>,
    /// How many there will be, where a search says so.
    pub(crate) total: Option<usize>,
    recovered: usize,
    changes: Vec<String>,
}

impl Queue {
    /// Trials still to run of so many.
    fn left_of(&self, total: usize) -> usize {
        total.saturating_sub(self.trials.len() - self.left.len())
    }

    /// Puts back what must run again and lists what is left.
    /// Trials that were asked for from outside stay under way.
    fn of(
        store: &mut Store,
        planned: Planned,
        request: &RunRequest<'_>,
        asked: &BTreeSet<u32>,
    ) -> Result<Self, Error> {
        let Planned { study_id, mut trials, changes } = planned;
        let in_state = |state: TrialState| -> Vec<u32> {
            trials.iter().filter(|trial| trial.state == state).map(|trial| trial.number).collect()
        };
        let mut orphans = in_state(TrialState::Running);
        orphans.retain(|number| !asked.contains(number));
        let mut again = orphans.clone();
        again.extend(in_state(TrialState::Stopped));
        if request.retry_failed == RetryFailed::Yes {
            again.extend(in_state(TrialState::Failed));
        }
        if !again.is_empty() {
            store.put_back(study_id, &again)?;
            trials = store.trials(study_id)?;
        }
        let waits = |trial: &&StoredTrial| trial.state == TrialState::Planned;
        let left = trials.iter().filter(waits).map(StoredTrial::planned).collect();
        Ok(Self { study_id, trials, left, total: None, recovered: orphans.len(), changes })
    }
}
