//! The verbs `status` and `logs`, and the counts that `run` ends with: how far a study has come.

use std::path::PathBuf;
use std::{fs, io};

use serde::{Serialize, Serializer};
use trainwright_store::Progress;
use trainwright_study::{Configuration, Study, TrialState};

use crate::searching::asked::asked_outside;
use crate::{Error, Results};

/// How far a study has come.
#[derive(Debug, Clone, Serialize)]
pub struct StatusReply {
    /// The study's name.
    pub study: String,
    /// Where its trials are kept.
    pub store: PathBuf,
    /// A number that every change to the store raises.
    pub change: i64,
    /// The process that runs it at this moment.
    pub runner: Option<u32>,
    /// Running trials that were asked for from outside: no runner of this program has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<u32>,
    /// How many trials are in each state.
    pub counts: TrialCounts,
    /// What to do about trials that did not run because the study's hours are used up.
    pub budget_spent: Option<String>,
    /// What the running trials last told.
    pub progress: Vec<Progress>,
    /// The trials in run order.
    pub trials: Vec<TrialStatus>,
}

/// How far one trial has come.
#[derive(Debug, Clone, Serialize)]
pub struct TrialStatus {
    /// Its number in run order.
    pub trial: u32,
    /// The row of the design that it runs.
    pub row: Option<u32>,
    /// Its number among repeats of the row.
    pub replicate: u32,
    /// How it stands.
    pub state: TrialState,
    /// How often it was started.
    pub attempts: u32,
    /// What it runs with.
    pub configuration: Configuration,
    /// How long it took.
    pub wall_s: Option<f64>,
    /// Why it did not finish.
    pub reason: Option<String>,
}

/// How many trials are in each state, and in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialCounts {
    /// All trials.
    pub total: usize,
    /// Each state with its number.
    pub states: Vec<(TrialState, usize)>,
}

impl TrialCounts {
    /// Counts the trials of a study.
    pub fn of(results: &Results) -> Self {
        let states = TrialState::ALL.into_iter().map(|state| (state, results.count(state)));
        Self { total: results.trials.len(), states: states.collect() }
    }

    /// The number in one state.
    pub fn count(&self, state: TrialState) -> usize {
        self.states.iter().find(|(own, _)| *own == state).map_or(0, |(_, number)| *number)
    }
}

impl Serialize for TrialCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let states = self.states.iter().map(|(state, number)| (state.word(), *number));
        serializer.collect_map(std::iter::once(("total", self.total)).chain(states))
    }
}

/// Tells how far a study has come.
///
/// # Errors
/// The store cannot be read.
pub fn status(study: &Study, results: &Results) -> Result<StatusReply, Error> {
    let trials = results.trials.iter().map(|trial| TrialStatus {
        trial: trial.number,
        row: trial.row,
        replicate: trial.replicate,
        state: trial.state,
        attempts: trial.attempts,
        configuration: trial.configuration.clone(),
        wall_s: trial.usage.as_ref().map(|usage| usage.wall_s),
        reason: trial.reason.clone(),
    });
    Ok(StatusReply {
        study: study.name.clone(),
        store: results.place.store.clone(),
        change: results.change(),
        runner: results.runner(),
        outside: outside(results)?,
        counts: TrialCounts::of(results),
        budget_spent: budget_spent(study, results),
        progress: results.progress()?,
        trials: trials.collect(),
    })
}

/// Trials that were asked for and have not been told of.
fn outside(results: &Results) -> Result<Vec<u32>, Error> {
    let asked = asked_outside(&results.place.trials)?;
    let running = results.trials.iter().filter(|own| own.state == TrialState::Running);
    Ok(running.map(|own| own.number).filter(|number| asked.contains(number)).collect())
}

/// Which trials did not run because the study's hours are used up, and what to do; if any.
pub fn budget_spent(study: &Study, results: &Results) -> Option<String> {
    let left = [TrialState::Planned, TrialState::Stopped].map(|state| results.count(state));
    let used_s = results.trials.iter().map(|trial| trial.used_s).sum();
    trainwright_report::spent_budget(study, used_s, left.iter().sum())
}

/// What a trial wrote to one of its outputs.
#[derive(Debug, Clone, Serialize)]
pub struct LogsReply {
    /// The trial's number.
    pub trial: u32,
    /// How it stands.
    pub state: TrialState,
    /// The file.
    pub file: PathBuf,
    /// Its content; what is no text is replaced.
    pub text: String,
    /// Its content, byte for byte.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// Which output of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogName {
    /// The standard output.
    Stdout,
    /// The standard error.
    Stderr,
}

impl LogName {
    /// The name of its file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Reads what a trial wrote.
///
/// # Errors
/// There is no such trial, or its file cannot be read.
pub fn logs(
    study: &Study,
    results: &Results,
    number: u32,
    name: LogName,
) -> Result<LogsReply, Error> {
    let trial = results.trial(study, number)?;
    let folder = results.place.trial(trial.number);
    let file = folder.join(name.word());
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        // A trial that never came to its command wrote nothing.
        Err(error)
            if error.kind() == io::ErrorKind::NotFound
                && (trial.attempts == 0 || folder.is_dir()) =>
        {
            Vec::new()
        }
        Err(source) => return Err(Error::Input { path: file, source }),
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(LogsReply { trial: trial.number, state: trial.state, file, text, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_an_object_with_the_total_first() {
        let number = |state| match state {
            TrialState::Planned => 4,
            TrialState::Finished => 2,
            TrialState::Failed => 1,
            _ => 0,
        };
        let states = TrialState::ALL.into_iter().map(|state| (state, number(state))).collect();
        let counts = TrialCounts { total: 7, states };
        assert_eq!((counts.count(TrialState::Planned), counts.count(TrialState::Failed)), (4, 1));
        assert_eq!(
            serde_json::to_string(&counts).unwrap(),
            r#"{"total":7,"finished":2,"diverged":0,"failed":1,"cut-short":0,"stopped":0,"running":0,"planned":4}"#
        );
    }
}
