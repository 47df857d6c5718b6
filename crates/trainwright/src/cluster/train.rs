//! `train` on a cluster: a gang of ranks in a barrier stage, started again from its checkpoint.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trainwright_analysis::attribute;
use trainwright_engine::EngineError;
use trainwright_engine::spark::{
    ExecutorLink, GangEnd, GangEvent, GangOrder, GangWish, SparkDriver, UsageMeter, run_gang,
};
use trainwright_records::pictures::PixelLimit;
use trainwright_study::JobSpec;
use trainwright_train::{
    CheckpointOptions, CheckpointStart, Flow, Meeting, Restarted, TrainEvent, TrainOptions,
    TrainOutcome, WorkRequest, Workers, last_checkpoint, processes, train_with, work_with_secret,
};

use super::executor::unread;
use super::start::{ClusterReply, ClusterUse, SparkRequest, seen_from_anywhere};
use crate::trainings::bottleneck::account_elsewhere;
use crate::{Error, Trained, Wish};

pub(super) const KIND: &str = "rank";

/// How often a gang is started again: one that cannot live is told.
const MOST_RESTARTS: u32 = 3;

/// Seconds in which executors may come back after a loss.
const RETURN_SECONDS: f64 = 20.0;

/// A gang's rank tells its usage and events by these keys.
const EVENT: &str = "event";
const STOP: &str = "stop";

/// How a gang is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GangOptions {
    /// Fewest workers to go on with when executors are lost for good; as many as asked for where
    /// absent.
    pub min_workers: Option<u32>,
}

/// What every rank is told.
#[derive(Debug, Serialize, Deserialize)]
struct Common {
    job: JobSpec,
    checkpoint: Option<CheckpointOptions>,
    export: Vec<PathBuf>,
    trace: Option<PathBuf>,
    record: Option<PathBuf>,
    max_pixels: Option<PixelLimit>,
    patience: Option<Duration>,
    /// What ranks prove to each other to know.
    secret: String,
}

/// Trains one network by ranks on a Spark cluster; `on_event` hears every step and may stop it.
///
/// Paths are seen by all executors. When a rank is lost, all are started again, from the last
/// checkpoint where the job is kept.
///
/// # Errors
/// The strategy has one process, there are too few slots, Spark is not there, or the gang is lost
/// too often.
pub fn train_on_spark(
    job: &JobSpec,
    options: &TrainOptions,
    gang: GangOptions,
    request: &SparkRequest<'_>,
    on_event: &mut dyn FnMut(&TrainEvent) -> Flow,
    wish: &dyn Fn() -> Wish,
    tell: &mut dyn FnMut(String),
) -> Result<(Trained, ClusterReply), Error> {
    if processes(job) < 2 {
        let message = "a gang on a cluster has several processes: choose --strategy multi-worker, \
                       parameter-server or local-sgd, and --workers 2 or more";
        return Err(Error::Request(message.to_owned()));
    }
    job.check().map_err(|error| Error::Train(error.into()))?;
    let cluster = ClusterUse { spark: &request.spark, program: request.program, suited: &[] };
    let driver = cluster.start(&|| wish() == Wish::GoOn, tell)?;
    let mut run = GangRun {
        driver: &driver,
        job: everywhere(job),
        options: everywhere_kept(options),
        gang,
        restarts: 0,
        tasks: Vec::new(),
    };
    let outcome = run.run(on_event, wish, tell)?;
    let reply = ClusterReply {
        application: driver.application().clone(),
        slots: driver.slots_within(0, 0.0).unwrap_or(0),
        partitions: processes(&run.job),
        tasks: run.tasks,
    };
    let account = match &outcome {
        TrainOutcome::Done(done) => account_elsewhere(&run.job, done),
        TrainOutcome::Diverged(_) | TrainOutcome::Stopped(_) => None,
    };
    let bottleneck = account.as_ref().and_then(attribute);
    Ok((Trained { outcome, account, bottleneck, planned: None }, reply))
}

/// A gang on its way, perhaps for the second time.
struct GangRun<'a> {
    driver: &'a SparkDriver,
    job: JobSpec,
    options: TrainOptions,
    gang: GangOptions,
    restarts: u32,
    tasks: Vec<trainwright_study::ClusterTask>,
}

