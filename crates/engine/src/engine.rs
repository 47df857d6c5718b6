//! What every engine does: takes orders for trials, tells what happens to them, stops them.
//!
//! `tests/it/contract.rs` holds each implementation to what is said here.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use trainwright_study::{PlannedTrial, Study, TrialRecord};

use crate::{EngineError, MissingMetric};

/// Turns configurations into ended trials.
///
/// One thread owns an engine: it submits trials while slots are free and takes their events.
/// Each trial that was taken starts at most once and ends exactly once, with
/// [`EngineEvent::Ended`], [`EngineEvent::NoRoom`] or [`EngineEvent::Lost`], and nothing is told about it afterwards. Its
/// slots are free again when that end has been taken, so whoever stores results can do so before
/// the next trial starts. Dropping an engine ends what still runs. Where a trial runs, what lies
/// in its folder and what a dead runner left behind are the engine's own business.
///
/// ```
/// use std::{collections::BTreeMap, sync::Arc, time::Duration};
/// use trainwright_engine::{
///     Engine, EngineEvent, LocalEngine, LocalPlace, TrialOrder, TrialStart,
/// };
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
/// let mut engine: Box<dyn Engine> = Box::new(LocalEngine::new(LocalPlace {
///     trials: folder.path().to_owned(),
///     program: std::env::current_exe()?,
///     slots: 1,
/// })?);
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
///     slots: 1,
///     start: TrialStart::Anew,
///     variables: BTreeMap::new(),
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
pub trait Engine {
    /// The word for this kind of engine, as it is stored with trials.
    fn name(&self) -> &'static str;

    /// Slots in all.
    fn slots(&self) -> u32;

    /// Slots without a trial.
    fn free_slots(&self) -> u32;

    /// Takes a trial, which starts now.
    ///
    /// # Errors
    /// The order asks for no slot, for more than there are or for more than are free; a trial of
    /// its number is under way; or the engine was told to stop all.
    fn submit(&mut self, order: TrialOrder) -> Result<(), EngineError>;

    /// The next event, or nothing within `timeout`.
    fn next_event(&mut self, timeout: Duration) -> Option<EngineEvent>;

    /// Stops trials; their ends still come as events. After a stop of all no new ones are taken.
    ///
    /// A trial that is not under way, or not any more, is passed over.
    fn stop(&mut self, which: Which, how: Stop);
}

/// A trial to run.
#[derive(Debug, Clone)]
pub struct TrialOrder {
    /// The study it belongs to.
    pub study: Arc<Study>,
    /// The trial; its number names it in events, 0 is that of a warm-up.
    pub trial: PlannedTrial,
    /// Slots that it takes while it is under way, at least 1.
    pub slots: u32,
    /// Where it begins.
    pub start: TrialStart,
    /// Variables set besides those of the study and the protocol. They are not kept with the trial,
    /// since they hold for this run alone and may be secret.
    pub variables: BTreeMap<String, String>,
}

/// Where a trial begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialStart {
    /// At its beginning, whatever an earlier attempt left.
    #[default]
    Anew,
    /// Where an earlier attempt was cut short; at its beginning where the engine has not kept it.
    GoOn,
}

/// What happens to the trials of an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineEvent {
    /// A trial has started.
    Started {
        /// Number of the trial.
        number: u32,
        /// Names what runs, to people and logs.
        handle: TrialHandle,
    },
    /// A trial goes on; told about twice a second.
    Progress {
        /// Number of the trial.
        number: u32,
        /// Time since its start.
        elapsed: Duration,
        /// The last value it reported of each key, by name.
        latest: Vec<(String, f64)>,
        /// What it reported with a step since the last time.
        steps: Vec<StepReport>,
    },
    /// A trial could not start because there is no room to write; no other one could.
    NoRoom {
        /// Number of the trial.
        number: u32,
        /// What could not be written, and why.
        reason: String,
    },
    /// The engine itself is lost, and with it every trial under way: they have no result, and run
    /// again when there is an engine.
    Lost {
        /// Number of the trial.
        number: u32,
        /// What was lost.
        reason: String,
    },
    /// A trial has ended, however it did.
    Ended {
        /// Number of the trial.
        number: u32,
        /// What is kept of it.
        record: Box<TrialRecord>,
        /// The metrics without a value, where the trial failed for want of them and of nothing
        /// else: a rule that finds nothing here will find nothing in the next trial.
        missing: Vec<MissingMetric>,
    },
}

impl EngineEvent {
    /// Number of the trial that it is about.
    pub fn number(&self) -> u32 {
        match self {
            Self::Started { number, .. }
            | Self::Progress { number, .. }
            | Self::NoRoom { number, .. }
            | Self::Lost { number, .. }
            | Self::Ended { number, .. } => *number,
        }
    }

    /// Whether it is the last one about its trial.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Ended { .. } | Self::NoRoom { .. } | Self::Lost { .. })
    }
}

/// What a trial reports at a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// The step or epoch.
    pub step: f64,
    /// Values by key.
    pub values: Vec<(String, f64)>,
}

/// Names what runs for a trial; only its engine knows what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialHandle(String);

impl TrialHandle {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for TrialHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which trials to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The one of this number.
    One(u32),
    /// All of them, and those that would come.
    All,
}

/// How hard to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Stop file, a second or a fifth of the study's grace, SIGTERM, the grace, SIGKILL.
    Politely,
    /// SIGKILL at once.
    Now,
}
