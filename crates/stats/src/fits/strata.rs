//! Analysis of variance with several sources of error: split plots, blocks, repeated measures.
//!
//! Observations that share a whole plot share its error, so a factor that is changed between
//! whole plots is compared with the variation between them, and other factors with the variation
//! inside (Yates, Supplement to the Journal of the Royal Statistical Society 2, 1935). Each
//! grouping takes the directions that it adds to those before it; the model and the response are
//! analysed inside each, as `aov` in R does. Balanced data have every term in one stratum.

use crate::distributions::FisherF;
use crate::error::StatsError;
use crate::fits::anova::TermStructure;
use crate::linear_algebra::orthogonal::{Columns, Orthogonal};

/// Share of a column's length below which what is left of it is rounding.
const ROUNDING: f64 = 1e-9;

/// The terms that are seen in one stratum.
#[derive(Debug, Clone, PartialEq)]
pub struct Stratum {
    /// Which grouping the variation is between; the number of groupings stands for the variation
    /// within all of them.
    pub grouping: usize,
    /// Terms by number as in [`TermStructure`], with degrees of freedom and sum of squares.
    pub terms: Vec<StratumTerm>,
    /// Degrees of freedom of the error.
    pub df_residual: usize,
    /// Its sum of squares.
    pub ss_residual: f64,
    /// The error as independent contrasts of equal variance, as many as it has degrees of freedom.
    pub contrasts: Vec<f64>,
}

/// A term in a stratum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StratumTerm {
    /// Number of the term.
    pub term: usize,
    /// Degrees of freedom.
    pub df: usize,
    /// Sum of squares after the terms before it.
    pub sum_sq: f64,
    /// Ratio to the error of the stratum; `None` without one.
    pub f: Option<f64>,
    /// Its p-value.
    pub p: Option<f64>,
}

/// Observations whose groups have errors of their own.
#[derive(Debug, Clone)]
pub struct ErrorStrata {
    /// The strata, the outermost first.
    pub strata: Vec<Stratum>,
    /// Directions between groups, the outermost first.
    directions: Orthogonal,
    /// Stratum of each direction by its place in `strata`; the mean has that of the outermost.
    of_direction: Vec<usize>,
}

/// The uncertainty of a weighted sum of observations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StratumError {
    /// Standard error.
    pub std_error: f64,
    /// Degrees of freedom, by Satterthwaite's rule where strata mix.
    pub df: f64,
}

impl ErrorStrata {
    /// Splits the variation into strata; each grouping gives the group of every observation, the
    /// outermost first.
    ///
    /// # Errors
    /// Lengths that differ, or a faulty response.
    pub fn new(
        matrix: &Columns,
        response: &[f64],
        terms: &TermStructure,
        groupings: &[Vec<usize>],
    ) -> Result<Self, StatsError> {
        crate::fits::least_squares::check_response(matrix, response)?;
        let rows = response.len();
        let (indicators, of_column) = indicators(rows, groupings)?;
        let directions = Orthogonal::new(&indicators);
        let mut of_row: Vec<Option<usize>> =
            directions.kept().iter().map(|&c| of_column[c]).collect();
        of_row.resize(rows, Some(groupings.len()));
        let rotated: Vec<Vec<f64>> = matrix.iter().map(|c| directions.rotate(c)).collect();
        let rotated_response = directions.rotate(response);
        let mut strata: Vec<Stratum> = Vec::new();
        let mut of_direction = vec![0; rows];
        for grouping in 0..=groupings.len() {
            let chosen: Vec<usize> = (0..rows).filter(|&r| of_row[r] == Some(grouping)).collect();
            if chosen.is_empty() {
                continue;
            }
            chosen.iter().for_each(|&r| of_direction[r] = strata.len());
            let pick = |vector: &[f64]| chosen.iter().map(|&r| vector[r]).collect::<Vec<f64>>();
            let columns = rotated.iter().map(|column| {
                let own = pick(column);
                if length(&own) > ROUNDING * length(column) { own } else { vec![0.0; own.len()] }
            });
            let columns = Columns::new(columns.collect())?;
            strata.push(stratum(grouping, &columns, &pick(&rotated_response), terms)?);
        }
        Ok(Self { strata, directions, of_direction })
    }

