//! Analysis of variance: sums of squares of types I, II and III.
//!
//! A model matrix is decomposed once; every comparison then runs on the small rotated matrix,
//! so the cost of the later steps does not depend on the number of observations. A term's sum
//! of squares is the squared length of its columns' effects when they are entered last, which
//! avoids the difference of two large residual sums.
//!
//! Type III follows Yates only if the caller's columns use sum-to-zero contrasts; with
//! other contrasts it answers another question. That choice belongs to the caller.

use std::collections::BTreeSet;

use crate::distributions::FisherF;
use crate::error::StatsError;
use crate::fits::least_squares::{Fit, least_squares};
use crate::linear_algebra::orthogonal::{Columns, Orthogonal};
use crate::linear_algebra::reduced::Intercept;

/// Which comparison a sum of squares makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumOfSquares {
    /// Type I: each term after those before it.
    Sequential,
    /// Type II: each term after all terms that do not contain it.
    Marginal,
    /// Type III: each term after all others.
    Partial,
}

/// Which columns belong to which term, and which factors each term is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermStructure {
    /// Term of each column, ascending; 0 is the intercept, term `t` is entry `t - 1` of `factors`.
    pub term_of_column: Vec<usize>,
    /// Factors in each term beside the intercept.
    pub factors: Vec<BTreeSet<usize>>,
}

/// One line of an analysis-of-variance table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnovaRow {
    /// Term number as in [`TermStructure`], or `None` for the residuals.
    pub term: Option<usize>,
    /// Degrees of freedom; 0 for a term whose columns are all aliased.
    pub df: usize,
    /// Sum of squares; `None` for an aliased term.
    pub sum_sq: Option<f64>,
    /// Sum of squares over degrees of freedom.
    pub mean_sq: Option<f64>,
    /// Mean square over the residual mean square.
    pub f: Option<f64>,
    /// Its p-value.
    pub p: Option<f64>,
    /// Share of the total variation about the mean, in percent; `None` for the intercept.
    pub percent: Option<f64>,
}

/// Tests every term of a model; the last row holds the residuals, and type III starts with the
/// intercept.
///
/// # Errors
/// A faulty response, or a structure that does not match the matrix.
pub fn anova(
    matrix: &Columns,
    response: &[f64],
    terms: &TermStructure,
    kind: SumOfSquares,
) -> Result<Vec<AnovaRow>, StatsError> {
    least_squares(matrix, response)?.anova(terms, kind)
}

impl Fit {
    /// Tests every term of the fitted equation, as [`fn@anova`] does; type III has no line for an
    /// intercept that the equation lacks.
    ///
    /// # Errors
    /// A structure that does not match the matrix.
    pub fn anova(
        &self,
        terms: &TermStructure,
        kind: SumOfSquares,
    ) -> Result<Vec<AnovaRow>, StatsError> {
        check_structure(self.coefficients.len(), terms)?;
        let table = Table::new(self, terms);
        let with_constant = kind == SumOfSquares::Partial && self.intercept == Intercept::First;
        let mut rows = Vec::new();
        for term in usize::from(!with_constant)..=terms.factors.len() {
            let (df, sum_sq) = match kind {
                SumOfSquares::Sequential => table.in_sequence(term),
                SumOfSquares::Marginal => table.after(term, |t| !table.contains(t, term)),
                SumOfSquares::Partial => table.after(term, |t| t != term),
            };
            rows.push(table.row(term, df, sum_sq)?);
        }
        rows.push(table.residual_row());
        Ok(rows)
    }

    /// Tests some terms together, after others: the row has the number of the first of them.
    ///
    /// # Errors
    /// A structure that does not match the matrix, or no term to test.
    pub fn anova_together(
        &self,
        terms: &TermStructure,
        together: &[usize],
        after: &[usize],
    ) -> Result<AnovaRow, StatsError> {
        check_structure(self.coefficients.len(), terms)?;
        let Some(&first) = together.first() else {
            let (what, needed, found) = ("terms tested together", 1, 0);
            return Err(StatsError::TooFew { what, needed, found });
        };
        let table = Table::new(self, terms);
        let (df, sum_sq) = table.entered_after(together, after);
        table.row(first, df, sum_sq)
    }
}

/// Number and sum of squares of some effects.
fn tally(effects: impl Iterator<Item = f64>) -> (usize, f64) {
    effects.fold((0, 0.0), |(df, sum), effect| (df + 1, sum + effect * effect))
}

/// A decomposed model and response, ready for any comparison of terms.
struct Table<'a> {
    terms: &'a TermStructure,
    decomposition: &'a Orthogonal,
    effects: &'a [f64],
    /// What the response was shifted by before the fit, which tells of the intercept alone.
    shift: f64,
    /// Coefficients of the columns kept, and their variances in units of the noise.
    estimates: Vec<f64>,
    unscaled: Vec<f64>,
    df_residual: usize,
    ss_residual: f64,
    ss_total: f64,
    /// Residual mean square, if there is one to compare with.
    noise: Option<f64>,
}

