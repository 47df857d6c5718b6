//! The fits behind an analysis: as asked for, and in coded units.

use trainwright_stats::box_cox::{LARGEST_POWER, profile};
use trainwright_stats::{
    AnovaRow, BoxCox, Fit, LackOfFit, ShapiroWilk, SumOfSquares, anova, box_cox, lack_of_fit,
    least_squares, shapiro_wilk,
};

use crate::analysis::{
    AnovaLine, AnovaTable, AnovaType, CoefficientRow, FitSummary, PowerLikelihood,
};
use crate::error::AnalysisError;
use crate::model_matrix::{Coding, Contrasts, ModelMatrix, Scheme};
use crate::problem::Problem;

/// Rows up to which the likelihood of several powers is worked out.
const MOST_ROWS_OF_A_PROFILE: usize = 20_000;

/// Steps of that likelihood.
const PROFILE_STEPS: usize = 40;

/// A problem's fits and tables.
pub(crate) struct Fitted {
    matrix: ModelMatrix,
    pub(crate) fit: Fit,
    pub(crate) coded: ModelMatrix,
    pub(crate) coded_fit: Fit,
    pub(crate) type_one: Vec<AnovaRow>,
    pub(crate) type_two: Vec<AnovaRow>,
    type_three: Vec<AnovaRow>,
    /// Type III in coded units with sum-to-zero contrasts: each effect averaged over the others.
    pub(crate) averaged: Vec<AnovaRow>,
    pub(crate) lack_of_fit: Option<LackOfFit>,
    pub(crate) box_cox: Option<BoxCox>,
    /// `None` beyond the sample sizes of the test.
    pub(crate) shapiro: Option<ShapiroWilk>,
}

impl Fitted {
    /// Fits a problem.
    pub(crate) fn new(problem: &Problem) -> Result<Self, AnalysisError> {
        let stats = |source| AnalysisError::Stats { response: problem.response.clone(), source };
        let rows = problem.y.len();
        let build = |coding, contrasts| {
            let (variables, terms) = (&problem.variables, &problem.terms);
            let scheme = Scheme { coding, contrasts };
            ModelMatrix::new(variables, terms, scheme, rows).map_err(stats)
        };
        let y = &problem.y;
        let coded = build(Coding::Coded, Contrasts::Sum)?;
        let (matrix, summed) = match problem.coding {
            Coding::Coded => (coded.clone(), coded.clone()),
            Coding::Raw => {
                (build(Coding::Raw, Contrasts::Treatment)?, build(Coding::Raw, Contrasts::Sum)?)
            }
        };
        let table = |m: &ModelMatrix, kind| anova(&m.columns, y, &m.structure, kind).map_err(stats);
        let fit = least_squares(&matrix.columns, y).map_err(stats)?;
        let coded_fit = least_squares(&coded.columns, y).map_err(stats)?;
        let (cells, _) = problem.cells();
        Ok(Self {
            type_one: table(&matrix, SumOfSquares::Sequential)?,
            type_two: table(&matrix, SumOfSquares::Marginal)?,
            type_three: table(&summed, SumOfSquares::Partial)?,
            averaged: table(&coded, SumOfSquares::Partial)?,
            // Each of these is undefined for some honest data, and is then absent.
            lack_of_fit: lack_of_fit(y, &cells, fit.ss_residual, fit.df_residual).ok(),
            box_cox: testable(&fit).and_then(|_| box_cox(&matrix.columns, y).ok()),
            shapiro: testable(&fit).and_then(|residuals| shapiro_wilk(residuals).ok()),
            matrix,
            fit,
            coded,
            coded_fit,
        })
    }

    /// Likelihood of the powers about the most likely one; empty for data so large that the
    /// profile would take longer than all the rest.
    pub(crate) fn power_profile(&self, y: &[f64], best: &BoxCox) -> Vec<PowerLikelihood> {
        if y.len() > MOST_ROWS_OF_A_PROFILE {
            return Vec::new();
        }
        let (low, high) = (best.low.unwrap_or(-LARGEST_POWER), best.high.unwrap_or(LARGEST_POWER));
        let step = 2.0 * (high - low) / PROFILE_STEPS as f64;
        let powers: Vec<f64> = (0..=PROFILE_STEPS)
            .map(|at| best.lambda + step * (at as f64 - 0.5 * PROFILE_STEPS as f64))
            .collect();
        let mut found = profile(&self.matrix.columns, y, &powers).unwrap_or_default();
        // A power under which the equation fits exactly has no finite likelihood.
        if !found.iter().all(|own| own.is_finite()) {
            found.clear();
        }
        let entry = |(lambda, log_likelihood)| PowerLikelihood { lambda, log_likelihood };
        powers.into_iter().zip(found).map(entry).collect()
    }

    /// The tables asked for.
    pub(crate) fn tables(&self, problem: &Problem) -> Vec<AnovaTable> {
        let table = |&kind: &AnovaType| AnovaTable {
            kind,
            rows: self.rows(kind).iter().map(|row| line(row, &problem.term_names)).collect(),
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
            f: fit.test.map(|t| t.f),
            p: fit.test.map(|t| t.p),
            df_residual: fit.df_residual,
            log_likelihood: fit.log_likelihood,
            aic: fit.aic,
            bic: fit.bic,
            coefficients: (0..self.matrix.names.len())
                .map(|c| self.coefficient(c, alpha))
                .collect(),
        }
    }

    fn coefficient(&self, column: usize, alpha: f64) -> CoefficientRow {
        let found = self.fit.coefficients[column];
        let interval = interval(&self.fit, column, alpha);
        CoefficientRow {
            name: self.matrix.names[column].clone(),
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

    /// The row a term is judged by: type II, or type I where a later term is the same columns.
    ///
    /// Of terms that cannot be told apart the first stands for all; type II would leave each of
    /// them nothing, since the others already say the same.
    pub(crate) fn judged(&self, term: usize) -> &AnovaRow {
        let marginal = row_of(&self.type_two, term);
        if marginal.df > 0 { marginal } else { row_of(&self.type_one, term) }
    }

    /// Column of a term that has exactly one in coded units.
    pub(crate) fn single_coded_column(&self, term: usize) -> Option<usize> {
        let mut of_term = (0..self.coded.names.len())
            .filter(|&c| self.coded.structure.term_of_column[c] == term + 1);
        let first = of_term.next()?;
        of_term.next().is_none().then_some(first)
    }
}

/// Interval of a coefficient at the analysis' confidence.
pub(crate) fn interval(fit: &Fit, column: usize, alpha: f64) -> Option<[f64; 2]> {
    fit.interval(column, 1.0 - alpha).expect("alpha lies between 0 and 1")
}

/// Row of a term in a table.
pub(crate) fn row_of(rows: &[AnovaRow], term: usize) -> &AnovaRow {
    rows.iter().find(|r| r.term == Some(term + 1)).expect("every term has a row")
}

/// Residuals that are more than rounding.
fn testable(fit: &Fit) -> Option<&[f64]> {
    fit.log_likelihood.map(|_| fit.residuals.as_slice())
}

fn line(row: &AnovaRow, names: &[String]) -> AnovaLine {
    let term = match row.term {
        None => "Residuals".to_owned(),
        Some(0) => "(Intercept)".to_owned(),
        Some(term) => names[term - 1].clone(),
    };
    AnovaLine {
        term,
        df: row.df,
        sum_sq: row.sum_sq,
        mean_sq: row.mean_sq,
        f: row.f,
        p: row.p,
        percent: row.percent,
        aliased: row.term.is_some() && row.df == 0,
    }
}
