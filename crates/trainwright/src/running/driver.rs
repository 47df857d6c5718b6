//! The one loop that runs trials: asks a proposer what to run, gives it to an engine, and hands
//! what comes back to a keeper.
//!
//! `run` and `load` are this loop with another proposer and another keeper. A trial's end and the
//! start of those that follow reach the keeper together, so that it can keep both as one change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use trainwright_engine::{
    Engine, EngineEvent, MissingMetric, StepReport, Stop, TrialOrder, TrialStart, Which,
};
use trainwright_search::{Course, Proposal, Proposer};
use trainwright_study::{MetricSource, Observation, Outcome, PlannedTrial, Study, TrialRecord};

use crate::running::trial_variables::TrialVariables;
use crate::studies::derived::derived_observation;
use crate::{Error, Wish};

/// How often the user's wish is looked at while nothing else happens.
const PATIENCE: Duration = Duration::from_millis(100);

/// Keeps what happens to trials and decides what follows an end.
pub(crate) trait Keeper {
    /// Whether another trial may begin now.
    fn allows_another(&self) -> bool;

    /// Keeps that trials begin.
    fn begin(&mut self, trials: &[PlannedTrial]) -> Result<(), Error>;

    /// Hears what a running trial reports.
    fn hear(
        &mut self,
        number: u32,
        elapsed: Duration,
        latest: &[(String, f64)],
    ) -> Result<(), Error>;

    /// What follows the end of a trial.
    fn after(&mut self, end: &TrialEnd<'_>) -> After;

    /// Keeps the end of a trial and that others begin, as one change.
    fn end(&mut self, end: &TrialEnd<'_>, next: &[PlannedTrial]) -> Result<(), Error>;

    /// Tells of that end and of those that began, which run meanwhile.
    fn announce(&mut self, end: &TrialEnd<'_>, after: After, next: &[PlannedTrial]);
}

/// The end of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialEnd<'a> {
    pub(crate) trial: &'a PlannedTrial,
    pub(crate) record: &'a TrialRecord,
    /// Metrics without a value, where the trial failed for want of them and of nothing else.
    pub(crate) missing: &'a [MissingMetric],
}

/// What follows the end of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The next trial.
    Next,
    /// The same trial once more.
    Again,
    /// No further trial; those under way go on to their end.
    NoMore,
}

/// How a drive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DriveEnd {
    /// The proposer has no more.
    Complete,
    /// The keeper allowed no more.
    Halted,
    /// The time was up.
    TimeUp,
    /// The user stopped it.
    Interrupted,
}

