//! The engine that runs trials on a Spark cluster: a job of one task for each.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant, SystemTime};

use trainwright_study::{ClusterTask, Outcome, Study, TrialRecord};

use super::driver::SparkDriver;
use super::jobs::{JobEnd, JobEvent, JobState, Shape, TaskFigures};
use super::link::Go;
use super::links::Link;
use super::trial_process::{TRIAL_KIND, TrialWork, Wish, event_of};
use crate::local::{end_all_leftovers, make_private_folder};
use crate::slots::Slots;
use crate::{Engine, EngineError, EngineEvent, MissingMetric, Stop, TrialOrder, Which};

/// How long an earlier attempt's process may take to end what it runs before the next one starts.
const FENCE: Duration = Duration::from_secs(3);

/// How long trials may take to end when the engine is dropped.
const FAREWELL: Duration = Duration::from_secs(10);

/// Where an engine on Spark runs trials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparkPlace {
    /// The folder of a study's trials, which is made; all executors see it under this path.
    pub trials: PathBuf,
    /// Trials at the same time, as long as each takes one slot.
    pub slots: u32,
}

/// Runs trials as processes on the executors of a Spark cluster.
///
/// Each trial is a job of one task, so that Spark retries it alone when its executor is lost; a
/// trial whose own process fails has failed, as anywhere. On the executor the same code runs it
/// as on this machine.
#[derive(Debug)]
pub struct SparkEngine {
    driver: Arc<SparkDriver>,
    trials: PathBuf,
    slots: Slots<Running>,
    numbers: BTreeMap<u64, u32>,
    sender: Sender<(u64, JobEvent)>,
    events: Receiver<(u64, JobEvent)>,
    told: VecDeque<EngineEvent>,
    /// The study of the last order, ready to be sent.
    study: Option<(Arc<Study>, Study)>,
}

/// A trial under way.
#[derive(Debug)]
struct Running {
    job: u64,
    order: TrialOrder,
    link: Option<Arc<Link>>,
    /// A further attempt, which waits until the process of the one before has gone.
    next: Option<(Arc<Link>, Instant)>,
    started: bool,
    stop: Option<Stop>,
    cancelled: bool,
    /// Whether another trial ran on the same machine meanwhile, so that network bytes are both's.
    shared: bool,
    end: Option<(Box<TrialRecord>, Vec<MissingMetric>)>,
}

impl SparkEngine {
    /// An engine on an application of Spark.
    ///
    /// # Errors
    /// When the folder of the trials cannot be made.
    pub fn new(driver: Arc<SparkDriver>, place: SparkPlace) -> Result<Self, EngineError> {
        make_private_folder(&place.trials)?;
        let trials = std::fs::canonicalize(&place.trials)
            .map_err(EngineError::file("find", &place.trials))?;
        // A dead runner of this machine may have run trials here itself.
        end_all_leftovers(&trials);
        let (sender, events) = mpsc::channel();
        Ok(Self {
            driver,
            trials,
            slots: Slots::new(place.slots),
            numbers: BTreeMap::new(),
            sender,
            events,
            told: VecDeque::new(),
            study: None,
        })
    }

    /// The study with a path that holds on every machine.
    fn sent_study(&mut self, study: &Arc<Study>) -> Study {
        if let Some((known, sent)) = &self.study
            && Arc::ptr_eq(known, study)
        {
            return sent.clone();
        }
        let mut sent = Study::clone(study);
        if let Ok(path) = std::path::absolute(&sent.source.path) {
            sent.source.path = path;
        }
        self.study = Some((Arc::clone(study), sent.clone()));
        sent
    }

    fn hear(&mut self, job: u64, event: JobEvent) {
        let Some(&number) = self.numbers.get(&job) else { return };
        match event {
            JobEvent::Came(link) => self.came(number, link),
            JobEvent::Said(link, value) => self.said(number, link, value),
            JobEvent::Left(link) => self.left(number, link),
            JobEvent::Ended(end) => {
                self.numbers.remove(&job);
                self.job_ended(number, &end);
            }
            JobEvent::Lost(reason) => {
                self.numbers.remove(&job);
                self.told.push_back(EngineEvent::Lost { number, reason });
            }
        }
    }

