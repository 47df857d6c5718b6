//! The verb `analyze`: what the measurements say.

use std::path::Path;

use trainwright_analysis::{
    Analysis, Formula, StudyOptions, TableOptions, TermOrder, analyze_csv, analyze_study,
};
use trainwright_study::Study;

use crate::whole_file::WholeFile;
use crate::{Error, Results};

/// Fits an equation to a table of results.
///
/// # Errors
/// The file cannot be read, the equation does not read, or the table does not support it.
pub fn analyze_table(request: &TableRequest<'_>) -> Result<Analysis, Error> {
    let path = request.data;
    let file = WholeFile::open(path)?;
    let formula = Formula::parse(request.formula, request.order)?;
    Ok(analyze_csv(file, request.categorical, &formula, &request.options)?)
}

/// A table and the equation to fit to it.
#[derive(Debug, Clone)]
pub struct TableRequest<'a> {
    /// CSV file with a header.
    pub data: &'a Path,
    /// Numeric columns to treat as categories.
    pub categorical: &'a [String],
    /// Equation such as `cost ~ lr*batch`.
    pub formula: &'a str,
    /// Order in which its products expand.
    pub order: TermOrder,
    /// How it is fitted.
    pub options: TableOptions,
}

/// Fits the study's equation to its finished trials and words the findings.
///
/// # Errors
/// There are too few finished trials, or the formula does not read.
pub fn analyze(
    study: &Study,
    results: &Results,
    options: &StudyOptions,
) -> Result<Analysis, Error> {
    // Without a machine of record, as for imported results, nothing is said about cores.
    let machine_cores = match options.machine_cores {
        Some(cores) => Some(cores),
        None => results.fewest_cores()?,
    };
    let (commands, (uses, capacities)) = (results.commands(), results.uses()?);
    let excluded = results.excluded();
    let options =
        StudyOptions { machine_cores, commands, excluded, uses, capacities, ..options.clone() };
    Ok(analyze_study(study, &results.design, &results.observations(), &options)?)
}
