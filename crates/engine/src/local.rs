//! Runs trials on this machine, a fixed number at a time.
//!
//! `attempt.rs` is the life of one trial, `family.rs` starts (by `start.rs`) and ends its processes,
//! `supervise.rs` waits for them, `leftovers.rs` ends what a dead runner left, by what `note.rs` keeps
//! of each.

mod attempt;
mod family;
mod folder;
mod going_on;
mod leftovers;
mod note;
mod overlap;
mod process;
mod start;
mod stop;
mod supervise;
mod usage;
mod watch;

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::slots::Slots;
use crate::{Engine, EngineError, EngineEvent, Stop, TrialOrder, Which};
use attempt::{Assignment, Surroundings, run};
use family::Children;
pub(crate) use folder::make_private_folder;
pub(crate) use leftovers::end_leftovers as end_all_leftovers;
use leftovers::end_leftovers_of;
use note::ProcessNotes;
use overlap::Overlap;
use process::take_in_orphans;
use stop::{StopSwitch, stop_line};

/// Where an engine runs trials on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPlace {
    /// The folder of a study's trials, which is made; no other engine may use it meanwhile.
    pub trials: PathBuf,
    /// This program itself, which runs the study's own jobs.
    pub program: PathBuf,
    /// Trials at the same time, as long as each takes one slot.
    pub slots: u32,
}

/// Runs trials as processes of this machine.
///
/// The process that runs this engine adopts what its trials leave behind, in order to end it. Each
/// trial has a folder of its own, `00001` and on, below that of the study's trials; it is
/// emptied when its trial starts again.
#[derive(Debug)]
pub struct LocalEngine {
    orders: Option<Sender<Assignment>>,
    events: Receiver<EngineEvent>,
    threads: Vec<JoinHandle<()>>,
    slots: Slots<StopSwitch>,
    surroundings: Arc<Surroundings>,
}

impl LocalEngine {
    /// An engine at a place, whose leftovers of a dead runner are ended first.
    ///
    /// # Errors
    /// When the folder cannot be made, or the system gives no thread.
    pub fn new(place: LocalPlace) -> Result<Self, EngineError> {
        take_in_orphans();
        let place = made(place)?;
        end_all_leftovers(&place.trials);
        let notes = ProcessNotes::create(&place.trials, None)?;
        Self::of_slots(place, notes)
    }

    /// An engine for one trial, at a place where other engines run others: only what a dead runner
    /// left of that trial is ended first.
    ///
    /// # Errors
    /// As for [`LocalEngine::new`].
    pub(crate) fn beside_others(place: LocalPlace, trial: u32) -> Result<Self, EngineError> {
        take_in_orphans();
        let place = made(place)?;
        end_leftovers_of(&place.trials, trial);
        let notes = ProcessNotes::create(&place.trials, Some(trial))?;
        Self::of_slots(place, notes)
    }

    fn of_slots(place: LocalPlace, notes: ProcessNotes) -> Result<Self, EngineError> {
        let slots = place.slots;
        let children = Children::of_this_process(&place.program);
        let (orders, queue) = mpsc::channel();
        let (sender, events) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        let overlap = Overlap::default();
        let surroundings = Arc::new(Surroundings { place, notes, children, overlap });
        let start = |slot: u32| {
            let (queue, sender) = (queue.clone(), sender.clone());
            let surroundings = surroundings.clone();
            thread::Builder::new()
                .name(format!("slot-{slot}"))
                .spawn(move || serve(&queue, &surroundings, &sender))
        };
        let threads = (0..slots).map(start).collect::<Result<_, _>>().map_err(EngineError::Slot)?;
        let slots = Slots::new(slots);
        Ok(Self { orders: Some(orders), events, threads, slots, surroundings })
    }

    fn stop_all(&mut self, how: Stop) {
        self.slots.close();
        self.slots.all_mut().for_each(|switch| switch.pull(how));
    }
}

impl Engine for LocalEngine {
    fn name(&self) -> &'static str {
        "local"
    }

    fn slots(&self) -> u32 {
        self.slots.total()
    }

    fn free_slots(&self) -> u32 {
        self.slots.free()
    }

    fn submit(&mut self, order: TrialOrder) -> Result<(), EngineError> {
        self.slots.check(&order)?;
        let (switch, stop) = stop_line().map_err(EngineError::Slot)?;
        self.slots.take(&order, switch);
        let orders = self.orders.as_ref().expect("orders are taken until the engine is dropped");
        let sent = orders.send(Assignment { order, stop });
        sent.expect("slots take orders until the engine is dropped");
        Ok(())
    }

    /// # Panics
    /// When a slot has died of a bug of ours, so that its trial would never end.
    fn next_event(&mut self, timeout: Duration) -> Option<EngineEvent> {
        match self.events.recv_timeout(timeout) {
            Ok(event) => {
                if event.is_end() {
                    self.slots.release(event.number());
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

    fn stop(&mut self, which: Which, how: Stop) {
        match which {
            Which::All => self.stop_all(how),
            Which::One(trial) => {
                if let Some(switch) = self.slots.get_mut(trial) {
                    switch.pull(how);
                }
            }
        }
    }
}

impl Drop for LocalEngine {
    fn drop(&mut self) {
        self.stop_all(Stop::Now);
        self.orders = None;
        for thread in self.threads.drain(..) {
            // A slot that panicked has said so on standard error.
            let _ = thread.join();
        }
        self.surroundings.notes.remove();
    }
}

/// A place whose folder of trials is there, with the canonical path of that.
fn made(place: LocalPlace) -> Result<LocalPlace, EngineError> {
    make_private_folder(&place.trials)?;
    let trials = fs::canonicalize(&place.trials);
    let trials = trials.map_err(EngineError::file("find", &place.trials))?;
    Ok(LocalPlace { trials, ..place })
}

/// What a slot does: one trial after the other, until there are no more orders.
fn serve(
    queue: &Mutex<Receiver<Assignment>>,
    surroundings: &Surroundings,
    events: &Sender<EngineEvent>,
) {
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(assignment) = next() {
        let number = assignment.order.trial.number;
        let _span = tracing::info_span!("trial", trial = number).entered();
        let event = match run(&assignment, surroundings, events) {
            Ok((record, missing)) => {
                tracing::info!(state = %record.outcome.state(), "trial ended");
                EngineEvent::Ended { number, record: Box::new(record), missing }
            }
            Err(error) => EngineEvent::NoRoom { number, reason: error.to_string() },
        };
        // Nobody listens any more when the engine is being dropped.
        let _ = events.send(event);
    }
}