impl GangRun<'_> {
    fn run(
        &mut self,
        on_event: &mut dyn FnMut(&TrainEvent) -> Flow,
        wish: &dyn Fn() -> Wish,
        tell: &mut dyn FnMut(String),
    ) -> Result<TrainOutcome, Error> {
        loop {
            let ranks = processes(&self.job);
            tell(format!("{ranks} ranks in a barrier stage"));
            let (outcome, end) = self.once(on_event, wish)?;
            self.tasks.extend(end.cluster);
            let why = match (outcome, end.failure) {
                (Some(outcome), _) => return Ok(outcome),
                (None, _) if end.cancelled => return Err(Error::GivenUp),
                (None, why) => why.unwrap_or_else(|| "rank 0 ended without a result".to_owned()),
            };
            if is_faulty_input(&why) || self.restarts == MOST_RESTARTS {
                let job = format!("training on {ranks} ranks");
                return Err(EngineError::SparkJob { job, message: why }.into());
            }
            self.restarts += 1;
            let told = TrainEvent::Restarted(self.restarted(&why));
            if on_event(&told) == Flow::Stop {
                return Err(Error::GivenUp);
            }
            self.fit_to_slots(tell)?;
        }
    }

    /// What is told of a start from what was kept.
    fn restarted(&mut self, why: &str) -> Restarted {
        let kept = self.options.checkpoint.as_mut();
        let checkpoint = kept.and_then(|own| {
            own.start = CheckpointStart::Resume;
            last_checkpoint(&own.folder)
        });
        Restarted { why: why.to_owned(), checkpoint, restarts: self.restarts }
    }

    /// Waits for slots to come back, and takes fewer workers where that is allowed.
    fn fit_to_slots(&mut self, tell: &mut dyn FnMut(String)) -> Result<(), Error> {
        let ranks = processes(&self.job);
        let slots = self.driver.slots_within(ranks, RETURN_SECONDS)?;
        let missing = ranks.saturating_sub(slots);
        if missing == 0 {
            return Ok(());
        }
        let least = self.gang.min_workers.unwrap_or(self.job.workers);
        let workers = self.job.workers.saturating_sub(missing);
        // One worker of a strategy without servers would be one process, and no gang.
        if workers < least.max(1) || processes(&JobSpec { workers, ..self.job.clone() }) < 2 {
            return Err(EngineError::TooFewSlots { wanted: ranks, slots }.into());
        }
        tell(format!("going on with {workers} workers, for there are {slots} slots"));
        self.job.workers = workers;
        Ok(())
    }

    /// Runs the gang once.
    fn once(
        &self,
        on_event: &mut dyn FnMut(&TrainEvent) -> Flow,
        wish: &dyn Fn() -> Wish,
    ) -> Result<(Option<TrainOutcome>, GangEnd), Error> {
        let options = &self.options;
        let common = Common {
            job: self.job.clone(),
            checkpoint: options.checkpoint.clone(),
            export: options.export.clone(),
            trace: options.trace.clone(),
            record: options.record.clone(),
            max_pixels: options.max_pixels,
            patience: options.patience,
            secret: new_secret()?,
        };
        let order = GangOrder {
            driver: self.driver,
            kind: KIND,
            body: serde_json::to_value(common).expect("names and numbers become JSON"),
            ranks: processes(&self.job),
            words: format!("training, {}", self.job.strategy.word()),
        };
        let (mut outcome, mut stopping, mut together, mut told) = (None, false, false, false);
        let end = run_gang(&order, &mut |event| {
            match event {
                Some(GangEvent::Together) => together = true,
                Some(GangEvent::Said { rank: 0, value }) => {
                    if let Some(event) = event_of(value) {
                        stopping |= on_event(&event) == Flow::Stop;
                        outcome = outcome_of(event).or(outcome.take());
                    }
                }
                Some(GangEvent::Said { .. }) | None => {}
            }
            match wish() {
                Wish::StopNow => GangWish::Cancel,
                Wish::GoOn if !stopping => GangWish::GoOn,
                // Before all are there nobody could keep anything.
                _ if !together => GangWish::Cancel,
                _ if told => GangWish::GoOn,
                _ => {
                    told = true;
                    GangWish::Tell(json!({ STOP: true }))
                }
            }
        })?;
        Ok((outcome, end))
    }
}

/// Whether a rank ended with the code for faulty input, which another start would not mend.
fn is_faulty_input(why: &str) -> bool {
    why.lines().next().is_some_and(|line| line.ends_with("ended with 2:"))
}

fn event_of(value: &Value) -> Option<TrainEvent> {
    serde_json::from_value(value.get(EVENT)?.clone()).ok()
}

fn outcome_of(event: TrainEvent) -> Option<TrainOutcome> {
    match event {
        TrainEvent::Done(done) => Some(TrainOutcome::Done(done)),
        TrainEvent::Diverged(at) => Some(TrainOutcome::Diverged(at)),
        TrainEvent::Stopped(at) => Some(TrainOutcome::Stopped(at)),
        _ => None,
    }
}

