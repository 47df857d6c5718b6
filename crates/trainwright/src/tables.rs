//! The verbs `compare`, `scaling` and `overhead`: one question about a table of results.

use std::fs::File;
use std::path::Path;

use trainwright_analysis::{
    AnalysisError, CompareOptions, Comparison, Overhead, OverheadOptions, Scaling, ScalingOptions,
    Table, compare_study, compare_table, overhead_of_table, scaling_of_table,
};
use trainwright_study::Study;

use crate::{Error, Results};

/// Compares the levels of a column with a baseline.
///
/// # Errors
/// The file cannot be read, or its columns cannot be compared.
pub fn compare(data: &Path, options: &CompareOptions) -> Result<Comparison, Error> {
    // As text, levels keep the names they have in the file.
    let texts: Vec<String> =
        [Some(&options.by), options.paired.as_ref()].into_iter().flatten().cloned().collect();
    of_table(data, &texts, |table| compare_table(table, options))
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
) -> Result<Vec<Comparison>, Error> {
    Ok(compare_study(study, &results.observations(), by, column, baseline)?)
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

fn of_table<T>(
    data: &Path,
    texts: &[String],
    answer: impl FnOnce(&Table) -> Result<T, AnalysisError>,
) -> Result<T, Error> {
    let file = File::open(data).map_err(|source| Error::Input { path: data.to_owned(), source })?;
    let found = Table::from_csv(file, texts).and_then(|table| answer(&table));
    found.map_err(|source| Error::Table { file: data.to_owned(), source })
}
