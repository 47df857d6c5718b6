//! The verbs `compare`, `scaling`, `overhead`, `correlate` and `surface`: one question about a
//! table of results, or about a study's trials.

use std::path::Path;

use serde::Serialize;
use trainwright_analysis::{
    AnalysisError, CompareOptions, Comparison, Correlations, Overhead, OverheadOptions, Scaling,
    ScalingOptions, Surface, SurfaceOptions, Table, compare_study, compare_table,
    correlations_of_table, overhead_of_table, scaling_of_table, surface_of_study, surface_of_table,
};
use trainwright_study::Study;

use crate::whole_file::WholeFile;
use crate::{Error, Results};

/// Levels compared with their baselines.
#[derive(Debug, Clone, Serialize)]
pub struct CompareReply {
    /// One entry a factor.
    pub comparisons: Vec<Comparison>,
}

/// Compares the levels of a column with a baseline.
///
/// # Errors
/// The file cannot be read, or its columns cannot be compared.
pub fn compare(data: &Path, options: &CompareOptions) -> Result<CompareReply, Error> {
    // As text, levels keep the names they have in the file.
    let texts: Vec<String> =
        [Some(&options.by), options.paired.as_ref()].into_iter().flatten().cloned().collect();
    let found = of_table(data, &texts, |table| compare_table(table, options))?;
    Ok(CompareReply { comparisons: vec![found] })
}

/// Compares the levels of a study's factors with their baselines.
///
/// # Errors
/// There is no finished trial, or the study has no such factor, metric or level.
pub fn compare_trials(
    study: &Study,
    results: &Results,
    by: Option<&str>,
    column: Option<&str>,
    baseline: Option<&str>,
) -> Result<CompareReply, Error> {
    let comparisons = compare_study(study, &results.observations(), by, column, baseline)?;
    Ok(CompareReply { comparisons })
}

/// Fits the laws of scaling to a table of times.
///
/// # Errors
/// The file cannot be read, or its columns cannot be fitted.
pub fn scaling(data: &Path, options: &ScalingOptions) -> Result<Scaling, Error> {
    of_table(data, &[], |table| scaling_of_table(table, options))
}

/// Splits times into a cost a step and the rest.
///
/// # Errors
/// The file cannot be read, or its columns cannot be fitted.
pub fn overhead(data: &Path, options: &OverheadOptions) -> Result<Overhead, Error> {
    of_table(data, &[], |table| overhead_of_table(table, options))
}

/// Correlates a column with others, or with all numeric ones where none are named.
///
/// # Errors
/// The file cannot be read, or its columns cannot be correlated.
pub fn correlate(data: &Path, response: &str, with: &[String]) -> Result<Correlations, Error> {
    of_table(data, &[], |table| correlations_of_table(table, response, with))
}

/// Fits a quadratic surface to a table.
///
/// # Errors
/// The file cannot be read, or its points do not support a quadratic.
pub fn surface(data: &Path, options: &SurfaceOptions) -> Result<Surface, Error> {
    of_table(data, &[], |table| surface_of_table(table, options))
}

/// Fits a quadratic surface to a study's trials.
///
/// # Errors
/// The study's design does not support a quadratic, or too few of its trials are finished.
pub fn surface_of_trials(study: &Study, results: &Results) -> Result<Surface, Error> {
    surface_of_study(study, &results.observations())?.ok_or_else(|| {
        Error::Request(format!(
            "the finished trials of `{}` do not support a quadratic surface: every factor must be \
             numeric with at least 3 levels, in a central composite, Box-Behnken or three-level design",
            study.name
        ))
    })
}

fn of_table<T>(
    data: &Path,
    texts: &[String],
    answer: impl FnOnce(&Table) -> Result<T, AnalysisError>,
) -> Result<T, Error> {
    let file = WholeFile::open(data)?;
    let found = Table::from_csv(file, texts).and_then(|table| answer(&table));
    found.map_err(|source| Error::Table { file: data.to_owned(), source })
}
