//! Processes that run all at once: a barrier stage, started again as a whole when one is lost.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::Value;
use trainwright_study::{ClusterTask, Usage};

use super::driver::SparkDriver;
use super::jobs::{JobEnd, JobEvent, JobState, Shape, TaskFigures};
use super::link::Go;
use crate::EngineError;

/// How often a wish to stop is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a gang may take to end after it was cancelled.
const FAREWELL: Duration = Duration::from_secs(10);

/// A gang to be run once.
#[derive(Debug)]
pub struct GangOrder<'a> {
    /// The application.
    pub driver: &'a SparkDriver,
    /// What kind of work it is, by which the processes know what to do.
    pub kind: &'a str,
    /// What all ranks are told.
    pub body: Value,
    /// How many there are.
    pub ranks: u32,
    /// What it is, to people.
    pub words: String,
}

/// What a gang tells while it runs.
#[derive(Debug)]
pub enum GangEvent<'a> {
    /// All ranks have come and have their work.
    Together,
    /// A rank said something.
    Said {
        /// Which.
        rank: u32,
        /// What.
        value: &'a Value,
    },
}

/// What follows an event.
#[derive(Debug, Clone, PartialEq)]
pub enum GangWish {
    /// Nothing.
    GoOn,
    /// All ranks are told this.
    Tell(Value),
    /// The gang is cancelled.
    Cancel,
}

/// How a gang ended.
#[derive(Debug, Clone, PartialEq)]
pub struct GangEnd {
    /// Why it did not come to its end; nothing where it did.
    pub failure: Option<String>,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// The ranks as Spark knows them, with what their processes used.
    pub cluster: Vec<ClusterTask>,
}

/// Runs a gang once; `on_event` hears what its ranks say, and is asked now and then without an
/// event whether it goes on.
///
/// Spark never starts a barrier stage again whose last stage it is: whoever can, from a checkpoint,
/// calls again.
///
/// # Errors
/// When there are too few slots, or Spark is lost.
pub fn run_gang(
    order: &GangOrder<'_>,
    on_event: &mut dyn FnMut(Option<GangEvent<'_>>) -> GangWish,
) -> Result<GangEnd, EngineError> {
    let slots = order.driver.slots(order.ranks)?;
    if slots < order.ranks {
        return Err(EngineError::TooFewSlots { wanted: order.ranks, slots });
    }
    let (sender, events) = mpsc::channel();
    let job = order.driver.submit(Shape::Gang(order.ranks), &order.words, sender);
    let go = Go::Work { kind: order.kind.to_owned(), body: order.body.clone() };
    let mut ranks = Vec::new();
    let mut usage: Vec<(u64, Usage)> = Vec::new();
    let mut cancelled: Option<Instant> = None;
    loop {
        let event = events.recv_timeout(LOOK_EVERY);
        let wish = match event {
            Ok((_, JobEvent::Came(link))) => {
                link.say(&go);
                ranks.push(link);
                let all = ranks.len() == order.ranks as usize;
                on_event(all.then_some(GangEvent::Together))
            }
            Ok((_, JobEvent::Said(id, value))) => {
                let Some(task) = ranks.iter().find(|own| own.id == id).map(|own| &own.task) else {
                    continue;
                };
                if let Some(own) =
                    value.get("usage").cloned().and_then(|own| serde_json::from_value(own).ok())
                {
                    usage.push((task.task_id, own));
                }
                on_event(Some(GangEvent::Said { rank: task.partition, value: &value }))
            }
            Ok((_, JobEvent::Left(_))) | Err(RecvTimeoutError::Timeout) => on_event(None),
            Ok((_, JobEvent::Ended(end))) => {
                return Ok(ended(end, &usage, cancelled.is_some()));
            }
            Ok((_, JobEvent::Lost(reason))) => return Err(EngineError::SparkLost { reason }),
            Err(RecvTimeoutError::Disconnected) => {
                let reason = "nobody tells of the job any more".to_owned();
                return Err(EngineError::SparkLost { reason });
            }
        };
        match wish {
            GangWish::GoOn => {}
            GangWish::Tell(value) => ranks.iter().for_each(|link| link.say(&value)),
            GangWish::Cancel if cancelled.is_none() => {
                order.driver.cancel(job);
                cancelled = Some(Instant::now());
            }
            GangWish::Cancel => {}
        }
        if cancelled.is_some_and(|since| since.elapsed() > FAREWELL) {
            return Ok(GangEnd { failure: None, cancelled: true, cluster: Vec::new() });
        }
    }
}

fn ended(end: JobEnd, usage: &[(u64, Usage)], cancelled: bool) -> GangEnd {
    let used = |id: u64| usage.iter().find(|own| own.0 == id).map(|own| own.1.clone());
    let joined =
        |task: &TaskFigures| task.joined(format!("rank {}", task.partition()), used(task.task_id));
    let cluster = end.tasks.iter().map(joined).collect();
    let failure = (end.state != JobState::Done)
        .then(|| end.message.unwrap_or_else(|| "Spark does not say why".to_owned()));
    GangEnd { failure, cancelled, cluster }
}
