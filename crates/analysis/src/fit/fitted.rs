//! The fits behind an analysis: as asked for, and in coded units.

use trainwright_stats::{
    AnovaRow, BoxCox, BreuschPagan, Coefficient, Columns, DurbinWatson, ErrorStrata, Fit,
    Intercept, LARGEST_POWER, LackOfFit, ShapiroWilk, StatsError, StratumError, StudentT,
    SumOfSquares, TermStructure, box_cox, box_cox_profile, lack_of_fit, least_squares,
    least_squares_through_origin, shapiro_wilk,
};

use crate::error::AnalysisError;
use crate::fit::analysis::{
    AnovaTable, AnovaType, BoxCoxSummary, CoefficientRow, FitSummary, MissingTerm, PowerLikelihood,
};
use crate::fit::anova_lines::lines;
use crate::fit::checks::missing_terms::{missing_terms, terms_in_residuals};
use crate::fit::checks::smooth_left::{SmoothLeft, smooth_left};
use crate::fit::split_plot::only_test;
use crate::model::model_matrix::{Coding, Contrasts, ModelMatrix, Scheme};
use crate::model::problem::Problem;

/// Rows up to which the likelihood of several powers is worked out.
const MOST_ROWS_OF_A_PROFILE: usize = 20_000;

/// Steps of that likelihood.
const PROFILE_STEPS: usize = 40;

/// A problem's fits and tables.
pub(crate) struct Fitted {
    names: Vec<String>,
    structure: TermStructure,
    pub(crate) fit: Fit,
    coded_terms: Vec<usize>,
    pub(crate) coded_fit: Fit,
    pub(crate) type_one: Vec<AnovaRow>,
    pub(crate) type_two: Vec<AnovaRow>,
    type_three: Vec<AnovaRow>,
    /// Type III in coded units with sum-to-zero contrasts: each effect averaged over the others.
    pub(crate) averaged: Vec<AnovaRow>,
    pub(crate) of_residuals: OfResiduals,
    /// The fit with the mean of every group taken out, where groups have errors of their own.
    within: Option<Fit>,
    /// The errors of the groups, where they have their own.
    pub(crate) strata: Option<ErrorStrata>,
}

/// What only single residuals can tell; each is undefined for some honest data, and then absent.
#[derive(Default, Clone)]
pub(crate) struct OfResiduals {
    pub(crate) lack_of_fit: Option<LackOfFit>,
    /// Terms that would take up a lack of fit, where there is evidence of it.
    pub(crate) missing_terms: Vec<MissingTerm>,
    /// Likeness of neighbours, in designs that fill space.
    pub(crate) smooth_left: Option<SmoothLeft>,
    pub(crate) box_cox: Option<BoxCox>,
    pub(crate) power_profile: Vec<PowerLikelihood>,
    /// Absent beyond the sample sizes of the test.
    pub(crate) shapiro: Option<ShapiroWilk>,
    pub(crate) durbin_watson: Option<DurbinWatson>,
    pub(crate) breusch_pagan: Option<BreuschPagan>,
}

impl OfResiduals {
    /// The most likely power of the response.
    pub(crate) fn power(&self) -> Option<BoxCoxSummary> {
        let BoxCox { lambda, low, high, .. } = self.box_cox?;
        Some(BoxCoxSummary { lambda, low, high, profile: self.power_profile.clone() })
    }
}

/// One fit with the names and terms of its columns.
#[derive(Clone)]
pub(crate) struct Equated {
    pub(crate) names: Vec<String>,
    pub(crate) structure: TermStructure,
    pub(crate) fit: Fit,
}

impl Equated {
    fn new(matrix: &ModelMatrix, y: &[f64], intercept: Intercept) -> Result<Self, StatsError> {
        let fit = match intercept {
            Intercept::First => least_squares(&matrix.columns, y)?,
            Intercept::Absent => least_squares_through_origin(&matrix.columns, y)?,
        };
        Ok(Self { names: matrix.names.clone(), structure: matrix.structure.clone(), fit })
    }