impl<'a> Table<'a> {
    fn new(fit: &'a Fit, terms: &'a TermStructure) -> Self {
        let decomposition = &fit.decomposition;
        Self {
            terms,
            decomposition,
            effects: &fit.effects,
            shift: fit.shift,
            estimates: decomposition.solve(&fit.effects),
            unscaled: decomposition.unscaled_variances(),
            df_residual: fit.df_residual,
            ss_residual: fit.ss_residual,
            ss_total: fit.ss_total,
            noise: fit.log_likelihood.map(|_| fit.ss_residual / fit.df_residual as f64),
        }
    }

    /// Whether the factors of `inner` are all factors of `outer`.
    fn contains(&self, outer: usize, inner: usize) -> bool {
        outer > 0 && self.terms.factors[inner - 1].is_subset(&self.terms.factors[outer - 1])
    }

    fn columns_of(&self, term: usize) -> impl Iterator<Item = usize> {
        let of_column = &self.terms.term_of_column;
        (0..of_column.len()).filter(move |&c| of_column[c] == term)
    }

    /// Degrees of freedom and sum of squares that `term` adds to the terms before it.
    fn in_sequence(&self, term: usize) -> (usize, f64) {
        let kept = self.decomposition.kept().iter().zip(self.effects);
        tally(kept.filter(|(c, _)| self.terms.term_of_column[**c] == term).map(|(_, e)| *e))
    }

    /// The same, added to all terms that `stays` accepts.
    fn after(&self, term: usize, stays: impl Fn(usize) -> bool) -> (usize, f64) {
        let before: Vec<usize> =
            (0..=self.terms.factors.len()).filter(|&t| t != term && stays(t)).collect();
        if before.len() == self.terms.factors.len()
            && let Some(sum_sq) = self.last_column(term)
        {
            return (1, sum_sq);
        }
        self.entered_after(&[term], &before)
    }

    /// What some terms add to others.
    fn entered_after(&self, own: &[usize], before: &[usize]) -> (usize, f64) {
        let columns = |terms: &[usize]| -> Vec<usize> {
            terms.iter().flat_map(|&t| self.columns_of(t)).collect()
        };
        let entered = columns(before);
        let order = [entered.as_slice(), &columns(own)].concat();
        let Ok(matrix) = self.decomposition.compressed_in(&order) else {
            return (0, 0.0);
        };
        let part = Orthogonal::new(&matrix);
        let effects = part.rotate(&self.effects_for(own[0]));
        let new = part.kept().iter().zip(effects).filter(|(c, _)| **c >= entered.len());
        tally(new.map(|(_, effect)| effect))
    }

    /// The effects that a term is compared with: those of the response as it was for the intercept,
    /// and without the shift for all others, which come after the intercept.
    fn effects_for(&self, term: usize) -> Vec<f64> {
        let constant = &self.decomposition.compressed()[0];
        let shift = if term == 0 { self.shift } else { 0.0 };
        self.effects.iter().zip(constant).map(|(e, c)| e + shift * c).collect()
    }

    /// Sum of squares of a term of one column after all other columns, if none is aliased: the
    /// squared estimate over its unscaled variance, which spares another decomposition.
    fn last_column(&self, term: usize) -> Option<f64> {
        let mut columns = self.columns_of(term);
        let column = columns.next()?;
        if columns.next().is_some() || self.decomposition.rank() < self.terms.term_of_column.len() {
            return None;
        }
        let shift = if term == 0 { self.shift } else { 0.0 };
        Some(((self.estimates[column] + shift) / self.unscaled[column].sqrt()).powi(2))
    }

    fn row(&self, term: usize, df: usize, sum_sq: f64) -> Result<AnovaRow, StatsError> {
        if df == 0 {
            let (sum_sq, mean_sq, f, p, percent) = (None, None, None, None, None);
            return Ok(AnovaRow { term: Some(term), df, sum_sq, mean_sq, f, p, percent });
        }
        let mean_sq = sum_sq / df as f64;
        let f = self.noise.map(|noise| mean_sq / noise);
        let distribution =
            f.map(|_| FisherF::new(df as f64, self.df_residual as f64)).transpose()?;
        Ok(AnovaRow {
            term: Some(term),
            df,
            sum_sq: Some(sum_sq),
            mean_sq: Some(mean_sq),
            f,
            p: distribution.zip(f).map(|(d, f)| d.upper_tail(f)),
            percent: (term > 0).then(|| 100.0 * sum_sq / self.ss_total),
        })
    }

    fn residual_row(&self) -> AnovaRow {
        AnovaRow {
            term: None,
            df: self.df_residual,
            sum_sq: Some(self.ss_residual),
            mean_sq: (self.df_residual > 0).then(|| self.ss_residual / self.df_residual as f64),
            f: None,
            p: None,
            percent: Some(100.0 * self.ss_residual / self.ss_total),
        }
    }
}