fn new_secret() -> Result<String, Error> {
    Ok(trainwright_engine::spark::random_digits()?)
}

/// The job with paths that hold on every machine.
fn everywhere(job: &JobSpec) -> JobSpec {
    let mut own = job.clone();
    let there = |text: &str| Path::new(text).exists().then(|| absolute_text(text));
    own.data = there(&own.data).unwrap_or(own.data);
    own.test_data = own.test_data.map(|text| there(&text).unwrap_or(text));
    own.weights = own.weights.map(|text| there(&text).unwrap_or(text));
    own.data_dir = own.data_dir.map(|path| seen_from_anywhere(&path));
    own.tensorboard = own.tensorboard.map(|path| seen_from_anywhere(&path));
    own
}

fn absolute_text(text: &str) -> String {
    seen_from_anywhere(Path::new(text)).to_string_lossy().into_owned()
}

fn everywhere_kept(options: &TrainOptions) -> TrainOptions {
    let mut own = options.clone();
    let absolute = |path: PathBuf| seen_from_anywhere(&path);
    own.checkpoint =
        own.checkpoint.map(|kept| CheckpointOptions { folder: absolute(kept.folder), ..kept });
    own.export = own.export.into_iter().map(absolute).collect();
    own.trace = own.trace.map(absolute);
    own.record = own.record.map(absolute);
    own
}

/// Is one rank on an executor.
pub(super) fn serve(link: &ExecutorLink, body: Value) -> Result<(), Error> {
    let common: Common =
        serde_json::from_value(body).map_err(|error| unread(&error.to_string()))?;
    let meter = UsageMeter::of_whole_process();
    let rank = link.task().partition as usize;
    if rank == 0 {
        lead(link, common)?;
    } else {
        let addresses = link.exchange_addresses("-")?;
        let request = WorkRequest {
            join: addresses.first().cloned().unwrap_or_default(),
            secret: PathBuf::new(),
            rank: Some(rank),
            max_pixels: common.max_pixels,
            patience: common.patience,
        };
        work_with_secret(common.secret.as_bytes(), &request)?;
    }
    link.say(&json!({"usage": meter.used()}))?;
    link.close();
    Ok(())
}

/// Is rank 0: listens before the others are told where, trains, and tells what happens.
fn lead(link: &ExecutorLink, common: Common) -> Result<(), Error> {
    let host = link.task().host.clone().unwrap_or_else(|| "127.0.0.1".to_owned());
    let listening = |source| Error::Train(trainwright_train::TrainError::Meeting(source));
    let listener = TcpListener::bind((host.as_str(), 0)).map_err(listening)?;
    let port = listener.local_addr().map_err(listening)?.port();
    link.exchange_addresses(&format!("{host}:{port}"))?;
    let meeting = Meeting::new(listener, common.secret.as_bytes())?;
    let options = TrainOptions {
        checkpoint: common.checkpoint,
        export: common.export,
        trace: common.trace,
        max_pixels: common.max_pixels,
        workers: Some(Workers::Gathering(meeting)),
        patience: common.patience,
        record: common.record,
        replay: None,
    };
    let (mut stopped, mut gone) = (false, None);
    train_with(&common.job, &options, &mut |event| {
        gone = link.say(&json!({ EVENT: event })).err();
        while let Some(line) = link.line_so_far() {
            stopped |= line.get(STOP).is_some();
        }
        if stopped || gone.is_some() { Flow::Stop } else { Flow::Continue }
    })?;
    match gone {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_line_tells_a_fault_of_the_input() {
        assert!(is_faulty_input("partition 0, attempt 1, ended with 2:\nno such file"));
        assert!(!is_faulty_input("partition 1, attempt 1, ended with -9"));
        assert!(!is_faulty_input("partition 1, attempt 1, ended with 3:\nended with 2:"));
    }

    #[test]
    fn a_strategy_of_one_process_is_no_gang() {
        let text = r#"{"network": "mlp", "data": "fashion-mnist-sample", "seed": 1}"#;
        let job: JobSpec = serde_json::from_str(text).unwrap();
        let request = SparkRequest {
            spark: Default::default(),
            partitions: None,
            program: Path::new("trainwright"),
        };
        let refused = train_on_spark(
            &job,
            &TrainOptions::default(),
            GangOptions::default(),
            &request,
            &mut |_| Flow::Continue,
            &|| Wish::GoOn,
            &mut |_| (),
        );
        assert!(refused.err().unwrap().to_string().contains("--workers 2 or more"));
    }
}