    /// Gives a process its trial, unless it is over or an earlier attempt still runs it.
    fn came(&mut self, number: u32, link: Arc<Link>) {
        let Some(running) = self.slots.get_mut(number) else { return link.say(&Go::Nothing) };
        if running.end.is_some() || running.stop.is_some() {
            return link.say(&Go::Nothing);
        }
        if let Some(before) = &running.link {
            before.say(&Wish::Now);
            running.next = Some((link, Instant::now()));
            return;
        }
        self.go(number, link);
    }

    fn go(&mut self, number: u32, link: Arc<Link>) {
        let Some(running) = self.slots.get_mut(number) else { return };
        // It may have been stopped while this attempt waited.
        if running.stop.is_some() {
            return link.say(&Go::Nothing);
        }
        let (study, trial) = (Arc::clone(&running.order.study), running.order.trial.clone());
        let start = running.order.start;
        running.link = Some(Arc::clone(&link));
        let mut beside = false;
        for other in self.slots.all_mut() {
            let same = other.link.as_ref().is_some_and(|own| own.machine == link.machine);
            if same && other.order.trial.number != number {
                other.shared = true;
                beside = true;
            }
        }
        if let Some(running) = self.slots.get_mut(number) {
            running.shared |= beside;
        }
        let work =
            TrialWork { study: self.sent_study(&study), trial, trials: self.trials.clone(), start };
        let body = serde_json::to_value(&work).expect("names, numbers and texts become JSON");
        link.say(&Go::Work { kind: TRIAL_KIND.to_owned(), body });
    }

    fn said(&mut self, number: u32, link: u64, value: serde_json::Value) {
        let Some(running) = self.slots.get_mut(number) else { return };
        if running.link.as_ref().is_none_or(|own| own.id != link) || running.end.is_some() {
            return;
        }
        let Some(event) = event_of(value) else { return };
        match event {
            EngineEvent::Started { .. } if running.started => {}
            EngineEvent::Started { number, handle } => {
                running.started = true;
                let place =
                    running.link.as_ref().map(|own| own.machine.clone()).unwrap_or_default();
                let handle = crate::TrialHandle::new(format!("{handle} on {place}"));
                self.told.push_back(EngineEvent::Started { number, handle });
            }
            EngineEvent::Ended { record, missing, .. } => {
                // One that was told to make room for the next attempt has no result.
                if running.next.is_none() {
                    running.end = Some((record, missing));
                }
            }
            // The disk of one executor: nothing can be written there, so the study stops.
            EngineEvent::NoRoom { .. } => {
                self.driver.cancel(running.job);
                self.told.push_back(event);
                self.numbers.retain(|_, own| *own != number);
            }
            EngineEvent::Progress { .. } => self.told.push_back(event),
            EngineEvent::Lost { .. } => {}
        }
    }

    fn left(&mut self, number: u32, link: u64) {
        let Some(running) = self.slots.get_mut(number) else { return };
        if running.link.as_ref().is_some_and(|own| own.id == link) {
            running.link = None;
            if let Some((next, _)) = running.next.take() {
                self.go(number, next);
            }
        }
    }

    /// Starts attempts that have waited long enough for the one before.
    fn pass_fences(&mut self) {
        let late = |running: &mut Running| {
            let (next, since) = running.next.take()?;
            if since.elapsed() < FENCE {
                running.next = Some((next, since));
                return None;
            }
            if let Some(before) = running.link.take() {
                before.close();
            }
            Some((running.order.trial.number, next))
        };
        let ready: Vec<_> = self.slots.all_mut().filter_map(late).collect();
        ready.into_iter().for_each(|(number, link)| self.go(number, link));
    }

