//! Reads the kept outputs of an ended trial again, by the rules that the study has now.

use std::path::Path;
use std::time::Duration;

use trainwright_study::{Measurement, Outcome, PlannedTrial, Series, Study, Usage};

use crate::echo::disagreement;
use crate::metrics::gather;
use crate::output::{Output, STDOUT, TimeSpan, trial_folder};
use crate::render::{Names, workdir};
use crate::verdict::{EndedBy, Evidence, verdict};
use crate::{EngineError, MissingMetric};

/// A trial that has ended by itself or by its timeout, as it is kept.
#[derive(Debug, Clone, Copy)]
pub struct PastTrial<'a> {
    /// The trial.
    pub trial: &'a PlannedTrial,
    /// The folder of the study's trials.
    pub trials: &'a Path,
    /// Start of its last attempt, in milliseconds since 1970.
    pub started_ms: i64,
    /// What that attempt used.
    pub usage: &'a Usage,
}

/// What the present rules find in the outputs of a past trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Reread {
    /// How the trial would have ended under these rules.
    pub outcome: Outcome,
    /// Finite values in the study's order.
    pub measurements: Vec<Measurement>,
    /// Learning curves.
    pub curves: Vec<Series>,
    /// The metrics that could not be read, and why.
    pub missing: Vec<MissingMetric>,
}

/// Reads the outputs of a past trial again.
///
/// A file outside the trial's own folder is believed only where it was last written while the trial
/// ran: a later trial may have put its own numbers there.
///
/// # Errors
/// The trial's folder is gone, or a placeholder of the study has no value for this trial.
pub fn reread(study: &Study, past: PastTrial<'_>) -> Result<Reread, EngineError> {
    let PastTrial { trial, trials, started_ms, usage } = past;
    let folder = trial_folder(trials, trial.number);
    let Ok(folder) = std::fs::canonicalize(&folder) else {
        return Err(EngineError::NoOutputs { trial: trial.number, folder });
    };
    // Every trial has the text of its output, however empty.
    if !folder.join(STDOUT).exists() {
        return Err(EngineError::NoOutputs { trial: trial.number, folder });
    }
    let names = Names::new(study, trial, &folder)?;
    let workdir = workdir(study, &names)?;
    let span = TimeSpan::new(started_ms, Duration::try_from_secs_f64(usage.wall_s).ok());
    let output = Output::of_kept_trial(names, &workdir, &folder, span);
    let gathered = gather(&study.metrics, &output, usage.wall_s);
    let timeout = study.run.timeout;
    let over_time = timeout.is_some_and(|timeout| usage.wall_s >= timeout.as_secs_f64());
    let verdict = verdict(Evidence {
        ended_by: if over_time { EndedBy::Timeout } else { EndedBy::Itself },
        timeout,
        usage,
        gathered: &gathered,
        disagreement: disagreement(&study.echoes, &trial.configuration, &output),
        output: &output,
    });
    Ok(Reread {
        outcome: verdict.outcome,
        measurements: gathered.measurements,
        curves: gathered.curves,
        missing: gathered.missing,
    })
}
