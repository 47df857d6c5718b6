//! Many small tasks through few processes: a job whose partitions hold several tasks each.
//!
//! Spark schedules partitions, retries those that fail and may run a second attempt beside one that
//! takes long. Inside a partition tasks go one by one to its process and their results come back as
//! they are made. Of several attempts at a task the first result counts; later ones are not heard.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trainwright_study::{ClusterTask, Usage};

use super::driver::SparkDriver;
use super::jobs::{JobEnd, JobEvent, JobState, Shape, TaskFigures};
use super::link::{ExecutorLink, Go};
use super::links::Link;
use super::task_usage::UsageMeter;
use crate::EngineError;

/// Tasks that a process has at once, so that it need not wait for the next one.
const AHEAD: usize = 2;

/// How often a wish to stop is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long processes that lost a race may take to end.
const DISMISSED: Duration = Duration::from_millis(500);

/// How long a cancelled job may take to end.
const FAREWELL: Duration = Duration::from_secs(10);

/// Tasks to be done on a cluster.
#[derive(Debug)]
pub struct StreamedOrder<'a> {
    /// The application.
    pub driver: &'a SparkDriver,
    /// What kind of work it is, by which the processes know what to do.
    pub kind: &'a str,
    /// What all tasks have in common.
    pub common: Value,
    /// The tasks.
    pub tasks: Vec<Value>,
    /// Partitions to spread them over; no more than there are tasks.
    pub partitions: u32,
    /// What it is, to people.
    pub words: String,
}

/// A task that was done.
#[derive(Debug)]
pub struct TaskDone {
    /// Which, in the order that they were given.
    pub task: usize,
    /// What came of it.
    pub result: Value,
    /// What its process used for it.
    pub usage: Usage,
}

/// How all of them ended.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamedEnd {
    /// Whether the caller stopped it.
    pub stopped: bool,
    /// Attempts at the partitions, with what their processes used for tasks that counted.
    pub cluster: Vec<ClusterTask>,
}

/// What goes to a process after its work.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    Task { number: usize, task: Value },
    Over,
}

/// What a process says.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    number: usize,
    result: Value,
    usage: Usage,
}

/// Runs all tasks; `on_done` hears of each once, and its error ends the job.
///
/// # Errors
/// When a partition fails too often, Spark is lost, or `on_done` says so.
pub fn run_streamed<E: From<EngineError>>(
    order: StreamedOrder<'_>,
    goes_on: &dyn Fn() -> bool,
    on_done: &mut dyn FnMut(TaskDone) -> Result<(), E>,
) -> Result<StreamedEnd, E> {
    let count = order.tasks.len();
    if count == 0 {
        return Ok(StreamedEnd { stopped: false, cluster: Vec::new() });
    }
    let partitions = order.partitions.clamp(1, u32::try_from(count).unwrap_or(u32::MAX));
    let (sender, events) = mpsc::channel();
    let job = order.driver.submit(Shape::Map(partitions), &order.words, sender);
    let go = Go::Work { kind: order.kind.to_owned(), body: order.common };
    let mut stream = Stream::new(go, order.tasks, partitions);
    let (mut failure, mut cancelled): (Option<E>, Option<Instant>) = (None, None);
    loop {
        if cancelled.is_none() && (failure.is_some() || !goes_on()) {
            order.driver.cancel(job);
            cancelled = Some(Instant::now());
        }
        match events.recv_timeout(LOOK_EVERY) {
            Ok((_, JobEvent::Came(link))) => stream.came(link),
            Ok((_, JobEvent::Said(link, value))) => {
                if let Some(done) = stream.said(link, value)
                    && failure.is_none()
                {
                    failure = on_done(done).err();
                }
            }
            Ok((_, JobEvent::Left(link))) => {
                stream.attempts.remove(&link);
            }
            Ok((_, JobEvent::Ended(end))) => {
                stream.dismiss(&events);
                return match failure {
                    Some(failure) => Err(failure),
                    None => Ok(stream.ended(&end, cancelled.is_some(), &order.words)?),
                };
            }
            Ok((_, JobEvent::Lost(reason))) => return Err(EngineError::SparkLost { reason }.into()),
            Err(RecvTimeoutError::Disconnected) => {
                let reason = "nobody tells of the job any more".to_owned();
                return Err(EngineError::SparkLost { reason }.into());
            }
            Err(RecvTimeoutError::Timeout) => {
                if cancelled.is_some_and(|since| since.elapsed() > FAREWELL) {
                    return match failure {
                        Some(failure) => Err(failure),
                        None => Ok(StreamedEnd { stopped: true, cluster: Vec::new() }),
                    };
                }
            }
        }
    }
}

/// Tasks on their way through a job.
struct Stream {
    go: Go,
    tasks: Vec<Value>,
    done: Vec<bool>,
    partitions: usize,
    attempts: BTreeMap<u64, Attempt>,
    /// What the processes of attempts used for tasks that counted, by Spark's number.
    usage: BTreeMap<u64, Usage>,
}

/// A process at work on a partition.
struct Attempt {
    link: Arc<Link>,
    waiting: VecDeque<usize>,
    sent: usize,
}

impl Stream {
    fn new(go: Go, tasks: Vec<Value>, partitions: u32) -> Self {
        Self {
            go,
            done: vec![false; tasks.len()],
            tasks,
            partitions: partitions as usize,
            attempts: BTreeMap::new(),
            usage: BTreeMap::new(),
        }
    }