    pub(crate) fn table(&self, kind: SumOfSquares) -> Result<Vec<AnovaRow>, StatsError> {
        self.fit.anova(&self.structure, kind)
    }
}

/// The schemes in which an equation is fitted: as asked for, coded, and with sum contrasts.
pub(crate) fn schemes(coding: Coding, contrasts: Contrasts) -> [Scheme; 3] {
    let coded = Scheme { coding: Coding::Coded, contrasts: Contrasts::Sum };
    match coding {
        Coding::Coded => [coded; 3],
        coding => {
            [Scheme { coding, contrasts }, coded, Scheme { coding, contrasts: Contrasts::Sum }]
        }
    }
}

impl Fitted {
    /// Fits a problem.
    pub(crate) fn new(problem: &Problem) -> Result<Self, AnalysisError> {
        let stats = |source| AnalysisError::Stats { response: problem.response.clone(), source };
        let y = &problem.y;
        let build = |scheme: Scheme| {
            let matrix = ModelMatrix::new(&problem.variables, problem.equation(), scheme, y.len())?;
            let own = Equated::new(&matrix, y, problem.intercept)?;
            Ok((own, matrix))
        };
        let [asked, coded, summed] = schemes(problem.coding, problem.contrasts);
        let (own, matrix) = build(asked).map_err(stats)?;
        let numbers_only = problem.variables.iter().all(|v| v.raw.is_some());
        let coded = if coded == asked { own.clone() } else { build(coded).map_err(stats)?.0 };
        let summed = if summed == asked || numbers_only {
            None
        } else {
            Some(build(summed).map_err(stats)?.0)
        };
        let within = within_groups(&matrix, problem).map_err(stats)?;
        let fit = within.as_ref().unwrap_or(&own.fit);
        let (cells, _) = problem.cells();
        // Residuals that are no more than rounding have nothing to test.
        let testable = fit.log_likelihood.is_some();
        let power = testable.then(|| box_cox(&matrix.columns, y).ok()).flatten();
        // Repeats in other groups differ by the error of the groups too.
        let lack = match within {
            Some(_) => None,
            None => lack_of_fit(y, &cells, fit.ss_residual, fit.df_residual).ok(),
        };
        let evident = lack.filter(|own| own.p.is_some_and(|p| p < problem.check_level()));
        let missing_terms = evident.map_or_else(Vec::new, |own| missing_terms(problem, &own));
        let of_residuals = OfResiduals {
            lack_of_fit: lack,
            missing_terms,
            smooth_left: None,
            power_profile: power.map_or_else(Vec::new, |own| power_profile(&matrix, y, &own)),
            box_cox: power,
            shapiro: testable.then(|| shapiro_wilk(&fit.residuals).ok()).flatten(),
            durbin_watson: testable.then(|| fit.durbin_watson().ok()).flatten(),
            breusch_pagan: testable.then(|| fit.breusch_pagan().ok()).flatten(),
        };
        let found = Self::of(own, coded, summed, of_residuals).map_err(stats)?;
        let mut fitted = Self { within, ..found };
        if fitted.of_residuals.lack_of_fit.is_none() && fitted.within.is_none() {
            let left = smooth_left(problem, &fitted);
            if left.is_some_and(|own| own.p < problem.check_level()) {
                fitted.of_residuals.missing_terms = terms_in_residuals(problem, &fitted.fit);
            }
            fitted.of_residuals.smooth_left = left;
        }
        Ok(fitted)
    }

    /// Tables of fits that are made; `summed` is the fit with sum contrasts where it differs.
    pub(crate) fn of(
        own: Equated,
        coded: Equated,
        summed: Option<Equated>,
        of_residuals: OfResiduals,
    ) -> Result<Self, StatsError> {
        Ok(Self {
            type_one: own.table(SumOfSquares::Sequential)?,
            type_two: own.table(SumOfSquares::Marginal)?,
            type_three: summed.as_ref().unwrap_or(&own).table(SumOfSquares::Partial)?,
            averaged: coded.table(SumOfSquares::Partial)?,
            of_residuals,
            within: None,
            strata: None,
            names: own.names,
            structure: own.structure,
            fit: own.fit,
            coded_terms: coded.structure.term_of_column,
            coded_fit: coded.fit,
        })
    }

