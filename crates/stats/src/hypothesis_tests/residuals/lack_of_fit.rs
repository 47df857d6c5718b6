//! Lack of fit against pure error (Montgomery, Design and Analysis of Experiments, 6.8).

use std::collections::BTreeMap;

use crate::distributions::FisherF;
use crate::error::StatsError;
use crate::sample;

/// Split of the residual variation into what repeats cannot explain and what they can.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LackOfFit {
    /// Sum of squares of cell means about the fitted equation.
    pub ss: f64,
    /// Its degrees of freedom.
    pub df: usize,
    /// Sum of squares within cells.
    pub pure_error_ss: f64,
    /// Its degrees of freedom.
    pub pure_error_df: usize,
    /// Ratio of the mean squares; `None` when repeats never differ.
    pub f: Option<f64>,
    /// Its p-value.
    pub p: Option<f64>,
}

/// Compares a fit's residuals with the scatter of observations that share a cell.
///
/// # Errors
/// No cell with two observations, a fit with as many independent columns as cells, or lengths
/// that differ.
pub fn lack_of_fit(
    response: &[f64],
    cells: &[usize],
    ss_residual: f64,
    df_residual: usize,
) -> Result<LackOfFit, StatsError> {
    sample::check(response, "the response", 2)?;
    if cells.len() != response.len() {
        let (expected, found) = (response.len(), cells.len());
        return Err(StatsError::LengthMismatch { what: "the cells", expected, found });
    }
    let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (&cell, &y) in cells.iter().zip(response) {
        groups.entry(cell).or_default().push(y);
    }
    let pure_error_ss: f64 = groups.values().map(|g| sample::squares_about_mean(g)).sum();
    let pure_error_df = response.len() - groups.len();
    let what = "lack of fit";
    if pure_error_df == 0 {
        return Err(StatsError::Undefined { what, reason: "no cell holds two observations" });
    }
    if df_residual <= pure_error_df {
        return Err(StatsError::Undefined {
            what,
            reason: "the equation has a term for every cell",
        });
    }
    let (ss, df) = (ss_residual - pure_error_ss, df_residual - pure_error_df);
    let f = (pure_error_ss > 0.0)
        .then(|| (ss / df as f64).max(0.0) / (pure_error_ss / pure_error_df as f64));
    let distribution = FisherF::new(df as f64, pure_error_df as f64)?;
    let p = f.map(|f| distribution.upper_tail(f));
    Ok(LackOfFit { ss, df, pure_error_ss, pure_error_df, f, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bend_that_a_line_misses_is_found() {
        // Cell means 0, 1, 4 about the line -1/3 + 2x leave a lack of fit of 4 x 1/3.
        let y = [-0.1, 0.1, 0.9, 1.1, 3.9, 4.1];
        let split = lack_of_fit(&y, &[0, 0, 1, 1, 2, 2], 4.0 / 3.0 + 0.06, 4).unwrap();
        assert_eq!((split.df, split.pure_error_df), (1, 3));
        assert!((split.f.unwrap() - (4.0 / 3.0) / 0.02).abs() < 1e-9);
        assert!(split.p.unwrap() < 0.01);
    }

    #[test]
    fn cells_without_repeats_are_an_error() {
        assert!(lack_of_fit(&[1.0, 2.0, 3.0], &[0, 1, 2], 1.0, 1).is_err());
        assert!(lack_of_fit(&[1.0, 2.0, 3.0], &[0, 1, 1], 1.0, 1).is_err());
        assert!(lack_of_fit(&[1.0, 2.0], &[0], 1.0, 1).is_err());
    }
}