fn check_structure(expected: usize, terms: &TermStructure) -> Result<(), StatsError> {
    let found = terms.term_of_column.len();
    if expected != found {
        let what = "the assignment of columns to terms";
        return Err(StatsError::LengthMismatch { what, expected, found });
    }
    if !terms.term_of_column.is_sorted() {
        let reason = "the columns do not stand in the order of their terms";
        return Err(StatsError::Undefined { what: "the analysis of variance", reason });
    }
    let last = terms.factors.len();
    match terms.term_of_column.iter().find(|&&t| t > last) {
        Some(&term) => Err(StatsError::OutOfRange {
            what: "a column's term number",
            value: term as f64,
            range: "the terms given",
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn two_by_two() -> (Columns, TermStructure) {
        let a = vec![-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0];
        let b = vec![-1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0];
        let ab = a.iter().zip(&b).map(|(x, y)| x * y).collect();
        let matrix = Columns::new(vec![vec![1.0; 7], a, b, ab]).unwrap();
        let factors = vec![[0].into(), [1].into(), [0, 1].into()];
        (matrix, TermStructure { term_of_column: vec![0, 1, 2, 3], factors })
    }

    /// The slow obvious way: residual squares of two models, subtracted.
    fn by_difference(matrix: &Columns, y: &[f64], with: &[usize], without: &[usize]) -> f64 {
        let squares = |chosen: &[usize]| {
            let columns = chosen.iter().map(|&c| matrix.column(c).to_vec()).collect();
            Orthogonal::new(&Columns::new(columns).unwrap()).residual_squares(y)
        };
        squares(without) - squares(with)
    }

    proptest! {
        #[test]
        fn every_type_agrees_with_differences_of_residual_squares(
            y in prop::collection::vec(-10.0..10.0f64, 7),
        ) {
            let (matrix, terms) = two_by_two();
            let cases = [
                (SumOfSquares::Sequential, [(vec![0, 1], vec![0]), (vec![0, 1, 2], vec![0, 1])]),
                (SumOfSquares::Marginal, [(vec![0, 1, 2], vec![0, 2]), (vec![0, 1, 2], vec![0, 1])]),
                (SumOfSquares::Partial,
                    [(vec![0, 1, 2, 3], vec![0, 2, 3]), (vec![0, 1, 2, 3], vec![0, 1, 3])]),
            ];
            for (kind, comparisons) in cases {
                let rows = anova(&matrix, &y, &terms, kind).unwrap();
                for (term, (with, without)) in [1, 2].into_iter().zip(comparisons) {
                    let row = rows.iter().find(|r| r.term == Some(term)).unwrap();
                    let expected = by_difference(&matrix, &y, &with, &without);
                    prop_assert!((row.sum_sq.unwrap() - expected).abs() < 1e-9);
                }
            }
        }

        #[test]
        fn terms_together_take_what_the_larger_model_does(
            y in prop::collection::vec(-10.0..10.0f64, 7),
        ) {
            let (matrix, terms) = two_by_two();
            let fit = least_squares(&matrix, &y).unwrap();
            let row = fit.anova_together(&terms, &[1, 3], &[0, 2]).unwrap();
            let expected = by_difference(&matrix, &y, &[0, 1, 2, 3], &[0, 2]);
            prop_assert!((row.sum_sq.unwrap() - expected).abs() < 1e-9);
            prop_assert_eq!((row.term, row.df), (Some(1), 2));
        }

        #[test]
        fn sequential_shares_sum_to_the_whole(y in prop::collection::vec(-10.0..10.0f64, 7)) {
            let (matrix, terms) = two_by_two();
            let rows = anova(&matrix, &y, &terms, SumOfSquares::Sequential).unwrap();
            let percent: f64 = rows.iter().filter_map(|r| r.percent).sum();
            prop_assert!((percent - 100.0).abs() < 1e-9);
        }
    }

    #[test]
    fn an_aliased_term_is_listed_without_figures() {
        let a = vec![-1.0, 1.0, -1.0, 1.0, -1.0];
        let matrix = Columns::new(vec![vec![1.0; 5], a.clone(), a]).unwrap();
        let factors = vec![[0].into(), [1].into()];
        let terms = TermStructure { term_of_column: vec![0, 1, 2], factors };
        let y = [1.0, 2.0, 1.5, 2.7, 0.8];
        let rows = anova(&matrix, &y, &terms, SumOfSquares::Sequential).unwrap();
        assert_eq!((rows[1].df, rows[1].sum_sq, rows[1].p), (0, None, None));
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn a_structure_that_does_not_fit_is_refused() {
        let (matrix, mut terms) = two_by_two();
        terms.term_of_column[3] = 9;
        let y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0];
        assert!(anova(&matrix, &y, &terms, SumOfSquares::Partial).is_err());
        terms.term_of_column = vec![0, 2, 1, 3];
        assert!(anova(&matrix, &y, &terms, SumOfSquares::Sequential).is_err());
        terms.term_of_column.pop();
        assert!(anova(&matrix, &y, &terms, SumOfSquares::Partial).is_err());
    }
}
