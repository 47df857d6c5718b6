//! What a planned study will be able to find, before any of it has run.

use serde::Serialize;
use trainwright_design::{Design, plan};
use trainwright_stats::{Orthogonal, smallest_effect};
use trainwright_study::{Observation, Study, TrialState};

use crate::analyze_study::{place_terms, variables};
use crate::error::AnalysisError;
use crate::formula::Formula;
use crate::model_matrix::{Coding, Contrasts, Equation, ModelMatrix, Scheme};

/// The probability with which people usually want to find an effect.
const WANTED: f64 = 0.8;

/// What a planned study will be able to find.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlannedPower {
    /// Planned observations.
    pub n: usize,
    /// Degrees of freedom left for the noise.
    pub df_residual: usize,
    /// Smallest effect of a two-level factor, from low to high, in residual standard deviations,
    /// that is found with probability `power`; absent without residual degrees of freedom or
    /// where factors have more levels.
    pub smallest_effect: Option<f64>,
    /// That probability.
    pub power: f64,
}

/// Works out the power of a study if all its trials finish.
///
/// # Errors
/// Terms that do not read or name no factor.
pub fn planned_power(study: &Study, design: &Design) -> Result<PlannedPower, AnalysisError> {
    let spec = &study.analysis;
    let factors: Vec<String> = study.factors.iter().map(|f| f.name.clone()).collect();
    let formula = Formula::from_terms(&spec.response, &spec.terms, &factors)?;
    let terms = place_terms(&formula, &factors, &spec.terms)?;
    let planned: Vec<Observation> = plan(study, design)
        .into_iter()
        .map(|trial| Observation {
            trial: trial.number,
            row: Some(trial.row),
            replicate: trial.replicate,
            block: trial.block,
            whole_plot: trial.whole_plot,
            configuration: trial.configuration,
            state: TrialState::Planned,
            values: [].into(),
        })
        .collect();
    let planned: Vec<&Observation> = planned.iter().collect();
    let scheme = Scheme { coding: Coding::Coded, contrasts: Contrasts::Sum };
    let n = planned.len();
    let equation = Equation { terms: &terms, intercept: formula.intercept };
    let matrix = ModelMatrix::new(&variables(study, &planned)?, equation, scheme, n)
        .map_err(|source| AnalysisError::Stats { response: spec.response.clone(), source })?;
    let df_residual = n - Orthogonal::new(&matrix.columns).rank();
    let smallest_effect = match (design.coded(), df_residual) {
        (Some(_), 1..) => smallest_effect(n, df_residual as f64, spec.alpha, WANTED).ok(),
        _ => None,
    };
    Ok(PlannedPower { n, df_residual, smallest_effect, power: WANTED })
}
