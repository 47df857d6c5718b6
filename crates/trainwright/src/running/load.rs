//! The verb `load`: real jobs arrive at this machine, wait for a slot, run and leave.
//!
//! The loop is that of `driver.rs`. `plan.rs` says what runs and when it arrives, `keeper.rs` times
//! the jobs, `record.rs` keeps what was measured, `findings.rs` words it. Arrivals keep to their plan whatever the slots do: a job's wait counts from its
//! planned arrival, so a slow machine cannot hide its queue.

mod findings;
mod keeper;
mod plan;
mod record;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use trainwright_analysis::Finding;
use trainwright_engine::{LocalEngine, LocalPlace};
use trainwright_queueing::{
    ArrivalPlan, LoadModel, MeasuredJob, MeasuredQueue, QueueingError, measure,
};
use trainwright_search::{Arrival, Arrivals};
use trainwright_study::{Configuration, Seed, Study, TrialState};

use crate::running::driver::{DriveEnd, Driver};
use crate::running::lock::Lock;
use crate::running::run::Wish;
use crate::{Error, Place};
use keeper::LoadKeeper;
pub use plan::LoadArrivals;
use record::Record;

/// Part of the seed that the jobs' own seeds derive from; it never changes.
const JOB_SEEDS: u64 = 2;
/// The same for the simulation that jobs are compared with.
const MODEL_SEED: u64 = 3;

/// Which load is put on the machine.
#[derive(Debug, Clone)]
pub struct LoadRequest<'a> {
    /// The store beside which results are kept, where the user named one.
    pub store: Option<&'a Path>,
    /// When jobs arrive.
    pub arrivals: LoadArrivals<'a>,
    /// Jobs; where `None`, as many as a file of arrivals lists.
    pub jobs: Option<u32>,
    /// Jobs at the same time; the study's own number where `None`.
    pub slots: Option<u32>,
    /// Jobs at the beginning that do not count in means.
    pub warmup_jobs: u32,
    /// Time after which the test ends, whatever still runs.
    pub max_time: Option<Duration>,
    /// Levels that the configuration must have.
    pub set: &'a [(String, String)],
    /// Decides arrivals and the jobs' seeds; the study's own where `None`.
    pub seed: Option<u64>,
    /// This program, which jobs of the built-in trainer start again.
    pub program: PathBuf,
}

/// What happens during a load test.
#[derive(Debug)]
pub enum LoadEvent<'a> {
    /// The test begins.
    Begun {
        /// Jobs that will arrive.
        jobs: usize,
        /// Jobs at the same time.
        slots: u32,
        /// What runs.
        configuration: &'a Configuration,
    },
    /// A job has ended.
    Ended {
        /// The job.
        job: &'a LoadJob,
        /// Jobs waiting or running now.
        present: usize,
    },
}

/// One job of a load test; times in seconds since the beginning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadJob {
    /// Its number by arrival, from 1.
    pub number: u32,
    /// When it came.
    pub arrival_s: f64,
    /// When a slot took it.
    pub start_s: f64,
    /// When it left.
    pub end_s: f64,
    /// From arrival to start.
    pub wait_s: f64,
    /// From start to end: how long it took a slot.
    pub service_s: f64,
    /// From arrival to end.
    pub response_s: f64,
    /// Its process's own time; absent where none started.
    pub process_s: Option<f64>,
    /// How it ended.
    pub state: TrialState,
    /// Why it did not finish.
    pub reason: Option<String>,
}

/// How a load test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadEnd {
    /// Every job has left.
    Complete,
    /// The time was up.
    TimeUp,
    /// The user stopped it.
    Interrupted,
}

/// What a load test measured.
#[derive(Debug, Clone, Serialize)]
pub struct LoadReply {
    /// The study's name.
    pub study: String,
    /// What ran.
    pub configuration: Configuration,
    /// How jobs arrived: `poisson`, `deterministic` or `file`.
    pub arrivals: &'static str,
    /// Jobs a second that were asked for; absent where a file said when they come.
    pub rate_per_s: Option<f64>,
    /// Jobs at the same time.
    pub slots: u32,
    /// What decided arrivals and the jobs' seeds.
    pub seed: u64,
    /// How the test ended.
    pub end: LoadEnd,
    /// Jobs that were to arrive.
    pub planned: usize,
    /// Jobs that arrived.
    pub arrived: usize,
    /// Jobs that arrived and never began.
    pub left_waiting: usize,
    /// What jobs that ended by themselves did; absent where they cannot be summed up.
    pub measured: Option<MeasuredQueue>,
    /// What a queue model says; absent like the above.
    pub model: Option<LoadModel>,
    /// Why there is no summary.
    pub not_summed: Option<String>,
    /// Every job that began, by arrival.
    pub jobs: Vec<LoadJob>,
    /// What it means.
    pub findings: Vec<Finding>,
    /// Where all this is kept.
    pub kept: PathBuf,
}

