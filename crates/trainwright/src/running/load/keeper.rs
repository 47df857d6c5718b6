//! Times the jobs of a load test and keeps each as it ends.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use trainwright_study::PlannedTrial;

use super::record::Record;
use super::{LoadEvent, LoadJob};
use crate::Error;
use crate::running::driver::{After, Keeper, TrialEnd};

pub(super) struct LoadKeeper<'a> {
    /// When jobs arrive, in seconds since the beginning, ascending.
    moments: &'a [f64],
    begun: Instant,
    /// Starts of the jobs that run, in seconds since the beginning.
    starts: BTreeMap<u32, f64>,
    jobs: Vec<LoadJob>,
    record: &'a mut Record,
    on_event: &'a mut dyn FnMut(LoadEvent<'_>),
}

impl<'a> LoadKeeper<'a> {
    pub(super) fn new(
        moments: &'a [f64],
        begun: Instant,
        record: &'a mut Record,
        on_event: &'a mut dyn FnMut(LoadEvent<'_>),
    ) -> Self {
        Self { moments, begun, starts: BTreeMap::new(), jobs: Vec::new(), record, on_event }
    }

    /// Jobs that arrive within a time.
    pub(super) fn arrived(&self, within: Duration) -> usize {
        self.moments.partition_point(|moment| *moment <= within.as_secs_f64())
    }

    /// The jobs that began, by arrival, and the number of those that arrived and never did.
    pub(super) fn finish(self, arrived: usize) -> (Vec<LoadJob>, usize) {
        let mut jobs = self.jobs;
        jobs.sort_by_key(|job| job.number);
        let waiting = arrived.saturating_sub(jobs.len());
        (jobs, waiting)
    }

    fn now(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn note_starts(&mut self, trials: &[PlannedTrial]) {
        let now = self.now();
        self.starts.extend(trials.iter().map(|trial| (trial.number, now)));
    }

    fn timed(&self, end: &TrialEnd<'_>) -> LoadJob {
        let (number, end_s) = (end.trial.number, self.now());
        let arrival_s = self.moments[number as usize - 1];
        let start_s = self.starts.get(&number).copied().unwrap_or(end_s);
        LoadJob {
            number,
            arrival_s,
            start_s,
            end_s,
            wait_s: start_s - arrival_s,
            service_s: end_s - start_s,
            response_s: end_s - arrival_s,
            process_s: end.record.usage.as_ref().map(|usage| usage.wall_s),
            state: end.record.outcome.state(),
            reason: end.record.outcome.reason().map(str::to_owned),
        }
    }
}

impl Keeper for LoadKeeper<'_> {
    fn allows_another(&self) -> bool {
        true
    }

    fn begin(&mut self, trials: &[PlannedTrial]) -> Result<(), Error> {
        self.note_starts(trials);
        Ok(())
    }

    fn hear(&mut self, _: u32, _: Duration, _: &[(String, f64)]) -> Result<(), Error> {
        Ok(())
    }

    fn after(&mut self, _: &TrialEnd<'_>) -> After {
        After::Next
    }

    fn end(&mut self, end: &TrialEnd<'_>, _: After, next: &[PlannedTrial]) -> Result<(), Error> {
        let job = self.timed(end);
        self.starts.remove(&job.number);
        self.note_starts(next);
        self.record.keep(&job)?;
        let ended = self.jobs.len() + 1;
        let present = self.arrived(self.begun.elapsed()).saturating_sub(ended);
        (self.on_event)(LoadEvent::Ended { job: &job, present });
        self.jobs.push(job);
        Ok(())
    }
}