    fn job_ended(&mut self, number: u32, end: &JobEnd) {
        let Some(running) = self.slots.get_mut(number) else { return };
        let stopped = running.stop.is_some() || end.state == JobState::Cancelled;
        let (mut record, missing) = running.end.take().unwrap_or_else(|| {
            let outcome = if stopped {
                Outcome::Stopped
            } else {
                let words = end.message.as_deref().unwrap_or("no attempt told a result");
                Outcome::Failed { reason: format!("Spark gave the trial up: {words}") }
            };
            (Box::new(without_result(outcome)), Vec::new())
        });
        if running.shared
            && let Some(usage) = &mut record.usage
        {
            usage.network = None;
        }
        record.cluster = attempts(number, end, &record);
        self.told.push_back(EngineEvent::Ended { number, record, missing });
    }

    fn stop_one(&mut self, number: u32, how: Stop) {
        let Some(running) = self.slots.get_mut(number) else { return };
        // Whoever drives asks again and again; one that has told its end is about to go.
        let asked = running.stop.replace(how) == Some(how);
        if running.end.is_some() {
            return;
        }
        match &running.link {
            Some(link) if !asked => link.say(&Wish::from(how)),
            Some(_) => {}
            None if running.cancelled => {}
            None => {
                running.cancelled = true;
                self.driver.cancel(running.job);
            }
        }
    }

    fn stop_all(&mut self, how: Stop) {
        self.slots.close();
        let numbers: Vec<u32> = self.slots.all_mut().map(|own| own.order.trial.number).collect();
        numbers.into_iter().for_each(|number| self.stop_one(number, how));
    }
}

/// The attempts of Spark at a trial; the usage is that of the one that succeeded.
fn attempts(number: u32, end: &JobEnd, record: &TrialRecord) -> Vec<ClusterTask> {
    let join = |task: &TaskFigures| {
        let mut joined = task.joined(format!("trial {number}"), None);
        if joined.status == "success" {
            joined.usage.clone_from(&record.usage);
        }
        joined
    };
    end.tasks.iter().map(join).collect()
}

fn without_result(outcome: Outcome) -> TrialRecord {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    TrialRecord {
        outcome,
        measurements: Vec::new(),
        usage: None,
        series: Vec::new(),
        command: Vec::new(),
        environment: BTreeMap::new(),
        started_ms: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
        output_end: String::new(),
        cluster: Vec::new(),
    }
}

impl Engine for SparkEngine {
    fn name(&self) -> &'static str {
        "spark"
    }

    fn slots(&self) -> u32 {
        self.slots.total()
    }

    fn free_slots(&self) -> u32 {
        self.slots.free()
    }

    fn submit(&mut self, order: TrialOrder) -> Result<(), EngineError> {
        self.slots.check(&order)?;
        let number = order.trial.number;
        let words = format!("trial {number} of {}", order.study.name);
        let job = self.driver.submit(Shape::Map(1), &words, self.sender.clone());
        self.numbers.insert(job, number);
        let running = Running {
            job,
            order: order.clone(),
            link: None,
            next: None,
            started: false,
            stop: None,
            cancelled: false,
            shared: false,
            end: None,
        };
        self.slots.take(&order, running);
        Ok(())
    }

    fn next_event(&mut self, timeout: Duration) -> Option<EngineEvent> {
        let until = Instant::now() + timeout;
        loop {
            if let Some(event) = self.told.pop_front() {
                if event.is_end() {
                    self.slots.release(event.number());
                }
                return Some(event);
            }
            self.pass_fences();
            let left = until.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left.min(FENCE / 10)) {
                Ok((job, event)) => self.hear(job, event),
                Err(_) if left.is_zero() => return None,
                Err(_) => {}
            }
        }
    }

    fn stop(&mut self, which: Which, how: Stop) {
        match which {
            Which::All => self.stop_all(how),
            Which::One(number) => self.stop_one(number, how),
        }
    }
}

impl Drop for SparkEngine {
    /// Ends what still runs and waits until its processes have told so.
    fn drop(&mut self) {
        self.stop_all(Stop::Now);
        let begun = Instant::now();
        while !self.numbers.is_empty() && begun.elapsed() < FAREWELL {
            if let Some(event) = self.next_event(Duration::from_millis(50))
                && event.is_end()
            {
                self.numbers.retain(|_, own| *own != event.number());
            }
        }
    }
}
