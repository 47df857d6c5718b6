//! Keeps the trials of a study in its store and decides what follows an end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trainwright_engine::{Engine, outputs};
use trainwright_probe::machine;
use trainwright_store::{Circumstances, Ended, Store, StoreError};
use trainwright_study::{PlannedTrial, Study, TrialRecord, TrialState, Usage};

use super::{Queue, RunEnd, RunEvent};
use crate::running::driver::{After, Keeper, TrialEnd};
use crate::studies::derived::derived_record;
use crate::studies::rereading::rules;
use crate::{Error, Place};

/// How often the progress of one trial is kept for others to see.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Times that a busy store is tried again before the run gives up; each try waits ten seconds.
const BUSY_TRIES: u32 = 60;

pub(super) struct StudyKeeper<'a> {
    study: Arc<Study>,
    place: Place,
    store: Store,
    study_id: i64,
    machine: i64,
    circumstances: i64,
    retries_used: BTreeMap<u32, u32>,
    seconds_used: f64,
    /// Whether the rules of all metrics have found something in some trial.
    rules_work: bool,
    no_metric: bool,
    told: BTreeMap<u32, Instant>,
    on_event: &'a mut dyn FnMut(RunEvent<'_>),
}

impl<'a> StudyKeeper<'a> {
    pub(super) fn new(
        study: &Study,
        place: &Place,
        mut store: Store,
        queue: &Queue,
        engine: &dyn Engine,
        on_event: &'a mut dyn FnMut(RunEvent<'_>),
    ) -> Result<Self, Error> {
        let machine = store.keep_machine(&machine(study.folder()))?;
        // Without the values of variables that are not to be kept.
        let mut basis = serde_json::to_value(study.basis()).expect("plain data becomes JSON");
        let circumstances = store.keep_circumstances(&Circumstances {
            engine: engine.name().to_owned(),
            slots: engine.slots(),
            rules: rules(study),
            task: basis["task"].take(),
            superseded: None,
        })?;
        Ok(Self {
            study: Arc::new(study.clone()),
            place: place.clone(),
            store,
            study_id: queue.study_id,
            machine,
            circumstances,
            retries_used: BTreeMap::new(),
            seconds_used: queue.trials.iter().map(|trial| trial.used_s).sum(),
            rules_work: queue.trials.iter().any(|trial| found_metrics(trial.state)),
            no_metric: false,
            told: BTreeMap::new(),
            on_event,
        })
    }

    pub(super) fn tell(&mut self, event: RunEvent<'_>) {
        (self.on_event)(event);
    }

    pub(super) fn budget_is_spent(&self) -> bool {
        let hours = self.seconds_used / 3600.0 / f64::from(self.study.run.slots);
        self.study.budget.max_hours.is_some_and(|most| hours >= most)
    }

    /// Why no further trial was allowed.
    pub(super) fn why_halted(&self) -> RunEnd {
        if self.no_metric { RunEnd::NoMetric } else { RunEnd::BudgetSpent }
    }

    /// Writes, however long another program keeps the store busy.
    fn write(
        &mut self,
        mut change: impl FnMut(&mut Store, i64) -> Result<(), StoreError>,
    ) -> Result<(), Error> {
        let (store, study_id) = (&mut self.store, self.study_id);
        patiently(|| change(store, study_id), || (self.on_event)(RunEvent::StoreBusy))
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

    /// The command that tries the study's rules on the output of a trial.
    fn try_with(&self, trial: &PlannedTrial) -> String {
        let output = outputs(&self.place.trials, trial.number)
            .map_or_else(|| self.place.trial(trial.number), |kept| kept.stdout);
        let study = self.study.source.path.display();
        format!("trainwright metrics test {} --study {study}", output.display())
    }
}

/// Tries a change again while the store is busy; the store itself waits some seconds each time.
fn patiently(
    mut change: impl FnMut() -> Result<(), StoreError>,
    mut on_busy: impl FnMut(),
) -> Result<(), Error> {
    for _ in 0..BUSY_TRIES {
        match change() {
            Err(StoreError::Busy { .. }) => on_busy(),
            done => return Ok(done?),
        }
    }
    Ok(change()?)
}

