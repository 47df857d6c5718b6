//! The verbs `report` and the verdict at the end of `run`: everything about a study, shown.

use std::path::{Path, PathBuf};

use serde::Serialize;
use trainwright_analysis::{Analysis, StudyOptions, Surface};
use trainwright_report::{
    Colour, FrontPoint, ReportInput, ReportTrial, SearchPart, SurfacePage, TableReport,
    surface_html, table_html, with_unit,
};
use trainwright_store::StoredTrial;
use trainwright_study::{Series, Study, TrialState};

use crate::studies::trial_files::files_in;
use crate::{Error, Results, RunReply, SearchReply, analyze};

/// Name and version of this program, as pages show them.
pub(crate) const PROGRAM: &str = concat!("trainwright ", env!("CARGO_PKG_VERSION"));

/// The page that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportReply {
    /// Its path.
    pub report: PathBuf,
    /// Its size.
    pub bytes: usize,
}

/// The report of a study as HTML.
///
/// A study without enough finished trials still has a report, which says what is missing.
///
/// # Errors
/// The store cannot be read.
pub fn report(study: &Study, results: &Results, written_at: &str) -> Result<String, Error> {
    let analysis = analyze(study, results, &StudyOptions::default());
    let mut trials = Vec::with_capacity(results.trials.len());
    for trial in &results.trials {
        let series = results.series(trial.number)?;
        let (files, _) = files_in(&results.place.trial(trial.number));
        let files = files.into_iter().map(|own| (own.name, own.bytes)).collect();
        trials.push(ReportTrial { files, ..shown(trial, series) });
    }
    let (machines, cluster) = (results.machines()?, results.cluster_tasks()?);
    let input = ReportInput {
        analysis: analysis.as_ref().ok(),
        analysis_refused: analysis.as_ref().err().map(ToString::to_string),
        machines: &machines,
        cluster: &cluster,
        search: search_part(study, results)?,
        written_at,
        ..bare_input(study, results, &trials)
    };
    Ok(trainwright_report::html(&input))
}

/// Writes a page or table whole, or leaves what was there before: a full disk costs no old report.
///
/// # Errors
/// The file cannot be written.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), Error> {
    trainwright_records::write_whole(path, |file| file.write_all(content))
        .map_err(|source| Error::Folder { path: path.to_owned(), source })
}

/// The analysis of a table as HTML.
pub fn table_report(table: &Path, analysis: &Analysis, written_at: &str) -> String {
    let name = table.file_name().unwrap_or(table.as_os_str()).to_string_lossy();
    table_html(&TableReport { name: &name, analysis, program: PROGRAM, written_at })
}

/// A quadratic surface as HTML, under the name of the file that it came from.
pub fn surface_report(file: &Path, surface: &Surface, written_at: &str) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    surface_html(&SurfacePage { name: &name, surface, program: PROGRAM, written_at })
}

/// What a study found, as text for a terminal.
pub fn verdict(study: &Study, results: &Results, reply: &RunReply, colour: Colour) -> String {
    let trials: Vec<ReportTrial> =
        results.trials.iter().map(|trial| shown(trial, Vec::new())).collect();
    let input = ReportInput {
        analysis: reply.analysis.as_ref(),
        analysis_refused: reply.analysis_refused.clone(),
        ..bare_input(study, results, &trials)
    };
    trainwright_report::verdict(&input, colour)
}

/// What the study's search found, where it has one and a trial.
pub(crate) fn search_part(study: &Study, results: &Results) -> Result<Option<SearchPart>, Error> {
    if study.search.is_none() || results.trials.is_empty() {
        return Ok(None);
    }
    let reply = SearchReply::of(study, results, None)?;
    let front = front_points(study, results, &reply);
    let objectives: Vec<String> = reply.objectives.iter().map(|own| in_unit(study, own)).collect();
    Ok(Some(SearchPart {
        objective: objectives.first().cloned().unwrap_or_default(),
        sentences: crate::terminal::search_sentences(&reply),
        trace: reply.trace,
        importances: reply.importances,
        slices: reply.slices,
        contour: reply.contour,
        objectives,
        front,
    }))
}

/// A metric with its unit, where it has one.
fn in_unit(study: &Study, name: &str) -> String {
    let metric = study.metrics.iter().find(|own| own.name == name);
    with_unit(name, metric.and_then(|own| own.unit.as_deref()))
}

/// Every configuration with all objectives: those on the front, and the trials of the others.
fn front_points(study: &Study, results: &Results, reply: &SearchReply) -> Vec<FrontPoint> {
    if reply.objectives.len() < 2 {
        return Vec::new();
    }
    let values = |of: &dyn Fn(&str) -> Option<f64>| -> Option<Vec<f64>> {
        reply.objectives.iter().map(|name| of(name)).collect()
    };
    let best = reply.front.iter().filter_map(|own| {
        Some(FrontPoint {
            trial: own.trial,
            configuration: own.configuration.clone(),
            values: values(&|name| own.values.get(name).copied())?,
            on_front: true,
        })
    });
    let on_front = |trial: &StoredTrial| {
        reply.front.iter().any(|own| own.configuration.same_as(&trial.configuration))
    };
    let counted = |trial: &&StoredTrial| {
        trial.state == TrialState::Finished && trial.excluded.is_none() && !on_front(trial)
    };
    let beaten = results.trials.iter().filter(counted).filter_map(|own| {
        let of =
            |name: &str| own.measurements.iter().find(|it| it.metric == name).map(|it| it.value);
        Some(FrontPoint {
            trial: own.number,
            configuration: study.with_earlier_values(&own.configuration),
            values: values(&of)?,
            on_front: false,
        })
    });
    best.chain(beaten).collect()
}

fn bare_input<'a>(
    study: &'a Study,
    results: &'a Results,
    trials: &'a [ReportTrial],
) -> ReportInput<'a> {
    ReportInput {
        study,
        design: &results.design,
        analysis: None,
        analysis_refused: None,
        search: None,
        trials,
        machines: &[],
        cluster: &[],
        program: PROGRAM,
        written_at: "",
    }
}

pub(crate) fn shown(trial: &StoredTrial, series: Vec<Series>) -> ReportTrial {
    ReportTrial {
        number: trial.number,
        row: trial.row,
        replicate: trial.replicate,
        configuration: trial.configuration.clone(),
        state: trial.state,
        attempts: trial.attempts,
        started_ms: trial.started_ms,
        measurements: trial.measurements.clone(),
        usage: trial.usage.clone(),
        excluded: trial.excluded.clone(),
        reason: trial.reason.clone(),
        output_end: trial.output_end.clone(),
        command: trial.command.clone(),
        series,
        files: Vec::new(),
    }
}