impl LoadReply {
    /// Number of jobs that ended in a state.
    pub fn count(&self, state: TrialState) -> usize {
        self.jobs.iter().filter(|job| job.state == state).count()
    }

    /// Jobs that ended by themselves, by arrival.
    pub fn measured_jobs(&self) -> Vec<MeasuredJob> {
        measured_jobs(&self.jobs)
    }
}

/// Puts a load of real jobs on this machine.
///
/// `wish` is asked several times a second; `on_event` hears what happens. Each job is on disk as
/// soon as it ends.
///
/// # Errors
/// The study is faulty or has nothing to run, the request is, another runner works on the study, or
/// results cannot be written. Failed jobs are no error.
pub fn load(
    study: &Study,
    request: &LoadRequest<'_>,
    wish: &dyn Fn() -> Wish,
    on_event: &mut dyn FnMut(LoadEvent<'_>),
) -> Result<LoadReply, Error> {
    if study.task.is_none() {
        return Err(Error::NothingToRun { study: study.name.clone() });
    }
    let (row, configuration) = plan::configuration(study, request.set)?;
    let seed = request.seed.map_or(study.seed, Seed::new);
    let (plan, moments) = plan::arrivals(&request.arrivals, request.jobs, seed)?;
    let place = Place::of(study, request.store).made()?;
    let _lock = Lock::take(&place.trials, &study.name)?;
    let mut record = Record::create(&place.loads())?;
    let slots = request.slots.unwrap_or(study.run.slots);
    let (trials, program) = (record.jobs_folder(), request.program.clone());
    let mut engine = LocalEngine::new(LocalPlace { trials, program, slots })?;
    on_event(LoadEvent::Begun { jobs: moments.len(), slots, configuration: &configuration });
    let arrival =
        Arrival { configuration: configuration.clone(), row, seed: seed.derive(JOB_SEEDS) };
    let mut arrivals = Arrivals::new(arrival, moments.clone());
    let mut driver = Driver::new(Arc::new(study.clone()), &mut engine, wish, request.max_time);
    let mut keeper = LoadKeeper::new(&moments, driver.begun(), &mut record, on_event);
    let end = match driver.drive(&mut arrivals, &mut keeper)? {
        DriveEnd::Complete | DriveEnd::Halted => LoadEnd::Complete,
        DriveEnd::TimeUp => LoadEnd::TimeUp,
        DriveEnd::Interrupted => LoadEnd::Interrupted,
    };
    let arrived = keeper.arrived(driver.open_for());
    let (jobs, left_waiting) = keeper.finish(arrived);
    // Jobs that cannot be summed up are kept all the same.
    let skipped = request.warmup_jobs as usize;
    let summed = summary(&plan, &jobs, skipped, slots, seed.derive(MODEL_SEED).value());
    let (measured, model, not_summed) = match summed {
        Ok((measured, model)) => (Some(measured), Some(model), None),
        Err(error) => (None, None, Some(error.to_string())),
    };
    let mut reply = LoadReply {
        study: study.name.clone(),
        configuration,
        arrivals: request.arrivals.word(),
        rate_per_s: request.arrivals.rate(),
        slots,
        seed: seed.value(),
        end,
        planned: moments.len(),
        arrived,
        left_waiting,
        measured,
        model,
        not_summed,
        jobs,
        findings: Vec::new(),
        kept: record.path().to_owned(),
    };
    reply.findings = findings::findings(&reply);
    record.finish(&reply)?;
    Ok(reply)
}

/// What the jobs did, and what a queue model says of them.
fn summary(
    plan: &ArrivalPlan,
    jobs: &[LoadJob],
    skipped: usize,
    slots: u32,
    seed: u64,
) -> Result<(MeasuredQueue, LoadModel), QueueingError> {
    let own = measured_jobs(jobs);
    let measured = measure(&own, skipped, slots, seed)?;
    let model = LoadModel::of(plan, &own, &measured, slots, seed)?;
    Ok((measured, model))
}

fn measured_jobs(jobs: &[LoadJob]) -> Vec<MeasuredJob> {
    let of =
        |job: &LoadJob| MeasuredJob { arrival: job.arrival_s, start: job.start_s, end: job.end_s };
    jobs.iter().filter(|job| job.state != TrialState::Stopped).map(of).collect()
}