    /// A process has come: it gets the tasks of its partition that nobody has done.
    fn came(&mut self, link: Arc<Link>) {
        let partition = link.task.partition as usize;
        let own = (partition..self.tasks.len()).step_by(self.partitions);
        let waiting: VecDeque<usize> = own.filter(|task| !self.done[*task]).collect();
        if waiting.is_empty() {
            return link.say(&Go::Nothing);
        }
        link.say(&self.go);
        let id = link.id;
        self.attempts.insert(id, Attempt { link, waiting, sent: 0 });
        self.feed(id);
    }

    /// Sends tasks to a process until it has enough; tells it when there are no more.
    fn feed(&mut self, id: u64) {
        let Some(attempt) = self.attempts.get_mut(&id) else { return };
        while attempt.sent < AHEAD
            && let Some(number) = attempt.waiting.pop_front()
        {
            // Another attempt may have been faster.
            if !self.done[number] {
                attempt.link.say(&Order::Task { number, task: self.tasks[number].clone() });
                attempt.sent += 1;
            }
        }
        if attempt.sent == 0 {
            attempt.link.say(&Order::Over);
        }
    }

    fn said(&mut self, id: u64, value: Value) -> Option<TaskDone> {
        let attempt = self.attempts.get_mut(&id)?;
        let Answer { number, result, usage } = serde_json::from_value(value).ok()?;
        attempt.sent = attempt.sent.saturating_sub(1);
        let task_id = attempt.link.task.task_id;
        self.feed(id);
        if std::mem::replace(self.done.get_mut(number)?, true) {
            return None;
        }
        add(self.usage.entry(task_id).or_default(), &usage);
        Some(TaskDone { task: number, result, usage })
    }

    /// Ends processes that lost a race, so that none writes any more.
    fn dismiss(&mut self, events: &Receiver<(u64, JobEvent)>) {
        self.attempts.values().for_each(|attempt| attempt.link.close());
        let until = Instant::now() + DISMISSED;
        // Nobody tells of a job that has ended: a moment is enough for those on this machine.
        while !self.attempts.is_empty() && Instant::now() < until {
            match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((_, JobEvent::Left(link))) => drop(self.attempts.remove(&link)),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    fn ended(
        &self,
        end: &JobEnd,
        cancelled: bool,
        words: &str,
    ) -> Result<StreamedEnd, EngineError> {
        let all = self.done.iter().all(|done| *done);
        // A loser of a race may fail the job after all is done; what counts is done.
        if end.state != JobState::Done && !all && !cancelled {
            let message = end.message.clone().unwrap_or_default();
            return Err(EngineError::SparkJob { job: words.to_owned(), message });
        }
        let join = |task: &TaskFigures| {
            let label = format!("partition {}", task.partition());
            task.joined(label, self.usage.get(&task.task_id).cloned())
        };
        let cluster = end.tasks.iter().map(join).collect();
        Ok(StreamedEnd { stopped: cancelled && !all, cluster })
    }
}

/// Adds what a task used to what those before used.
fn add(sum: &mut Usage, more: &Usage) {
    let plus = |a: Option<u64>, b: Option<u64>| Some(a.unwrap_or(0) + b?).or(a);
    sum.wall_s += more.wall_s;
    sum.user_s += more.user_s;
    sum.system_s += more.system_s;
    sum.peak_memory_bytes = sum.peak_memory_bytes.max(more.peak_memory_bytes);
    sum.disk_read_bytes = plus(sum.disk_read_bytes, more.disk_read_bytes).or(sum.disk_read_bytes);
    sum.disk_write_bytes =
        plus(sum.disk_write_bytes, more.disk_write_bytes).or(sum.disk_write_bytes);
    sum.major_faults = plus(sum.major_faults, more.major_faults).or(sum.major_faults);
    match (&mut sum.network, &more.network) {
        (Some(sum), Some(more)) => {
            sum.received_bytes += more.received_bytes;
            sum.sent_bytes += more.sent_bytes;
            sum.loopback_bytes += more.loopback_bytes;
        }
        (none, more) => none.clone_from(more),
    }
}

/// Does tasks for the runner until there are no more; `work` does one.
///
/// # Errors
/// What `work` says, which fails the attempt; or the runner has gone.
pub fn serve_streamed<E: From<EngineError>>(
    link: &ExecutorLink,
    work: &mut dyn FnMut(Value) -> Result<Value, E>,
) -> Result<(), E> {
    let gone = || EngineError::SparkLost { reason: "the runner has gone".to_owned() };
    // What it took to get ready is part of the first task.
    let mut ready = Some(UsageMeter::of_whole_process());
    loop {
        let line = link.next_line().ok_or_else(gone)?;
        let order = serde_json::from_value(line).map_err(|error| EngineError::Link {
            address: "the runner".to_owned(),
            problem: error.to_string(),
        })?;
        let Order::Task { number, task } = order else {
            link.close();
            return Ok(());
        };
        let meter = ready.take().unwrap_or_else(UsageMeter::start);
        let result = work(task)?;
        link.say(&Answer { number, result, usage: meter.used() })?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tasks_used_adds_up_and_peaks_do_not() {
        let one = Usage {
            wall_s: 1.0,
            user_s: 0.5,
            peak_memory_bytes: Some(7),
            disk_read_bytes: Some(512),
            ..Usage::default()
        };
        let mut sum = Usage::default();
        add(&mut sum, &one);
        add(&mut sum, &Usage { peak_memory_bytes: Some(5), disk_read_bytes: None, ..one.clone() });
        assert_eq!((sum.wall_s, sum.user_s), (2.0, 1.0));
        assert_eq!((sum.peak_memory_bytes, sum.disk_read_bytes), (Some(7), Some(512)));
    }
}