/// One run of the loop.
pub(crate) struct Driver<'a> {
    pub(crate) study: Arc<Study>,
    pub(crate) engine: &'a mut dyn Engine,
    pub(crate) wish: &'a dyn Fn() -> Wish,
    /// After this time the trials under way are stopped and no more begin.
    pub(crate) max_time: Option<Duration>,
    begun: Instant,
    running: BTreeMap<u32, PlannedTrial>,
    /// Trials that the proposer has cut short, with its reasons.
    cut_short: BTreeMap<u32, String>,
    /// Trials that were cut short and are to go on.
    going_on: BTreeSet<u32>,
    /// What sets further variables for each trial.
    variables: Option<TrialVariables>,
    end: Option<(DriveEnd, Duration)>,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        study: Arc<Study>,
        engine: &'a mut dyn Engine,
        wish: &'a dyn Fn() -> Wish,
        max_time: Option<Duration>,
    ) -> Self {
        Self {
            study,
            engine,
            wish,
            max_time,
            begun: Instant::now(),
            running: BTreeMap::new(),
            cut_short: BTreeMap::new(),
            going_on: BTreeSet::new(),
            variables: None,
            end: None,
        }
    }

    /// Sets further variables for each trial.
    pub(crate) fn with_variables(self, variables: Option<TrialVariables>) -> Self {
        Self { variables, ..self }
    }

    fn variables_of(&self, trial: &PlannedTrial) -> BTreeMap<String, String> {
        self.variables.as_ref().map(|own| own.of(trial)).unwrap_or_default()
    }

    /// Runs what the proposer proposes until it, the keeper, the time or the user says stop.
    pub(crate) fn drive(
        &mut self,
        proposer: &mut dyn Proposer,
        keeper: &mut dyn Keeper,
    ) -> Result<DriveEnd, Error> {
        loop {
            self.look_around();
            let (first, wait) = self.fill(proposer, keeper, self.engine.free_slots());
            if !first.is_empty() {
                keeper.begin(&first)?;
                self.submit(first)?;
            }
            if self.running.is_empty()
                && let Some((end, _)) = self.end
            {
                return Ok(end);
            }
            if let Some(event) = self.engine.next_event(wait.min(PATIENCE)) {
                self.take(event, proposer, keeper)?;
            }
        }
    }

    /// When the loop began.
    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    /// How long trials could begin, since the loop began.
    pub(crate) fn open_for(&self) -> Duration {
        self.end.map_or_else(|| self.begun.elapsed(), |(_, at)| at)
    }

    /// Runs one trial whose result counts for nothing; says whether the user lets it go on.
    pub(crate) fn warm_up(&mut self, trial: PlannedTrial) -> Result<bool, Error> {
        let (study, slots) = (Arc::clone(&self.study), 1);
        let start = TrialStart::Anew;
        let variables = self.variables_of(&trial);
        self.engine.submit(TrialOrder { study, trial, slots, start, variables })?;
        loop {
            match self.engine.next_event(PATIENCE) {
                Some(EngineEvent::Ended { .. }) => break,
                Some(EngineEvent::NoRoom { reason, .. }) => return Err(Error::NoRoom { reason }),
                Some(EngineEvent::Lost { reason, .. }) => return Err(Error::EngineLost { reason }),
                _ => self.look_around(),
            }
        }
        Ok((self.wish)() == Wish::GoOn)
    }

    /// Passes on what the user wants, and notes when the time is up.
    fn look_around(&mut self) {
        match (self.wish)() {
            Wish::GoOn if self.max_time.is_some_and(|most| self.begun.elapsed() >= most) => {
                if self.end.is_none() {
                    self.engine.stop(Which::All, Stop::Politely);
                    self.finish(DriveEnd::TimeUp);
                }
            }
            Wish::GoOn => {}
            Wish::Stop => self.interrupt(Stop::Politely),
            Wish::StopNow => self.interrupt(Stop::Now),
        }
    }

    fn interrupt(&mut self, how: Stop) {
        self.engine.stop(Which::All, how);
        self.finish(DriveEnd::Interrupted);
    }

    /// Notes that nothing more begins; the user's wish is the last word.
    fn finish(&mut self, end: DriveEnd) {
        match &mut self.end {
            Some((known, _)) if end == DriveEnd::Interrupted => *known = end,
            Some(_) => {}
            None => self.end = Some((end, self.begun.elapsed())),
        }
    }

    /// Trials to begin on free slots, and how long there is nothing else to do.
    fn fill(
        &mut self,
        proposer: &mut dyn Proposer,
        keeper: &dyn Keeper,
        slots: u32,
    ) -> (Vec<PlannedTrial>, Duration) {
        let mut trials = Vec::new();
        while self.end.is_none() && (trials.len() as u32) < slots {
            if (self.wish)() != Wish::GoOn {
                break;
            }
            if !keeper.allows_another() {
                self.finish(DriveEnd::Halted);
                break;
            }
            let now = self.begun.elapsed();
            match proposer.ask(now) {
                Proposal::Try(trial) => trials.push(trial),
                Proposal::GoOn(trial) => {
                    self.going_on.insert(trial.number);
                    trials.push(trial);
                }
                Proposal::Later(at) => return (trials, at.saturating_sub(now)),
                Proposal::Done => self.finish(DriveEnd::Complete),
            }
        }
        (trials, PATIENCE)
    }

    fn take(
        &mut self,
        event: EngineEvent,
        proposer: &mut dyn Proposer,
        keeper: &mut dyn Keeper,
    ) -> Result<(), Error> {
        match event {
            EngineEvent::Started { .. } => Ok(()),
            EngineEvent::Progress { number, elapsed, latest, steps } => {
                self.judge(number, &steps, proposer);
                keeper.hear(number, elapsed, &latest)
            }
            // The trials under way end with the engine and run again next time.
            EngineEvent::NoRoom { reason, .. } => Err(Error::NoRoom { reason }),
            EngineEvent::Lost { reason, .. } => Err(Error::EngineLost { reason }),
            EngineEvent::Ended { number, mut record, missing } => {
                let Some(trial) = self.running.remove(&number) else { return Ok(()) };
                if let Some(reason) = self.cut_short.remove(&number)
                    && record.outcome == Outcome::Stopped
                {
                    record.outcome = Outcome::CutShort { reason };
                }
                let end = TrialEnd { trial: &trial, record: &record, missing: &missing };
                self.ended(&end, proposer, keeper)
            }
        }
    }

    /// Lets the proposer judge a running trial by what it reports.
    fn judge(&mut self, number: u32, steps: &[StepReport], proposer: &mut dyn Proposer) {
        for report in steps {
            let named = named_values(&self.study, report);
            let course = proposer.hear(number, report.step, &named);
            if let Course::CutShort(reason) = course
                && self.running.contains_key(&number)
                && !self.cut_short.contains_key(&number)
            {
                self.cut_short.insert(number, reason);
                self.engine.stop(Which::One(number), Stop::Politely);
            }
        }
    }

    /// Keeps an ended trial and starts the next ones in its slots.
    fn ended(
        &mut self,
        end: &TrialEnd<'_>,
        proposer: &mut dyn Proposer,
        keeper: &mut dyn Keeper,
    ) -> Result<(), Error> {
        let mut after = keeper.after(end);
        if after == After::Again && (self.wish)() != Wish::GoOn {
            after = After::Next;
        }
        if after == After::NoMore {
            self.finish(DriveEnd::Halted);
        }
        let next = if after == After::Again {
            vec![end.trial.clone()]
        } else {
            let told: Observation = derived_observation(&self.study, end.trial, end.record);
            proposer.learn(end.trial.number, &end.record.series);
            proposer.tell(&told);
            self.fill(proposer, keeper, self.engine.free_slots()).0
        };
        if let Err(error) = keeper.end(end, &next) {
            // Without a place to keep results there is nothing to run for.
            self.engine.stop(Which::All, Stop::Now);
            return Err(error);
        }
        let submitted = self.submit(next.clone());
        keeper.announce(end, after, &next);
        submitted
    }

    fn submit(&mut self, trials: Vec<PlannedTrial>) -> Result<(), Error> {
        for trial in trials {
            let study = Arc::clone(&self.study);
            self.running.insert(trial.number, trial.clone());
            let start = match self.going_on.remove(&trial.number) {
                true => TrialStart::GoOn,
                false => TrialStart::Anew,
            };
            let variables = self.variables_of(&trial);
            self.engine.submit(TrialOrder { study, trial, slots: 1, start, variables })?;
        }
        Ok(())
    }
}

/// The values of a report by the names that metrics have.
fn named_values(study: &Study, report: &StepReport) -> Vec<(String, f64)> {
    let value = |key: &str| report.values.iter().find(|(own, _)| own == key).map(|(_, v)| *v);
    let named = study.metrics.iter().filter_map(|metric| match &metric.source {
        MetricSource::Reported { key }
        | MetricSource::Jsonl { key }
        | MetricSource::Stdout { key } => Some((metric.name.clone(), value(key)?)),
        _ => None,
    });
    named.collect()
}

#[cfg(test)]
mod tests;