    /// The same with every term tested against the error of the one stratum it lies in.
    pub(crate) fn tested_in(mut self, errors: Option<ErrorStrata>) -> Self {
        let Some(errors) = errors else { return self };
        for table in
            [&mut self.type_one, &mut self.type_two, &mut self.type_three, &mut self.averaged]
        {
            for row in table.iter_mut() {
                let test = row.term.and_then(|term| only_test(&errors.strata, term));
                row.f = test.and_then(|(_, own)| own.f);
                row.p = test.and_then(|(_, own)| own.p);
            }
        }
        self.strata = Some(errors);
        self
    }

    /// The fit whose residuals have one variance: within groups that have errors of their own.
    pub(crate) fn of_one_error(&self) -> &Fit {
        self.within.as_ref().unwrap_or(&self.fit)
    }

    /// The uncertainty of the sum of all observations times their weights, with the errors of the
    /// strata that the weights lie in; `None` where such an error cannot be measured.
    pub(crate) fn error_of(&self, weights: &[f64]) -> Option<StratumError> {
        match &self.strata {
            Some(strata) => strata.error_of(weights),
            None => {
                let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
                let df = self.fit.df_residual as f64;
                self.fit.sigma.map(|sigma| StratumError { std_error: sigma * length, df })
            }
        }
    }

    /// Half the width of the interval of such a sum.
    pub(crate) fn half_width(&self, weights: &[f64], alpha: f64) -> Option<f64> {
        let error = self.error_of(weights)?;
        let t = StudentT::new(error.df).and_then(|t| t.quantile(1.0 - 0.5 * alpha));
        Some(error.std_error * t.expect("degrees of freedom are positive, alpha within 0 to 1"))
    }

    /// Interval of a column's coefficient in coded units.
    pub(crate) fn coded_interval(&self, column: usize, alpha: f64) -> Option<[f64; 2]> {
        if self.strata.is_none() {
            return interval(&self.coded_fit, column, alpha);
        }
        let estimate = self.coded_fit.coefficients[column]?.estimate;
        let half = self.half_width(&weights_of(&self.coded_fit, column)?, alpha)?;
        Some([estimate - half, estimate + half])
    }

    /// The uncertainty of the sum of all coefficients in coded units times their weights.
    pub(crate) fn error_of_coded(&self, weights: &[f64]) -> Option<StratumError> {
        let fit = &self.coded_fit;
        if self.strata.is_none() {
            let std_error = fit.weighted_sum(weights)?.std_error?;
            return Some(StratumError { std_error, df: fit.df_residual as f64 });
        }
        let mut of_rows = vec![0.0; fit.residuals.len()];
        let kept = fit.decomposition().kept();
        for (own, &column) in fit.decomposition().coefficient_weights().iter().zip(kept) {
            of_rows.iter_mut().zip(own).for_each(|(sum, v)| *sum += weights[column] * v);
        }
        self.error_of(&of_rows)
    }

    /// The tables asked for.
    pub(crate) fn tables(&self, problem: &Problem) -> Vec<AnovaTable> {
        let table = |&kind: &AnovaType| {
            let mut rows = lines(self.rows(kind), self.fit.ss_total, &problem.term_names);
            if !problem.groupings.is_empty() {
                // Sizes relative to a mixture of errors would mean nothing; the strata have them.
                for row in &mut rows {
                    (row.partial_eta_sq, row.omega_sq) = (None, None);
                }
            }
            AnovaTable { kind, rows }
        };
        problem.types.iter().map(table).collect()
    }

    fn rows(&self, kind: AnovaType) -> &[AnovaRow] {
        match kind {
            AnovaType::One => &self.type_one,
            AnovaType::Two => &self.type_two,
            AnovaType::Three => &self.type_three,
        }
    }

