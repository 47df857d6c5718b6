//! What a planned study will be able to find, before any of it has run.

mod whole_term;

use serde::Serialize;
use trainwright_design::{Design, plan};
use trainwright_stats::{ErrorStrata, Orthogonal, Stratum, smallest_noncentrality};
use trainwright_study::{Observation, Study, TrialState};

use crate::error::AnalysisError;
use crate::fit::analyze_study::{StudyEquation, equation_of, whole_plots};
use crate::fit::split_plot::only_test;
use crate::model::bend::Bending;
use crate::model::model_matrix::{Coding, Contrasts, Equation, ModelMatrix, Scheme};
use crate::model::variable::Variable;
use whole_term::{LOW_TO_HIGH, noncentrality, patterns};

/// The probability with which people usually want to find an effect.
const WANTED: f64 = 0.8;

/// What a planned study will be able to find.
///
/// Power is that of the verdicts: an effect counts as found where its p-value, adjusted for the
/// number of terms by Holm's method, is called evidence. It is worked out for a single effect among
/// terms that do nothing, which Holm's method then compares with alpha over the number of terms;
/// beside other effects it is found a little more often.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedPower {
    /// Planned observations.
    pub n: usize,
    /// Degrees of freedom left for the noise of single observations.
    pub df_residual: usize,
    /// Terms that are tested together.
    pub tests: usize,
    /// Smallest effect, from the low to the high end of a factor and in standard deviations of the
    /// noise, that is found with probability `power`: that of the main effect hardest to find.
    /// Absent without degrees of freedom for the noise, or without a main effect that the rows can
    /// fix.
    pub smallest_effect: Option<f64>,
    /// What is meant by that effect; see [`TermPower::meaning`].
    pub meaning: Option<&'static str>,
    /// Degrees of freedom of that effect: one less than the levels of its factor.
    pub df_effect: Option<usize>,
    /// Degrees of freedom of the noise that this effect is compared with; fewer than `df_residual`
    /// where it is set between whole plots.
    pub df_smallest: Option<usize>,
    /// That probability.
    pub power: f64,
    /// The same for every factor and every other term of one coefficient.
    pub terms: Vec<TermPower>,
}

/// The smallest effect of a term that is found with the wanted probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermPower {
    /// Name of the term.
    pub term: String,
    /// From low to high, in standard deviations of the noise that the term is compared with: of
    /// single observations, or for terms set between whole plots the square root of the mean
    /// square between them. Absent where the rows cannot fix it.
    pub smallest_effect: Option<f64>,
    /// Between which levels: `low to high`; for a numeric factor of several levels `low to high
    /// along a straight line`, and for a category `between two levels with the others half-way`.
    /// All columns of such a term are tested together.
    pub meaning: &'static str,
    /// Degrees of freedom of the effect.
    pub df_effect: usize,
    /// Degrees of freedom of that noise; absent where strata mix.
    pub df_residual: Option<usize>,
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
    let stats = |source| AnalysisError::Stats { response: spec.response.clone(), source };
    let matrix = ModelMatrix::new(variables, equation, scheme, n).map_err(stats)?;
    let noise = Noise::of(&matrix, &planned, n);
    let columns = &matrix.structure.term_of_column;
    let decomposition = Orthogonal::new(&matrix.columns);
    let kept = decomposition.kept();
    let is_tested = |term: usize| kept.iter().any(|&column| columns[column] == term);
    let tests = (1..=term_names.len()).filter(|&term| is_tested(term)).count();
    let alpha = spec.alpha / tests.max(1) as f64;
    let variances = decomposition.unscaled_variances();
    let compared = Compared { matrix: &matrix, kept, variances, noise: &noise, alpha };
    let powers: Vec<TermPower> = (0..term_names.len())
        .filter_map(|index| compared.power_of(index, &term_names[index], &terms[index], variables))
        .collect();
    let mains = powers.iter().filter(|own| study.factor(&own.term).is_some());
    let found = mains.filter_map(|own| Some((own.smallest_effect?, own)));
    let hardest = found.max_by(|a, b| a.0.total_cmp(&b.0));
    Ok(Some(PlannedPower {
        n,
        df_residual: noise.within,
        tests,
        smallest_effect: hardest.map(|own| own.0),
        meaning: hardest.map(|own| own.1.meaning),
        df_effect: hardest.map(|own| own.1.df_effect),
        df_smallest: hardest.and_then(|own| own.1.df_residual),
        power: WANTED,
        terms: powers,
    }))
}

/// What a term is compared with.
struct Compared<'a> {
    matrix: &'a ModelMatrix,
    /// The independent columns, and the variance of the coefficient of each for noise of 1.
    kept: &'a [usize],
    variances: Vec<f64>,
    noise: &'a Noise,
    /// Allowing for all terms that are tested.
    alpha: f64,
}

impl Compared<'_> {
    /// The power of one term; nothing for products of several columns.
    fn power_of(
        &self,
        index: usize,
        name: &str,
        term: &[usize],
        variables: &[Variable],
    ) -> Option<TermPower> {
        let columns = &self.matrix.structure.term_of_column;
        let is_own = |column: &usize| columns[*column] == index + 1;
        let df_effect = self.kept.iter().filter(|column| is_own(column)).count();
        let own: Vec<usize> = (0..columns.len()).filter(is_own).collect();
        let (meaning, at_one) = match (own.as_slice(), term) {
            ([column], _) => (LOW_TO_HIGH, self.noncentrality_of_column(*column)),
            (_, [factor]) => {
                let (meaning, patterns) = patterns(&variables[*factor]);
                let others = (0..columns.len()).filter(|column| !is_own(column));
                let others = others.map(|column| self.matrix.columns.column(column).to_vec());
                (meaning, noncentrality(&patterns, others.collect()))
            }
            _ => return None,
        };
        let df_residual = self.noise.df_of(index + 1);
        let smallest_effect = df_residual.zip(at_one).and_then(|(df, at_one)| {
            let (df_effect, df) = (df_effect as f64, df as f64);
            let needed = smallest_noncentrality(df_effect, df, self.alpha, WANTED).ok()?;
            Some((needed / at_one).sqrt())
        });
        let term = name.to_owned();
        Some(TermPower { term, smallest_effect, meaning, df_effect, df_residual })
    }

    /// The noncentrality of an effect of 1: a column of -1 and +1 is half of it.
    fn noncentrality_of_column(&self, column: usize) -> Option<f64> {
        let place = self.kept.iter().position(|&own| own == column)?;
        Some(0.25 / self.variances[place])
    }
}

/// Degrees of freedom that measure the noise.
struct Noise {
    within: usize,
    strata: Vec<Stratum>,
}

impl Noise {
    fn of(matrix: &ModelMatrix, planned: &[&Observation], n: usize) -> Self {
        // Any response will do: degrees of freedom depend on the rows alone.
        let response: Vec<f64> = (0..n).map(|row| (row as f64).sin()).collect();
        let strata = whole_plots(planned).and_then(|plots| {
            let groups = [plots.groups];
            ErrorStrata::new(&matrix.columns, &response, &matrix.structure, &groups).ok()
        });
        let strata = strata.map_or_else(Vec::new, |own| own.strata);
        let single = n - Orthogonal::new(&matrix.columns).rank();
        let within = strata.last().map_or(single, |own| own.df_residual);
        Self { within, strata }
    }

    /// Degrees of freedom of the noise that a term is compared with.
    fn df_of(&self, term: usize) -> Option<usize> {
        if self.strata.is_empty() {
            return Some(self.within);
        }
        only_test(&self.strata, term).map(|(stratum, _)| stratum.df_residual)
    }
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