/// Whether the rules of metrics found something in a trial that ended like this.
fn found_metrics(state: TrialState) -> bool {
    matches!(state, TrialState::Finished | TrialState::Diverged)
}

impl Keeper for StudyKeeper<'_> {
    fn allows_another(&self) -> bool {
        !self.budget_is_spent() && !self.no_metric
    }

    fn begin(&mut self, trials: &[PlannedTrial]) -> Result<(), Error> {
        self.write(|store, study| store.start(study, trials))?;
        for trial in trials {
            self.tell(RunEvent::Started { trial });
        }
        Ok(())
    }

    fn hear(
        &mut self,
        number: u32,
        elapsed: Duration,
        latest: &[(String, f64)],
    ) -> Result<(), Error> {
        let due = self.told.get(&number).is_none_or(|last| last.elapsed() >= TELL_EVERY);
        if due {
            self.told.insert(number, Instant::now());
            let seconds = elapsed.as_secs_f64();
            self.write(|store, study| store.tell_progress(study, number, seconds, latest))?;
        }
        self.tell(RunEvent::Progress { number, elapsed, latest });
        Ok(())
    }

    fn after(&mut self, end: &TrialEnd<'_>) -> After {
        let state = end.record.outcome.state();
        self.rules_work |= found_metrics(state);
        if self.deserves_another_attempt(end.trial.number, end.record) {
            After::Again
        } else if !end.missing.is_empty() && !self.rules_work {
            // What found nothing here would find nothing in any other trial.
            self.no_metric = true;
            After::NoMore
        } else {
            After::Next
        }
    }

    fn end(&mut self, end: &TrialEnd<'_>, next: &[PlannedTrial]) -> Result<(), Error> {
        let TrialEnd { trial, record, .. } = *end;
        self.seconds_used += record.usage.as_ref().map_or(0.0, Usage::last_attempt_s);
        self.told.remove(&trial.number);
        let environment = self.study.kept_environment(&record.environment);
        let (machine, circumstances) = (self.machine, self.circumstances);
        let ended = Ended { number: trial.number, record, environment, machine, circumstances };
        self.write(|store, study| store.end(study, &ended, next))
    }

    fn announce(&mut self, end: &TrialEnd<'_>, after: After, next: &[PlannedTrial]) {
        let TrialEnd { trial, record, missing } = *end;
        let whole = derived_record(&self.study, trial, record);
        self.tell(RunEvent::Ended { trial, record: &whole, again: after == After::Again });
        if after == After::NoMore {
            let try_with = self.try_with(trial);
            let reason = record.outcome.reason().unwrap_or_default();
            self.tell(RunEvent::NoMetric { trial, missing, reason, try_with });
        }
        for trial in next {
            self.tell(RunEvent::Started { trial });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn busy() -> StoreError {
        StoreError::Busy { path: PathBuf::from("trainwright.db") }
    }

    #[test]
    fn a_busy_store_is_waited_for() {
        let (mut tries, mut told) = (0, 0);
        let change = || {
            tries += 1;
            if tries < 4 { Err(busy()) } else { Ok(()) }
        };
        patiently(change, || told += 1).unwrap();
        assert_eq!((tries, told), (4, 3));
    }

    #[test]
    fn a_store_that_stays_busy_ends_the_run_in_the_end() {
        let mut told = 0;
        let error = patiently(|| Err(busy()), || told += 1).unwrap_err();
        assert_eq!(told, BUSY_TRIES);
        assert!(error.to_string().contains("another program is writing it"), "{error}");
    }

    #[test]
    fn any_other_trouble_is_told_at_once() {
        let mut tries = 0;
        let change = || {
            tries += 1;
            Err(StoreError::ReadOnly { path: PathBuf::from("trainwright.db") })
        };
        assert!(patiently(change, || ()).is_err());
        assert_eq!(tries, 1);
    }
}