    /// Figures of the fit asked for.
    pub(crate) fn summary(&self, alpha: f64) -> FitSummary {
        let fit = &self.fit;
        FitSummary {
            r2: fit.r2,
            adj_r2: fit.adj_r2,
            sigma: fit.sigma,
            // No single error would be right for all terms together.
            f: fit.test.filter(|_| self.strata.is_none()).map(|t| t.f),
            p: fit.test.filter(|_| self.strata.is_none()).map(|t| t.p),
            df_model: fit.df_model,
            df_residual: fit.df_residual,
            ss_residual: fit.ss_residual,
            log_likelihood: fit.log_likelihood,
            aic: fit.aic,
            bic: fit.bic,
            condition_number: fit.condition_number(),
            durbin_watson: self.of_residuals.durbin_watson.map(Into::into),
            breusch_pagan: self.of_residuals.breusch_pagan.map(Into::into),
            coefficients: (0..self.names.len()).map(|c| self.coefficient(c, alpha)).collect(),
        }
    }

    fn coefficient(&self, column: usize, alpha: f64) -> CoefficientRow {
        let found = self.fit.coefficients[column];
        if let (Some(strata), Some(found)) = (&self.strata, found) {
            let weights = weights_of(&self.fit, column);
            let error = weights.as_deref().and_then(|weights| strata.error_of(weights));
            let half = weights.and_then(|weights| self.half_width(&weights, alpha));
            return self.coefficient_of(column, found, error, half);
        }
        let interval = interval(&self.fit, column, alpha);
        CoefficientRow {
            name: self.names[column].clone(),
            estimate: found.map(|c| c.estimate),
            std_error: found.and_then(|c| c.std_error),
            t: found.and_then(|c| c.t),
            p: found.and_then(|c| c.p),
            ci_low: interval.map(|i| i[0]),
            ci_high: interval.map(|i| i[1]),
            vif: found.and_then(|c| c.vif),
            aliased: found.is_none(),
        }
    }

    fn coefficient_of(
        &self,
        column: usize,
        found: Coefficient,
        error: Option<StratumError>,
        half: Option<f64>,
    ) -> CoefficientRow {
        let t = error.map(|error| found.estimate / error.std_error);
        let tail =
            |(error, t): (StratumError, f64)| Some(StudentT::new(error.df).ok()?.two_sided(t));
        CoefficientRow {
            name: self.names[column].clone(),
            estimate: Some(found.estimate),
            std_error: error.map(|error| error.std_error),
            t,
            p: error.zip(t).and_then(tail),
            ci_low: half.map(|half| found.estimate - half),
            ci_high: half.map(|half| found.estimate + half),
            vif: found.vif,
            aliased: false,
        }
    }

    /// The row a term is judged by: type II, or type I where a later term is the same columns.
    ///
    /// Of terms that cannot be told apart the first stands for all; type II would leave each of
    /// them nothing, since the others already say the same.
    pub(crate) fn judged(&self, term: usize) -> &AnovaRow {
        let marginal = row_of(&self.type_two, term);
        if marginal.df > 0 { marginal } else { row_of(&self.type_one, term) }
    }

    /// Some terms tested together after others and the constant; nothing where the fit cannot.
    pub(crate) fn together(&self, terms: &[usize], after: &[usize]) -> Option<AnovaRow> {
        let numbers = |own: &[usize]| own.iter().map(|term| term + 1).collect::<Vec<_>>();
        let after = [&[0], numbers(after).as_slice()].concat();
        self.fit.anova_together(&self.structure, &numbers(terms), &after).ok()
    }

    /// Term of a column of the fit asked for; 0 is the intercept.
    pub(crate) fn term_of_column(&self, column: usize) -> usize {
        self.structure.term_of_column[column]
    }

    /// Term of each column in coded units; 0 is the intercept.
    pub(crate) fn coded_terms(&self) -> &[usize] {
        &self.coded_terms
    }

    /// Column of a term that has exactly one in coded units.
    pub(crate) fn single_coded_column(&self, term: usize) -> Option<usize> {
        let mut of_term = (0..self.coded_terms.len()).filter(|&c| self.coded_terms[c] == term + 1);
        let first = of_term.next()?;
        of_term.next().is_none().then_some(first)
    }
}

