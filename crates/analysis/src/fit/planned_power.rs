//! What a planned study will be able to find, before any of it has run.

use serde::Serialize;
use trainwright_design::{Design, plan};
use trainwright_stats::{Orthogonal, least_squares, smallest_effect};
use trainwright_study::{Observation, Study, TrialState};

use crate::error::AnalysisError;
use crate::fit::analyze_study::{StudyEquation, equation_of};
use crate::model::bend::Bending;
use crate::model::model_matrix::{Coding, Contrasts, Equation, ModelMatrix, Scheme};
use crate::model::variable::Variable;

/// The probability with which people usually want to find an effect.
const WANTED: f64 = 0.8;

/// What a planned study will be able to find.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedPower {
    /// Planned observations.
    pub n: usize,
    /// Degrees of freedom left for the noise.
    pub df_residual: usize,
    /// Smallest effect, from the low to the high end of a factor and in residual standard
    /// deviations, that is found with probability `power`: that of the main effect hardest to
    /// find. Absent without residual degrees of freedom, or without a main effect that the rows
    /// can fix.
    pub smallest_effect: Option<f64>,
    /// That probability.
    pub power: f64,
    /// The same for every term of one coefficient.
    pub terms: Vec<TermPower>,
}

/// The smallest effect of a term that is found with the wanted probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermPower {
    /// Name of the term.
    pub term: String,
    /// In residual standard deviations, from low to high; absent where the rows cannot fix it.
    pub smallest_effect: Option<f64>,
}

/// Multiplications up to which the power is quick to work out.
const MOST_WORK: u128 = 1_000_000_000;

/// Works out the power of a study if all its trials finish; nothing where none are planned, or
/// where the terms have too many columns over the rows to be compared.
///
/// # Errors
/// Terms that do not read or name no factor.
pub fn planned_power(
    study: &Study,
    design: &Design,
) -> Result<Option<PlannedPower>, AnalysisError> {
    let spec = &study.analysis;
    let planned: Vec<Observation> = plan(study, design)
        .into_iter()
        .map(|trial| Observation::of(trial, TrialState::Planned, [].into()))
        .collect();
    let planned: Vec<&Observation> = planned.iter().collect();
    let scheme = Scheme { coding: Coding::Coded, contrasts: Contrasts::Sum };
    let n = planned.len();
    let StudyEquation { bending, term_names, intercept, .. } =
        equation_of(study, design, &planned)?;
    let Bending { variables, terms, .. } = &bending;
    if planned.is_empty() || work(variables, terms, n) > MOST_WORK {
        return Ok(None);
    }
    let equation = Equation { terms, intercept };
    let matrix = ModelMatrix::new(variables, equation, scheme, n)
        .map_err(|source| AnalysisError::Stats { response: spec.response.clone(), source })?;
    let df_residual = n - Orthogonal::new(&matrix.columns).rank();
    // Any response will do: the standard errors over sigma depend on the rows alone.
    let response: Vec<f64> = (0..n).map(|row| (row as f64).sin()).collect();
    let fit = least_squares(&matrix.columns, &response).ok().filter(|_| df_residual > 0);
    let orthogonal = smallest_effect(n, df_residual as f64, spec.alpha, WANTED).ok();
    let of_column = |column: usize| {
        let (fit, orthogonal) = (fit.as_ref()?, orthogonal?);
        let error = fit.coefficients[column]?.std_error? / fit.sigma?;
        // An orthogonal column of -1 and +1 has a standard error of 1 / sqrt(n).
        Some(orthogonal * error * (n as f64).sqrt())
    };
    let names = term_names.iter().enumerate();
    let terms: Vec<TermPower> = names
        .filter_map(|(index, name)| {
            let own = |(_, term): &(usize, &usize)| **term == index + 1;
            let mut columns = matrix.structure.term_of_column.iter().enumerate().filter(own);
            match (columns.next(), columns.next()) {
                (Some((column, _)), None) => {
                    Some(TermPower { term: name.clone(), smallest_effect: of_column(column) })
                }
                _ => None,
            }
        })
        .collect();
    let mains = terms.iter().filter(|own| study.factor(&own.term).is_some());
    let smallest_effect = mains.filter_map(|own| own.smallest_effect).max_by(f64::total_cmp);
    Ok(Some(PlannedPower { n, df_residual, smallest_effect, power: WANTED, terms }))
}

/// Multiplications that it takes to find the independent columns of the terms over `n` rows.
fn work(variables: &[Variable], terms: &[Vec<usize>], n: usize) -> u128 {
    let of_variable = |&place: &usize| match &variables[place] {
        own if own.coded.is_some() => 1,
        own => own.levels.len() as u128,
    };
    let of_term = |term: &Vec<usize>| term.iter().map(of_variable).fold(1, u128::saturating_mul);
    let columns = terms.iter().map(of_term).fold(1, u128::saturating_add);
    columns.saturating_mul(n as u128).saturating_mul(columns.min(n as u128))
}
