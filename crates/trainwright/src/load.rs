//! The verb `load`: real jobs arrive at this machine, wait for a slot, run and leave.
//!
//! `plan.rs` says what runs and when it arrives, `record.rs` keeps what was measured, `findings.rs`
//! words it. Arrivals keep to their plan whatever the slots do: a job's wait counts from its
//! planned arrival, so a slow machine cannot hide its queue.

mod findings;
mod plan;
mod record;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use trainwright_analysis::Finding;
use trainwright_engine::{Engine, EngineEvent, LocalEngine, LocalPlace, Stop, TrialOrder, Which};
use trainwright_queueing::{LoadModel, MeasuredJob, MeasuredQueue, measure};
use trainwright_study::{Configuration, PlannedTrial, Seed, Study, TrialRecord, TrialState};

use crate::lock::Lock;
use crate::run::Wish;
use crate::{Error, Place};
pub use plan::LoadArrivals;
use record::Record;

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
    let trials = record.jobs_folder();
    let engine = LocalEngine::new(LocalPlace { trials, program: request.program.clone(), slots })?;
    on_event(LoadEvent::Begun { jobs: moments.len(), slots, configuration: &configuration });
    let mut test = Test {
        study: Arc::new(study.clone()),
        row,
        configuration,
        seed,
        engine,
        begun: Instant::now(),
        waiting: VecDeque::new(),
        running: BTreeMap::new(),
        jobs: Vec::new(),
    };
    let (end, arrived) = test.work(&moments, request, &mut record, wish, on_event)?;
    let mut jobs = test.jobs;
    jobs.sort_by_key(|job| job.number);
    let own = measured_jobs(&jobs);
    let skipped = request.warmup_jobs as usize;
    let model_seed = seed.derive(3).value();
    // Jobs that cannot be summed up are kept all the same.
    let summed = measure(&own, skipped, slots, model_seed).and_then(|measured| {
        let model = LoadModel::of(&plan, &own, &measured, slots, model_seed)?;
        Ok((measured, model))
    });
    let (measured, model, not_summed) = match summed {
        Ok((measured, model)) => (Some(measured), Some(model), None),
        Err(error) => (None, None, Some(error.to_string())),
    };
    let mut reply = LoadReply {
        study: study.name.clone(),
        configuration: test.configuration,
        arrivals: request.arrivals.word(),
        rate_per_s: request.arrivals.rate(),
        slots,
        seed: seed.value(),
        end,
        planned: moments.len(),
        arrived,
        left_waiting: test.waiting.len(),
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

/// How often the user's wish is looked at while nothing else happens.
const PATIENCE: Duration = Duration::from_millis(100);

struct Test {
    study: Arc<Study>,
    row: u32,
    configuration: Configuration,
    seed: Seed,
    engine: LocalEngine,
    begun: Instant,
    /// Jobs that wait: number and arrival.
    waiting: VecDeque<(u32, f64)>,
    /// Arrival and start of the jobs that run.
    running: BTreeMap<u32, (f64, f64)>,
    jobs: Vec<LoadJob>,
}

impl Test {
    fn now(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn work(
        &mut self,
        moments: &[f64],
        request: &LoadRequest<'_>,
        record: &mut Record,
        wish: &dyn Fn() -> Wish,
        on_event: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<(LoadEnd, usize), Error> {
        let mut arrived = 0;
        let mut stopped = None;
        loop {
            if stopped.is_none() {
                stopped = self.must_stop(request, wish);
            } else {
                self.pass_on(wish());
            }
            if stopped.is_none() {
                while let Some(moment) = moments.get(arrived).filter(|at| **at <= self.now()) {
                    arrived += 1;
                    self.waiting.push_back((arrived as u32, *moment));
                }
                self.begin()?;
            }
            let nothing_left = arrived == moments.len() && self.waiting.is_empty();
            if self.running.is_empty() && (stopped.is_some() || nothing_left) {
                return Ok((stopped.unwrap_or(LoadEnd::Complete), arrived));
            }
            let next = moments.get(arrived).filter(|_| stopped.is_none());
            let until = next.map_or(PATIENCE, |at| {
                Duration::try_from_secs_f64(at - self.now()).unwrap_or(Duration::ZERO)
            });
            match self.engine.next_event(until.min(PATIENCE)) {
                Some(EngineEvent::Ended { number, record: end, .. }) => {
                    self.end(number, &end, record)?;
                    let present = self.waiting.len() + self.running.len();
                    if let Some(job) = self.jobs.last() {
                        on_event(LoadEvent::Ended { job, present });
                    }
                }
                Some(EngineEvent::NoRoom { reason, .. }) => return Err(Error::NoRoom { reason }),
                Some(EngineEvent::Started { .. } | EngineEvent::Progress { .. }) | None => {}
            }
        }
    }

    /// Whether the test must end before its jobs have; tells the engine so.
    fn must_stop(&mut self, request: &LoadRequest<'_>, wish: &dyn Fn() -> Wish) -> Option<LoadEnd> {
        let wish = wish();
        if wish != Wish::GoOn {
            self.pass_on(wish);
            return Some(LoadEnd::Interrupted);
        }
        if request.max_time.is_some_and(|most| self.begun.elapsed() >= most) {
            self.engine.stop(Which::All, Stop::Politely);
            return Some(LoadEnd::TimeUp);
        }
        None
    }

    fn pass_on(&mut self, wish: Wish) {
        match wish {
            Wish::GoOn => {}
            Wish::Stop => self.engine.stop(Which::All, Stop::Politely),
            Wish::StopNow => self.engine.stop(Which::All, Stop::Now),
        }
    }

    /// Starts waiting jobs, first come first served, while slots are free.
    fn begin(&mut self) -> Result<(), Error> {
        while self.engine.free_slots() > 0 {
            let Some((number, arrival)) = self.waiting.pop_front() else { break };
            // Seeds fit 31 bits, as many programs want.
            let seed = (self.seed.derive(2).derive(u64::from(number)).value() >> 33) as u32;
            let start = self.now();
            self.engine.submit(TrialOrder {
                study: Arc::clone(&self.study),
                trial: PlannedTrial {
                    number,
                    row: Some(self.row),
                    replicate: number,
                    configuration: self.configuration.clone(),
                    block: None,
                    whole_plot: None,
                    seed,
                },
                slots: 1,
            })?;
            self.running.insert(number, (arrival, start));
        }
        Ok(())
    }

    fn end(&mut self, number: u32, trial: &TrialRecord, record: &mut Record) -> Result<(), Error> {
        let Some((arrival_s, start_s)) = self.running.remove(&number) else { return Ok(()) };
        let end_s = self.now();
        let job = LoadJob {
            number,
            arrival_s,
            start_s,
            end_s,
            wait_s: start_s - arrival_s,
            service_s: end_s - start_s,
            response_s: end_s - arrival_s,
            process_s: trial.usage.as_ref().map(|usage| usage.wall_s),
            state: trial.outcome.state(),
            reason: trial.outcome.reason().map(str::to_owned),
        };
        record.keep(&job)?;
        self.jobs.push(job);
        Ok(())
    }
}

fn measured_jobs(jobs: &[LoadJob]) -> Vec<MeasuredJob> {
    let of =
        |job: &LoadJob| MeasuredJob { arrival: job.arrival_s, start: job.start_s, end: job.end_s };
    jobs.iter().filter(|job| job.state != TrialState::Stopped).map(of).collect()
}
