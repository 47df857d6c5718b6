//! A model matrix and its response, cut down to a few rows that say the same.

use crate::error::StatsError;
use crate::fits::least_squares::{Fit, Parts, fit_of};
use crate::linear_algebra::orthogonal::{Columns, Orthogonal};
use crate::linear_algebra::tall::Tall;
use crate::sample;

/// Whether an equation has a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intercept {
    /// The first column is all ones.
    First,
    /// The equation goes through the origin.
    Absent,
}

/// A model matrix and its response, rotated and cut to as many rows as they have columns: all
/// inner products are those of the full data.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduced {
    observations: usize,
    intercept: Intercept,
    columns: Vec<Vec<f64>>,
    response: Vec<f64>,
}

impl Reduced {
    /// Cuts columns and response down; they may be full data or already cut themselves, in which
    /// case `observations` is the number of rows they stand for.
    ///
    /// # Errors
    /// No columns, or values that are not finite or cannot be squared.
    pub fn new(
        columns: &[Vec<f64>],
        response: &[f64],
        observations: usize,
        intercept: Intercept,
    ) -> Result<Self, StatsError> {
        let mut all = columns.to_vec();
        all.push(response.to_vec());
        for column in &all {
            sample::check(column, "a column of the model matrix", 1)?;
        }
        let mut tall = Tall::new(all.len());
        tall.add_columns(&all);
        let mut columns = tall.columns();
        let response = columns.pop().expect("the response is the last column");
        Ok(Self { observations, intercept, columns, response })
    }

    /// Fits the response; the fit has no residuals of single observations.
    ///
    /// # Errors
    /// A response that does not vary.
    pub fn least_squares(&self) -> Result<Fit, StatsError> {
        let about = usize::from(self.intercept == Intercept::First);
        let squares = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
        let ss_total = squares(&self.response[about..]);
        let length = squares(&self.response);
        if !ss_total.is_normal() || ss_total <= f64::EPSILON * f64::EPSILON * length {
            let value = self.response[0] / (self.observations as f64).sqrt();
            let (what, count) = ("the response", self.observations);
            return Err(StatsError::Constant { what, count, value: value.abs() });
        }
        let matrix = Columns::new(self.columns.clone())?;
        let decomposition = Orthogonal::new(&matrix);
        let mut effects = decomposition.rotate(&self.response);
        let ss_residual = squares(&effects.split_off(decomposition.rank()));
        fit_of(Parts {
            observations: self.observations,
            intercept: self.intercept,
            column_squares: self.columns.iter().map(|c| squares(&c[about..])).collect(),
            decomposition,
            effects,
            ss_residual,
            ss_total,
            length,
            shift: 0.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{least_squares, least_squares_through_origin};

    proptest! {
        #[test]
        fn a_reduced_problem_has_the_fit_of_the_whole(
            y in prop::collection::vec(-10.0..10.0f64, 30), x in prop::collection::vec(-3.0..9.0f64, 30),
        ) {
            let squares = x.iter().map(|v| v * v).collect();
            let columns = [vec![1.0; 30], x, squares];
            for (intercept, from) in [(Intercept::First, 0), (Intercept::Absent, 1)] {
                let used = &columns[from..];
                let matrix = Columns::new(used.to_vec()).unwrap();
                let whole = match intercept {
                    Intercept::First => least_squares(&matrix, &y),
                    Intercept::Absent => least_squares_through_origin(&matrix, &y),
                }.unwrap();
                let small = Reduced::new(used, &y, 30, intercept).unwrap().least_squares().unwrap();
                for (a, b) in whole.coefficients.iter().zip(&small.coefficients) {
                    let (a, b) = (a.unwrap(), b.unwrap());
                    prop_assert!((a.estimate - b.estimate).abs() < 1e-8);
                    prop_assert!((a.std_error.unwrap() / b.std_error.unwrap() - 1.0).abs() < 1e-8);
                    prop_assert_eq!(a.vif.is_some(), b.vif.is_some());
                    if let (Some(a), Some(b)) = (a.vif, b.vif) {
                        prop_assert!((a / b - 1.0).abs() < 1e-8);
                    }
                }
                prop_assert!((whole.r2 - small.r2).abs() < 1e-9);
                prop_assert_eq!((whole.df_residual, whole.df_model), (small.df_residual, small.df_model));
            }
        }
    }
}
