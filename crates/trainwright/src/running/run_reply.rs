//! What `run` tells when it has ended.

use std::path::PathBuf;

use serde::Serialize;
use trainwright_analysis::{Analysis, StudyOptions};
use trainwright_study::Study;

use crate::studies::status::TrialCounts;
use crate::{Error, Results, RunEnd, analyze};

/// How a run ended and what the study says so far.
#[derive(Debug, Serialize)]
pub struct RunReply {
    /// The study's name.
    pub study: String,
    /// How the run ended.
    pub end: RunEnd,
    /// How many trials are in each state.
    pub trials: TrialCounts,
    /// What the measurements say.
    pub analysis: Option<Analysis>,
    /// Why they say nothing yet.
    pub analysis_refused: Option<String>,
    /// The page that was written.
    pub report: Option<PathBuf>,
}

impl RunReply {
    /// Analyses what there is after a run.
    pub fn of(study: &Study, results: &Results, end: RunEnd, report: Option<PathBuf>) -> Self {
        let analysis = analyze(study, results, &StudyOptions::default());
        let analysis_refused = analysis.as_ref().err().map(Error::to_string);
        Self {
            study: study.name.clone(),
            end,
            trials: TrialCounts::of(results),
            analysis: analysis.ok(),
            analysis_refused,
            report,
        }
    }
}
