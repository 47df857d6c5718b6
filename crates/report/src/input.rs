//! What a report is made of.

use crate::html::SearchPart;
use trainwright_analysis::Analysis;
use trainwright_design::Design;
use trainwright_study::{
    ClusterTask, Configuration, Machine, Measurement, Series, Study, TrialState, Usage,
};

/// Everything a report shows.
#[derive(Debug, Clone)]
pub struct ReportInput<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its planned rows.
    pub design: &'a Design,
    /// What its measurements say; absent while there are too few.
    pub analysis: Option<&'a Analysis>,
    /// Why there is no analysis, in words.
    pub analysis_refused: Option<String>,
    /// What its search found, where it has one.
    pub search: Option<SearchPart>,
    /// All trials, planned ones included, without warm-ups.
    pub trials: &'a [ReportTrial],
    /// The machines that trials ran on.
    pub machines: &'a [Machine],
    /// What a cluster ran of it, and where; empty where none did.
    pub cluster: &'a [ClusterTask],
    /// Name and version of this program.
    pub program: &'a str,
    /// When the report was written.
    pub written_at: &'a str,
}

impl ReportInput<'_> {
    /// How many trials are in a state.
    pub(crate) fn count(&self, state: TrialState) -> usize {
        self.trials.iter().filter(|trial| trial.state == state).count()
    }
}

/// A trial as a report shows it.
#[derive(Debug, Clone)]
pub struct ReportTrial {
    /// Position in the run order, from 1.
    pub number: u32,
    /// Row of the design, from 1; absent for imported results that match no row.
    pub row: Option<u32>,
    /// Number among the repeats of that row, from 1.
    pub replicate: u32,
    /// What ran.
    pub configuration: Configuration,
    /// Where it stands.
    pub state: TrialState,
    /// How often it was started.
    pub attempts: u32,
    /// Start, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// The metrics measured.
    pub measurements: Vec<Measurement>,
    /// What it used.
    pub usage: Option<Usage>,
    /// Why somebody left it out of the analysis, where they did.
    pub excluded: Option<String>,
    /// Why it did not finish.
    pub reason: Option<String>,
    /// The last lines of its output.
    pub output_end: Option<String>,
    /// The command line as started.
    pub command: Vec<String>,
    /// Learning curves and telemetry.
    pub series: Vec<Series>,
    /// Files that it left in its folder: name and bytes.
    pub files: Vec<(String, u64)>,
}

impl ReportTrial {
    /// Whether it finished and nobody left it out.
    pub(crate) fn counts(&self) -> bool {
        self.state == TrialState::Finished && self.excluded.is_none()
    }

    /// The value of a metric.
    pub(crate) fn value(&self, metric: &str) -> Option<f64> {
        self.measurements.iter().find(|own| own.metric == metric).map(|own| own.value)
    }
}
