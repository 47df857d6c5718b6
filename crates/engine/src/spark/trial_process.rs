//! One trial on an executor: the local engine runs it, the runner hears of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trainwright_study::{PlannedTrial, Study};

use super::link::{ExecutorLink, Incoming};
use crate::{
    Engine, EngineError, EngineEvent, LocalEngine, LocalPlace, Stop, TrialOrder, TrialStart, Which,
};

/// Names this kind of work.
pub const TRIAL_KIND: &str = "trial";

/// How soon a wish to stop is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a process needs to run a trial.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TrialWork {
    /// With an absolute path, since an executor's working folder is its own.
    pub(super) study: Study,
    pub(super) trial: PlannedTrial,
    /// The folder of the study's trials, which all executors see.
    pub(super) trials: PathBuf,
    /// Where it begins.
    pub(super) start: TrialStart,
}

/// A wish of the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Wish {
    /// As [`Stop::Politely`].
    Politely,
    /// As [`Stop::Now`].
    Now,
}

impl From<Stop> for Wish {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Politely => Self::Politely,
            Stop::Now => Self::Now,
        }
    }
}

/// Runs the trial that the runner ordered and tells it all that happens. When the runner or the
/// Spark executor goes, the trial's processes are ended.
///
/// # Errors
/// When the order does not read, the folder cannot be used, or the runner has gone.
pub fn serve_trial(link: &ExecutorLink, body: Value, program: &Path) -> Result<(), EngineError> {
    link.outlive_runner();
    let unread = |error: serde_json::Error| EngineError::Link {
        address: "the runner".to_owned(),
        problem: format!("its order does not read: {error}"),
    };
    let TrialWork { study, trial, trials, start } = serde_json::from_value(body).map_err(unread)?;
    let place = LocalPlace { trials, program: program.to_owned(), slots: 1 };
    let mut engine = LocalEngine::beside_others(place, trial.number)?;
    engine.submit(TrialOrder {
        study: Arc::new(study),
        trial,
        slots: 1,
        start,
        variables: BTreeMap::new(),
    })?;
    loop {
        if let Some(event) = engine.next_event(LOOK_EVERY) {
            let last = event.is_end();
            link.say(&event)?;
            if last {
                link.close();
                return Ok(());
            }
        }
        match link.receive(Some(Duration::ZERO)) {
            Some(Incoming::Line(line)) => {
                let stop = match serde_json::from_value(line).map_err(unread)? {
                    Wish::Politely => Stop::Politely,
                    Wish::Now => Stop::Now,
                };
                engine.stop(Which::All, stop);
            }
            // What runs ends with the engine.
            Some(Incoming::Gone) => {
                drop(engine);
                return Err(EngineError::SparkLost { reason: "the runner has gone".to_owned() });
            }
            Some(Incoming::Beside(_)) | None => {}
        }
    }
}

/// Reads what a process told of its trial.
pub(super) fn event_of(value: Value) -> Option<EngineEvent> {
    serde_json::from_value(value).ok()
}
