//! Jobs of an application, what is told of them, and who hears it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::Value;
use trainwright_study::{ClusterTask, Usage};

use super::links::Link;

/// What a job of Spark told.
#[derive(Debug)]
pub(super) enum JobEvent {
    /// A task's process has come and waits for its work.
    Came(Arc<Link>),
    /// A process said something.
    Said(u64, Value),
    /// A process has gone.
    Left(u64),
    /// The job has ended.
    Ended(JobEnd),
    /// Spark itself is lost, and the job with it.
    Lost(String),
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JobEnd {
    /// Whether it did what it should.
    pub(super) state: JobState,
    /// Why not: the end of what the failed process said, or Spark's words.
    pub(super) message: Option<String>,
    /// The attempts at its tasks, as Spark knows them.
    pub(super) tasks: Vec<TaskFigures>,
}

/// Whether a job did what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum JobState {
    /// All tasks have succeeded.
    Done,
    /// One failed too often.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// What Spark knows of an attempt at a task.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct TaskFigures {
    pub(super) task_id: u64,
    partition: u32,
    attempt: u32,
    executor: String,
    host: String,
    status: String,
    speculative: bool,
    launched_ms: i64,
    duration_ms: Option<f64>,
    scheduler_delay_ms: Option<f64>,
    error: Option<String>,
}

impl TaskFigures {
    /// The same with what the process itself told.
    pub(super) fn joined(&self, label: String, usage: Option<Usage>) -> ClusterTask {
        let seconds = |milliseconds: Option<f64>| milliseconds.map(|value| value / 1e3);
        ClusterTask {
            label,
            partition: self.partition,
            attempt: self.attempt + 1,
            executor: self.executor.clone(),
            host: self.host.clone(),
            status: self.status.clone(),
            speculative: self.speculative,
            launched_ms: self.launched_ms,
            duration_s: seconds(self.duration_ms),
            scheduler_delay_s: seconds(self.scheduler_delay_ms),
            error: self.error.clone(),
            usage,
        }
    }

    pub(super) fn partition(&self) -> u32 {
        self.partition
    }
}

/// The shape of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// So many tasks, each retried alone.
    Map(u32),
    /// So many tasks that run all at once, or not at all.
    Gang(u32),
}

/// Who hears of which job.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub(super) listeners: Mutex<BTreeMap<u64, Sender<(u64, JobEvent)>>>,
    pub(super) answers: Mutex<BTreeMap<u64, Sender<u32>>>,
    pub(super) lost: Mutex<Option<String>>,
    pub(super) over: AtomicBool,
}

impl Jobs {
    /// Tells whoever ordered a job; false where nobody listens any more.
    pub(super) fn tell(&self, job: u64, event: JobEvent) -> bool {
        let mut listeners = held(&self.listeners);
        let last = matches!(event, JobEvent::Ended(_) | JobEvent::Lost(_));
        let heard = listeners.get(&job).is_some_and(|own| own.send((job, event)).is_ok());
        if last {
            listeners.remove(&job);
        }
        heard
    }

    pub(super) fn are_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    pub(super) fn lose(&self, reason: &str) {
        held(&self.lost).get_or_insert_with(|| reason.to_owned());
        held(&self.answers).clear();
        for (job, listener) in std::mem::take(&mut *held(&self.listeners)) {
            let _ = listener.send((job, JobEvent::Lost(reason.to_owned())));
        }
    }
}

pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these hold is right after every step, so a panic elsewhere leaves it usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