    /// The uncertainty of the sum of all observations times their weights; `None` where it holds
    /// the error of a stratum that has no degrees of freedom left to measure it by.
    ///
    /// Each stratum adds the squared length of the weights in it times its mean square, and the
    /// degrees of freedom follow Satterthwaite (Biometrics Bulletin 2, 1946). Exact for balanced
    /// data where the weights lie in one stratum.
    pub fn error_of(&self, weights: &[f64]) -> Option<StratumError> {
        let rotated = self.directions.rotate(weights);
        let whole: f64 = rotated.iter().map(|w| w * w).sum();
        let mut squares = vec![0.0; self.strata.len()];
        for (weight, stratum) in rotated.iter().zip(&self.of_direction) {
            squares[*stratum] += weight * weight;
        }
        let (mut variance, mut over_df) = (0.0, 0.0);
        for (square, stratum) in squares.into_iter().zip(&self.strata) {
            if square <= ROUNDING * whole {
                continue;
            }
            let part = square * stratum.mean_square()?;
            variance += part;
            over_df += part * part / stratum.df_residual as f64;
        }
        (variance > 0.0)
            .then(|| StratumError { std_error: variance.sqrt(), df: variance * variance / over_df })
    }
}

impl Stratum {
    /// Mean square of the error; `None` without degrees of freedom, or where it is rounding.
    pub fn mean_square(&self) -> Option<f64> {
        let own: f64 = self.terms.iter().map(|term| term.sum_sq).sum();
        let rounding = f64::EPSILON * f64::EPSILON * (own + self.ss_residual);
        (self.df_residual > 0 && self.ss_residual > rounding)
            .then(|| self.ss_residual / self.df_residual as f64)
    }
}

/// A column for every group, and the grouping of each; the first column is the mean.
fn indicators(
    rows: usize,
    groupings: &[Vec<usize>],
) -> Result<(Columns, Vec<Option<usize>>), StatsError> {
    let mut columns = vec![vec![1.0; rows]];
    let mut of_column = vec![None];
    for (index, groups) in groupings.iter().enumerate() {
        if groups.len() != rows {
            let what = "a grouping of the observations";
            return Err(StatsError::LengthMismatch { what, expected: rows, found: groups.len() });
        }
        let last = groups.iter().copied().max().unwrap_or(0);
        for group in 0..=last {
            let of_group = |g: &usize| if *g == group { 1.0 } else { 0.0 };
            columns.push(groups.iter().map(of_group).collect());
            of_column.push(Some(index));
        }
    }
    Ok((Columns::new(columns)?, of_column))
}

