//! The verb `run`: runs what is left of a study, whatever happened before.
//!
//! This thread is the store's one writer. A trial's end and the next one's start are kept as one
//! change, so a finished trial is safe before another begins and costs one flush.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use trainwright_design::Design;
use trainwright_engine::{EngineEvent, LocalEngine, Stop, TrialOrder, end_leftovers};
use trainwright_probe::machine;
use trainwright_store::{Durability, Ended, Store, StoredTrial};
use trainwright_study::{PlannedTrial, Study, TrialRecord, TrialState};

use crate::lock::Lock;
use crate::planned::{design_of, planned};
use crate::{Error, Place};

/// How a study is run.
#[derive(Debug, Clone)]
pub struct RunRequest<'a> {
    /// The store, where the user named one.
    pub store: Option<&'a Path>,
    /// Whether a finished trial survives a loss of power.
    pub durability: Durability,
    /// Whether failed trials get another chance.
    pub retry_failed: RetryFailed,
    /// This program, which trials of the built-in trainer start again.
    pub program: PathBuf,
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
        /// What came back.
        record: &'a TrialRecord,
        /// Whether it will be tried again.
        again: bool,
    },
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
    let design = design_of(study)?;
    if study.task.is_none() {
        return Err(Error::NothingToRun { study: study.name.clone() });
    }
    let place = Place::of(study, request.store).made()?;
    let _lock = Lock::take(&place.trials, &study.name)?;
    let mut runner = Runner::prepare(study, &design, place, request)?;
    on_event(RunEvent::Planned {
        total: runner.total,
        left: runner.queue.len(),
        recovered: runner.recovered,
    });
    if runner.queue.is_empty() {
        return Ok(RunEnd::Complete);
    }
    if runner.warm_up(wish, on_event)? == Flow::Interrupted {
        return Ok(RunEnd::Interrupted);
    }
    runner.work(wish, on_event)
}

/// How often the user's wish is looked at while nothing else happens.
const PATIENCE: Duration = Duration::from_millis(100);

#[derive(PartialEq, Eq)]
enum Flow {
    GoOn,
    Interrupted,
}

struct Runner<'a> {
    study: Arc<Study>,
    request: &'a RunRequest<'a>,
    place: Place,
    store: Store,
    study_id: i64,
    machine: i64,
    engine: LocalEngine,
    total: usize,
    recovered: usize,
    queue: VecDeque<PlannedTrial>,
    running: BTreeMap<u32, PlannedTrial>,
    retries_used: BTreeMap<u32, u32>,
    seconds_used: f64,
}

impl<'a> Runner<'a> {
    fn prepare(
        study: &Study,
        design: &Design,
        place: Place,
        request: &'a RunRequest<'a>,
    ) -> Result<Self, Error> {
        let mut store = place.open(request.durability)?;
        let (study_id, mut trials) = planned(&mut store, study, design)?;
        let in_state = |trials: &[StoredTrial], state: TrialState| -> Vec<u32> {
            trials.iter().filter(|trial| trial.state == state).map(|trial| trial.number).collect()
        };
        // Also where no trial is marked running: a warm-up may be left.
        end_leftovers(&place.trials);
        let orphans = in_state(&trials, TrialState::Running);
        let mut again = orphans.clone();
        again.extend(in_state(&trials, TrialState::Stopped));
        if request.retry_failed == RetryFailed::Yes {
            again.extend(in_state(&trials, TrialState::Failed));
        }
        if !again.is_empty() {
            store.put_back(study_id, &again)?;
            trials = store.trials(study_id)?;
        }
        let queue: VecDeque<PlannedTrial> = trials
            .iter()
            .filter(|trial| trial.state == TrialState::Planned)
            .filter_map(StoredTrial::planned)
            .collect();
        let machine = store.keep_machine(&machine(study.folder()))?;
        let used = trials.iter().filter_map(|trial| trial.usage.as_ref()).map(|usage| usage.wall_s);
        Ok(Self {
            study: Arc::new(study.clone()),
            request,
            place,
            store,
            study_id,
            machine,
            engine: LocalEngine::new(study.run.slots as usize)?,
            total: trials.len(),
            recovered: orphans.len(),
            queue,
            running: BTreeMap::new(),
            retries_used: BTreeMap::new(),
            seconds_used: used.sum(),
        })
    }

