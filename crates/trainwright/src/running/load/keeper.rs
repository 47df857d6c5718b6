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

    fn end(&mut self, end: &TrialEnd<'_>, next: &[PlannedTrial]) -> Result<(), Error> {
        let job = self.timed(end);
        self.starts.remove(&job.number);
        self.note_starts(next);
        self.record.keep(&job)?;
        self.jobs.push(job);
        Ok(())
    }

    fn announce(&mut self, _: &TrialEnd<'_>, _: After, _: &[PlannedTrial]) {
        let present = self.arrived(self.begun.elapsed()).saturating_sub(self.jobs.len());
        let job = self.jobs.last().expect("the job whose end was kept");
        (self.on_event)(LoadEvent::Ended { job, present });
    }
}

#[cfg(test)]
mod tests {
    use trainwright_study::{Configuration, Outcome, TrialRecord, TrialState};

    use super::*;

    fn planned(number: u32) -> PlannedTrial {
        PlannedTrial {
            number,
            row: Some(1),
            replicate: number,
            seed: 1,
            block: None,
            whole_plot: None,
            configuration: Configuration::new(Vec::new()),
        }
    }

    fn ended(outcome: Outcome) -> TrialRecord {
        TrialRecord {
            outcome,
            measurements: Vec::new(),
            usage: None,
            series: Vec::new(),
            command: Vec::new(),
            environment: BTreeMap::new(),
            started_ms: 0,
            output_end: String::new(),
            cluster: Vec::new(),
        }
    }

    /// Feeds ends to a keeper whose test began 100 seconds ago, and gives what it kept.
    fn kept(ends: &[(u32, Outcome)], arrived: usize) -> (Vec<LoadJob>, usize, Vec<usize>) {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::create(folder.path()).unwrap();
        let begun = Instant::now().checked_sub(Duration::from_secs(100)).unwrap();
        let mut present = Vec::new();
        let mut hear = |event: LoadEvent<'_>| {
            if let LoadEvent::Ended { present: own, .. } = event {
                present.push(own);
            }
        };
        let moments = [10.0, 20.0, 30.0, 500.0];
        let mut keeper = LoadKeeper::new(&moments, begun, &mut record, &mut hear);
        let trials: Vec<PlannedTrial> = ends.iter().map(|(number, _)| planned(*number)).collect();
        keeper.begin(&trials).unwrap();
        for ((_, outcome), trial) in ends.iter().zip(&trials) {
            let record = ended(outcome.clone());
            let end = TrialEnd { trial, record: &record, missing: &[] };
            assert!(matches!(keeper.after(&end), After::Next));
            keeper.end(&end, &[]).unwrap();
            keeper.announce(&end, After::Next, &[]);
        }
        let (jobs, waiting) = keeper.finish(arrived);
        (jobs, waiting, present)
    }

    #[test]
    fn a_wait_counts_from_the_planned_arrival() {
        let (jobs, waiting, present) = kept(&[(1, Outcome::Finished)], 3);
        let job = &jobs[0];
        assert_eq!((job.number, job.arrival_s, job.state), (1, 10.0, TrialState::Finished));
        assert!(job.wait_s >= 90.0 && job.service_s >= 0.0, "{job:?}");
        assert!((job.wait_s + job.service_s - job.response_s).abs() < 1e-9);
        assert_eq!((waiting, present), (2, vec![2]), "two of the three that came are left");
    }

    #[test]
    fn jobs_are_given_by_arrival_whatever_order_they_end_in() {
        let failed = Outcome::Failed { reason: "exit 1".to_owned() };
        let ends = [(3, Outcome::Finished), (1, failed), (2, Outcome::Stopped)];
        let (jobs, waiting, present) = kept(&ends, 3);
        let numbers: Vec<u32> = jobs.iter().map(|job| job.number).collect();
        assert_eq!((numbers, waiting, present), (vec![1, 2, 3], 0, vec![2, 1, 0]));
        assert_eq!(jobs[0].reason.as_deref(), Some("exit 1"));
    }

    #[test]
    fn a_job_that_arrives_at_that_very_moment_has_arrived() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::create(folder.path()).unwrap();
        let mut hear = |_: LoadEvent<'_>| {};
        let moments = [1.0, 2.0, 2.0, 3.0];
        let keeper = LoadKeeper::new(&moments, Instant::now(), &mut record, &mut hear);
        let arrived = |seconds| keeper.arrived(Duration::from_secs_f64(seconds));
        assert_eq!([arrived(0.5), arrived(2.0), arrived(9.0)], [0, 3, 4]);
    }
}