fn stratum(
    grouping: usize,
    columns: &Columns,
    response: &[f64],
    terms: &TermStructure,
) -> Result<Stratum, StatsError> {
    let decomposition = Orthogonal::new(columns);
    let effects = decomposition.rotate(response);
    let rank = decomposition.rank();
    let ss_residual: f64 = effects[rank..].iter().map(|v| v * v).sum();
    let df_residual = response.len() - rank;
    let total: f64 = effects.iter().map(|v| v * v).sum();
    let noise = (df_residual > 0 && ss_residual > f64::EPSILON * f64::EPSILON * total)
        .then(|| ss_residual / df_residual as f64);
    let mut seen = Vec::new();
    for term in 1..=terms.factors.len() {
        let own = decomposition.kept().iter().zip(&effects);
        let own = own.filter(|(column, _)| terms.term_of_column[**column] == term);
        let (df, sum_sq) = own.fold((0, 0.0), |(df, sum), (_, e)| (df + 1, sum + e * e));
        if df == 0 {
            continue;
        }
        let f = noise.map(|noise| sum_sq / df as f64 / noise);
        let p = match f {
            Some(f) => Some(FisherF::new(df as f64, df_residual as f64)?.upper_tail(f)),
            None => None,
        };
        seen.push(StratumTerm { term, df, sum_sq, f, p });
    }
    let contrasts = effects[rank..].to_vec();
    Ok(Stratum { grouping, terms: seen, df_residual, ss_residual, contrasts })
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Four blocks of two whole plots (A) of three sub-plots (B).
    fn layout() -> Vec<[usize; 3]> {
        let place = |i: usize| [i / 6, i / 3 % 2, i % 3];
        (0..24).map(place).collect()
    }

    fn model() -> (Columns, TermStructure) {
        let rows = layout();
        let indicator = |f: &dyn Fn(&[usize; 3]) -> bool| -> Vec<f64> {
            rows.iter().map(|r| if f(r) { 1.0 } else { 0.0 }).collect()
        };
        let columns = vec![
            vec![1.0; 24],
            indicator(&|r| r[1] == 1),
            indicator(&|r| r[2] == 1),
            indicator(&|r| r[2] == 2),
            indicator(&|r| r[1] == 1 && r[2] == 1),
            indicator(&|r| r[1] == 1 && r[2] == 2),
        ];
        let factors = vec![[0].into(), [1].into(), [0, 1].into()];
        let terms = TermStructure { term_of_column: vec![0, 1, 2, 2, 3, 3], factors };
        (Columns::new(columns).unwrap(), terms)
    }

    proptest! {
        /// The slow obvious way for balanced data: sums of squares of means of cells.
        #[test]
        fn a_split_plot_agrees_with_sums_over_means(y in prop::collection::vec(-9.0..9.0f64, 24)) {
            let rows = layout();
            let squares = |key: &dyn Fn(&[usize; 3]) -> usize| -> f64 {
                let mut sums = [(0.0, 0.0); 30];
                for (row, value) in rows.iter().zip(&y) {
                    let own = &mut sums[key(row)];
                    *own = (own.0 + value, own.1 + 1.0);
                }
                sums.iter().filter(|s| s.1 > 0.0).map(|s| s.0 * s.0 / s.1).sum()
            };
            let mean = squares(&|_| 0);
            let (block, a, b) = (squares(&|r| r[0]), squares(&|r| r[1]), squares(&|r| r[2]));
            let (plots, ab) = (squares(&|r| 2 * r[0] + r[1]), squares(&|r| 3 * r[1] + r[2]));
            let total: f64 = y.iter().map(|v| v * v).sum();
            let (matrix, terms) = model();
            let groupings =
                [rows.iter().map(|r| r[0]).collect(), rows.iter().map(|r| 2 * r[0] + r[1]).collect()];
            let found = ErrorStrata::new(&matrix, &y, &terms, &groupings).unwrap().strata;
            prop_assert_eq!(found.len(), 3);
            let near = |x: f64, y: f64| (x - y).abs() < 1e-8;
            prop_assert!(found[0].terms.is_empty() && near(found[0].ss_residual, block - mean));
            prop_assert_eq!((found[0].df_residual, found[1].df_residual, found[2].df_residual), (3, 3, 12));
            prop_assert!(near(found[1].terms[0].sum_sq, a - mean));
            prop_assert!(near(found[1].ss_residual, plots - block - a + mean));
            prop_assert!(near(found[2].terms[0].sum_sq, b - mean));
            prop_assert!(near(found[2].terms[1].sum_sq, ab - a - b + mean));
            prop_assert!(near(found[2].ss_residual, total - plots - ab + a));
            let f = (a - mean) / ((plots - block - a + mean) / 3.0);
            prop_assert!((found[1].terms[0].f.unwrap() / f - 1.0).abs() < 1e-6);
        }
    }
}
