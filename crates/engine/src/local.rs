//! Runs trials on this machine, a fixed number at a time.

mod attempt;
pub(crate) mod leftovers;
mod overlap;
mod process;
pub(crate) mod stop;
pub(crate) mod supervise;
mod usage;
mod watch;

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use trainwright_study::{PlannedTrial, Study, TrialRecord};

use crate::{EngineError, Stop};
use attempt::{Surroundings, run};
use overlap::Overlap;
use stop::{StopSwitch, stop_line};

/// A trial to run.
#[derive(Debug, Clone)]
pub struct TrialOrder {
    /// The study it belongs to.
    pub study: Arc<Study>,
    /// The trial.
    pub trial: PlannedTrial,
    /// Its folder, which the engine empties first.
    pub folder: PathBuf,
    /// This program itself, which runs the study's own jobs.
    pub program: PathBuf,
}

/// What happens to the trials of an engine.
#[derive(Debug, Clone, PartialEq)]
pub enum EngineEvent {
    /// A trial's process has started.
    Started {
        /// Number of the trial.
        number: u32,
        /// Its process, which leads a process group of the same number.
        pid: u32,
    },
    /// A trial goes on; told about twice a second.
    Progress {
        /// Number of the trial.
        number: u32,
        /// Time since its start.
        elapsed: Duration,
        /// The last value it reported of each key, by name.
        latest: Vec<(String, f64)>,
    },
    /// A trial could not start because there is no room to write; no other one could.
    NoRoom {
        /// Number of the trial.
        number: u32,
        /// What could not be written, and why.
        reason: String,
    },
    /// A trial has ended, however it did.
    Ended {
        /// Number of the trial.
        number: u32,
        /// What is kept of it.
        record: Box<TrialRecord>,
    },
}

/// Runs trials as processes of this machine, one in each slot.
///
/// One thread owns the engine: it submits trials while slots are free and takes their events.
/// A slot is free again when the end of its trial has been taken, so whoever stores results can
/// do so before the next trial starts. Dropping the engine kills what still runs.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use trainwright_engine::{EngineEvent, LocalEngine, TrialOrder};
/// use trainwright_study::{Configuration, Level, Outcome, PlannedTrial, Study};
///
/// let text = r#"
///     schema = 1
///     study.name = "echo"
///     factors.x.levels = [1, 2]
///     design.type = "full"
///     run.command = ["echo", '::metric {"y": {x}}']
///     metrics.y.objective = "maximize"
/// "#;
/// let folder = tempfile::tempdir()?;
/// let mut engine = LocalEngine::new(1)?;
/// engine.submit(TrialOrder {
///     study: Arc::new(Study::from_text(text).expect("a study without faults")),
///     trial: PlannedTrial {
///         number: 1,
///         row: Some(1),
///         replicate: 1,
///         configuration: Configuration::new(vec![("x".to_owned(), Level::Integer(2))]),
///         seed: 7,
///         block: None,
///         whole_plot: None,
///     },
///     folder: folder.path().join("1"),
///     program: std::env::current_exe()?,
/// })?;
/// let record = loop {
///     match engine.next_event(Duration::from_secs(1)) {
///         Some(EngineEvent::Ended { record, .. }) => break record,
///         _ => continue,
///     }
/// };
/// assert_eq!(record.outcome, Outcome::Finished);
/// assert_eq!(record.measurements[0].value, 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LocalEngine {
    orders: Option<Sender<TrialOrder>>,
    events: Receiver<EngineEvent>,
    stop: StopSwitch,
    threads: Vec<JoinHandle<()>>,
    busy: usize,
}

impl LocalEngine {
    /// An engine that runs up to `slots` trials at a time.
    ///
    /// # Errors
    /// When the system gives no thread or pipe.
    pub fn new(slots: usize) -> Result<Self, EngineError> {
        let (orders, queue) = mpsc::channel();
        let (sender, events) = mpsc::channel();
        let (switch, stop) = stop_line().map_err(EngineError::Slot)?;
        let queue = Arc::new(Mutex::new(queue));
        let surroundings = Arc::new(Surroundings { stop, overlap: Overlap::default() });
        let start = |slot: usize| {
            let (queue, sender) = (queue.clone(), sender.clone());
            let surroundings = surroundings.clone();
            thread::Builder::new()
                .name(format!("slot-{slot}"))
                .spawn(move || serve(&queue, &surroundings, &sender))
        };
        let threads = (0..slots).map(start).collect::<Result<_, _>>().map_err(EngineError::Slot)?;
        Ok(Self { orders: Some(orders), events, stop: switch, threads, busy: 0 })
    }

    /// Slots without a trial.
    pub fn free_slots(&self) -> usize {
        self.threads.len() - self.busy
    }

    /// Starts a trial.
    ///
    /// # Errors
    /// When no slot is free, or the engine was told to stop.
    pub fn submit(&mut self, order: TrialOrder) -> Result<(), EngineError> {
        let trial = order.trial.number;
        if self.stop.is_pulled() {
            return Err(EngineError::Stopping { trial });
        }
        if self.free_slots() == 0 {
            return Err(EngineError::NoFreeSlot { trial, slots: self.threads.len() });
        }
        self.busy += 1;
        let orders = self.orders.as_ref().expect("orders are taken until the engine is dropped");
        orders.send(order).expect("slots take orders until the engine is dropped");
        Ok(())
    }

    /// The next event, or nothing within `timeout`.
    ///
    /// # Panics
    /// When a slot has died of a bug of ours, so that its trial would never end.
    pub fn next_event(&mut self, timeout: Duration) -> Option<EngineEvent> {
        match self.events.recv_timeout(timeout) {
            Ok(event) => {
                if matches!(event, EngineEvent::Ended { .. } | EngineEvent::NoRoom { .. }) {
                    self.busy -= 1;
                }
                Some(event)
            }
            Err(RecvTimeoutError::Timeout) => {
                assert!(!self.threads.iter().any(JoinHandle::is_finished), "a slot has died");
                None
            }
            Err(RecvTimeoutError::Disconnected) => panic!("every slot has died"),
        }
    }

    /// Stops all running trials; their ends still come as events. No new ones are taken.
    pub fn stop(&mut self, how: Stop) {
        self.stop.pull(how);
    }
}

impl Drop for LocalEngine {
    fn drop(&mut self) {
        self.stop.pull(Stop::Now);
        self.orders = None;
        for thread in self.threads.drain(..) {
            // A slot that panicked has said so on standard error.
            let _ = thread.join();
        }
    }
}

/// What a slot does: one trial after the other, until there are no more orders.
fn serve(
    queue: &Mutex<Receiver<TrialOrder>>,
    surroundings: &Surroundings,
    events: &Sender<EngineEvent>,
) {
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(order) = next() {
        let number = order.trial.number;
        let _span = tracing::info_span!("trial", trial = number).entered();
        let event = match run(&order, surroundings, events) {
            Ok(record) => {
                tracing::info!(state = %record.outcome.state(), "trial ended");
                EngineEvent::Ended { number, record: Box::new(record) }
            }
            Err(error) => EngineEvent::NoRoom { number, reason: error.to_string() },
        };
        // Nobody listens any more when the engine is being dropped.
        let _ = events.send(event);
    }
}
