//! The verb `analyze`: what the measurements say.

use trainwright_analysis::{Analysis, StudyOptions, analyze_study};
use trainwright_study::Study;

use crate::{Error, Results};

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
    let commands = results.commands();
    let options = StudyOptions { machine_cores, commands, ..options.clone() };
    Ok(analyze_study(study, &results.design, &results.observations(), &options)?)
}
