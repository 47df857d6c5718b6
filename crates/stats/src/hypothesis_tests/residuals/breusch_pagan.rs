//! Does the spread of residuals follow the columns of the model?

use crate::distributions::ChiSquared;
use crate::error::StatsError;
use crate::linear_algebra::orthogonal::Orthogonal;
use crate::sample;

/// The Breusch-Pagan test of constant variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreuschPagan {
    /// Observations times the share of the squared residuals' variation that the model explains.
    pub statistic: f64,
    /// Independent columns beside the intercept.
    pub df: usize,
    /// Chance of a larger statistic if the variance is constant.
    pub p: f64,
}

/// Statistic and p-value in the form of Koenker (Journal of Econometrics 17, 1981), which does
/// not need normal residuals, of the test by Breusch and Pagan (Econometrica 47, 1979).
pub(crate) fn breusch_pagan(
    decomposition: &Orthogonal,
    residuals: &[f64],
) -> Result<BreuschPagan, StatsError> {
    let what = "the Breusch-Pagan statistic";
    let largest = residuals.iter().fold(0.0f64, |m, r| m.max(r.abs()));
    let df = decomposition.rank().saturating_sub(1);
    if df == 0 || residuals.len() <= decomposition.rank() || largest == 0.0 {
        let reason = "the fit leaves no residuals, or no columns to explain their spread";
        return Err(StatsError::Undefined { what, reason });
    }
    let squares: Vec<f64> = residuals.iter().map(|r| (r / largest).powi(2)).collect();
    let total = sample::squares_about_mean(&squares);
    if !total.is_normal() {
        let reason = "all residuals have the same size";
        return Err(StatsError::Undefined { what, reason });
    }
    let share = 1.0 - decomposition.residual_squares(&squares) / total;
    let statistic = (residuals.len() as f64 * share).max(0.0);
    let p = ChiSquared::new(df as f64)?.upper_tail(statistic);
    Ok(BreuschPagan { statistic, df, p })
}

#[cfg(test)]
mod tests {
    use crate::{Columns, StatsError, least_squares};

    fn test(y: &[f64]) -> Result<super::BreuschPagan, StatsError> {
        let x = (0..y.len()).map(|i| i as f64).collect();
        least_squares(&Columns::new(vec![vec![1.0; y.len()], x])?, y)?.breusch_pagan()
    }

    #[test]
    fn a_spread_that_grows_is_seen_and_an_even_one_is_not() {
        let sign = |i: usize| if i % 4 < 2 { 1.0 } else { -1.0 };
        let even: Vec<f64> =
            (0..80).map(|i| 2.0 * i as f64 + sign(i) * (1 + i % 2) as f64).collect();
        let wide: Vec<f64> = (0..80).map(|i| sign(i) * i as f64).collect();
        assert!(test(&even).unwrap().p > 0.5);
        let found = test(&wide).unwrap();
        assert!(found.p < 1e-10 && found.df == 1, "{found:?}");
    }

    #[test]
    fn an_equation_of_the_mean_alone_has_no_test() {
        let y = [1.0, 2.0, 4.0, 3.0];
        let fit = least_squares(&Columns::new(vec![vec![1.0; 4]]).unwrap(), &y).unwrap();
        assert!(matches!(fit.breusch_pagan(), Err(StatsError::Undefined { .. })));
    }
}