    /// Runs the first configuration a few times and throws the results away.
    fn warm_up(
        &mut self,
        wish: &dyn Fn() -> Wish,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<Flow, Error> {
        // Warming up for trials that the budget does not allow would be for nothing.
        let of = if self.budget_is_spent() { 0 } else { self.study.run.warmup };
        for number in 1..=of {
            let Some(first) = self.queue.front() else { break };
            let trial = PlannedTrial { number: 0, ..first.clone() };
            on_event(RunEvent::WarmUp { number, of });
            self.engine.submit(self.order(&trial))?;
            loop {
                match self.engine.next_event(PATIENCE) {
                    Some(EngineEvent::Ended { .. }) => break,
                    Some(EngineEvent::NoRoom { reason, .. }) => {
                        return Err(Error::NoRoom { reason });
                    }
                    _ => self.pass_on(wish()),
                }
            }
            if wish() != Wish::GoOn {
                return Ok(Flow::Interrupted);
            }
        }
        Ok(Flow::GoOn)
    }

    fn work(
        &mut self,
        wish: &dyn Fn() -> Wish,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunEnd, Error> {
        let first: Vec<PlannedTrial> =
            (0..self.study.run.slots).map_while(|_| self.next(wish)).collect();
        self.store.start(self.study_id, &numbers(&first))?;
        self.submit(first, on_event)?;
        while !self.running.is_empty() {
            let event = self.engine.next_event(PATIENCE);
            self.pass_on(wish());
            match event {
                Some(EngineEvent::Ended { number, record }) => {
                    self.ended(number, &record, wish, on_event)?;
                }
                // The trials under way end with the engine and run again next time.
                Some(EngineEvent::NoRoom { reason, .. }) => return Err(Error::NoRoom { reason }),
                Some(EngineEvent::Progress { number, elapsed, latest }) => {
                    on_event(RunEvent::Progress { number, elapsed, latest: &latest });
                }
                Some(EngineEvent::Started { .. }) | None => {}
            }
        }
        Ok(if self.queue.is_empty() && wish() == Wish::GoOn {
            RunEnd::Complete
        } else if wish() != Wish::GoOn {
            RunEnd::Interrupted
        } else {
            RunEnd::BudgetSpent
        })
    }

    /// Keeps an ended trial and starts the next one in its slot.
    fn ended(
        &mut self,
        number: u32,
        record: &TrialRecord,
        wish: &dyn Fn() -> Wish,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<(), Error> {
        let Some(trial) = self.running.remove(&number) else { return Ok(()) };
        self.seconds_used += record.usage.as_ref().map_or(0.0, |usage| usage.wall_s);
        let again = wish() == Wish::GoOn && self.deserves_another_attempt(number, record);
        let next: Vec<PlannedTrial> =
            if again { vec![trial.clone()] } else { self.next(wish).into_iter().collect() };
        let ended = Ended { number, record, machine: self.machine };
        if let Err(error) = self.store.end(self.study_id, &ended, &numbers(&next)) {
            // Without a store there is nothing to run for.
            self.engine.stop(Stop::Now);
            return Err(error.into());
        }
        on_event(RunEvent::Ended { trial: &trial, record, again });
        self.submit(next, on_event)
    }

    fn deserves_another_attempt(&mut self, number: u32, record: &TrialRecord) -> bool {
        let run = &self.study.run;
        let used = self.retries_used.entry(number).or_default();
        let code = record
            .usage
            .as_ref()
            .and_then(|usage| usage.exit_code.or_else(|| usage.signal.map(|signal| 128 + signal)));
        let listed = code.is_some_and(|code| run.retry_on.contains(&code));
        let again = record.outcome.state() == TrialState::Failed && listed && *used < run.retries;
        *used += u32::from(again);
        again
    }

    /// The next trial to start, unless the user or the budget says stop.
    fn next(&mut self, wish: &dyn Fn() -> Wish) -> Option<PlannedTrial> {
        let stop = self.budget_is_spent() || wish() != Wish::GoOn;
        if stop { None } else { self.queue.pop_front() }
    }

    fn budget_is_spent(&self) -> bool {
        let hours = self.seconds_used / 3600.0 / f64::from(self.study.run.slots);
        self.study.budget.max_hours.is_some_and(|most| hours >= most)
    }

    fn submit(
        &mut self,
        trials: Vec<PlannedTrial>,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<(), Error> {
        for trial in trials {
            self.engine.submit(self.order(&trial))?;
            on_event(RunEvent::Started { trial: &trial });
            self.running.insert(trial.number, trial);
        }
        Ok(())
    }

    fn order(&self, trial: &PlannedTrial) -> TrialOrder {
        TrialOrder {
            study: Arc::clone(&self.study),
            trial: trial.clone(),
            folder: self.place.trial(trial.number),
            program: self.request.program.clone(),
        }
    }

    fn pass_on(&mut self, wish: Wish) {
        match wish {
            Wish::GoOn => {}
            Wish::Stop => self.engine.stop(Stop::Politely),
            Wish::StopNow => self.engine.stop(Stop::Now),
        }
    }
}

fn numbers(trials: &[PlannedTrial]) -> Vec<u32> {
    trials.iter().map(|trial| trial.number).collect()
}