/// The fit with the mean of every group taken out; `None` where no groups have their own error.
fn within_groups(matrix: &ModelMatrix, problem: &Problem) -> Result<Option<Fit>, StatsError> {
    if problem.groupings.is_empty() {
        return Ok(None);
    }
    let mut columns: Vec<Vec<f64>> = matrix.columns.iter().map(<[f64]>::to_vec).collect();
    for grouping in &problem.groupings {
        let last = grouping.groups.iter().copied().max().unwrap_or(0);
        let of_group = |group: usize| {
            let inside = move |own: &usize| if *own == group { 1.0 } else { 0.0 };
            grouping.groups.iter().map(inside).collect()
        };
        columns.extend((0..=last).map(of_group));
    }
    let columns = Columns::new(columns)?;
    match problem.intercept {
        Intercept::First => least_squares(&columns, &problem.y),
        Intercept::Absent => least_squares_through_origin(&columns, &problem.y),
    }
    .map(Some)
}

/// Weights of the observations in a coefficient; `None` for an aliased column.
fn weights_of(fit: &Fit, column: usize) -> Option<Vec<f64>> {
    let decomposition = fit.decomposition();
    let place = decomposition.kept().iter().position(|&kept| kept == column)?;
    decomposition.coefficient_weights().into_iter().nth(place)
}

/// Likelihood of the powers about the most likely one; empty for data so large that the profile
/// would take longer than all the rest, or where a power fits exactly.
fn power_profile(matrix: &ModelMatrix, y: &[f64], best: &BoxCox) -> Vec<PowerLikelihood> {
    if y.len() > MOST_ROWS_OF_A_PROFILE {
        return Vec::new();
    }
    let (low, high) = (best.low.unwrap_or(-LARGEST_POWER), best.high.unwrap_or(LARGEST_POWER));
    let step = 2.0 * (high - low) / PROFILE_STEPS as f64;
    let powers: Vec<f64> = (0..=PROFILE_STEPS)
        .map(|at| best.lambda + step * (at as f64 - 0.5 * PROFILE_STEPS as f64))
        .collect();
    let found = box_cox_profile(&matrix.columns, y, &powers).unwrap_or_default();
    if !found.iter().all(|own| own.is_finite()) {
        return Vec::new();
    }
    let entry = |(lambda, log_likelihood)| PowerLikelihood { lambda, log_likelihood };
    powers.into_iter().zip(found).map(entry).collect()
}

/// The tables asked for, without the fits that only findings need.
pub(crate) fn tables_alone(problem: &Problem) -> Result<Vec<AnovaTable>, AnalysisError> {
    let stats = |source| AnalysisError::Stats { response: problem.response.clone(), source };
    let [asked, _, summed] = schemes(problem.coding, problem.contrasts);
    let table = |&kind: &AnovaType| {
        let (scheme, squares) = match kind {
            AnovaType::One => (asked, SumOfSquares::Sequential),
            AnovaType::Two => (asked, SumOfSquares::Marginal),
            AnovaType::Three => (summed, SumOfSquares::Partial),
        };
        let (variables, equation) = (&problem.variables, problem.equation());
        let matrix = ModelMatrix::new(variables, equation, scheme, problem.y.len())?;
        let own = Equated::new(&matrix, &problem.y, problem.intercept)?;
        let rows = lines(&own.table(squares)?, own.fit.ss_total, &problem.term_names);
        Ok(AnovaTable { kind, rows })
    };
    problem.types.iter().map(table).collect::<Result<_, _>>().map_err(stats)
}

/// Interval of a coefficient at the analysis' confidence.
pub(crate) fn interval(fit: &Fit, column: usize, alpha: f64) -> Option<[f64; 2]> {
    fit.interval(column, 1.0 - alpha).expect("alpha lies between 0 and 1")
}

/// Row of a term in a table.
pub(crate) fn row_of(rows: &[AnovaRow], term: usize) -> &AnovaRow {
    rows.iter().find(|r| r.term == Some(term + 1)).expect("every term has a row")
}
