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
    Ok(analyze_study(study, &results.design, &results.observations(), options)?)
}
