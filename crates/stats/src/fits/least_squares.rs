//! Linear least squares with the figures a report needs.

use crate::distributions::{FisherF, StudentT};
use crate::error::StatsError;
use crate::fits::condition::condition_number;
use crate::fits::influence::{Influence, influence};
use crate::hypothesis_tests::residuals::breusch_pagan::{BreuschPagan, breusch_pagan};
use crate::hypothesis_tests::residuals::durbin_watson::{DurbinWatson, durbin_watson};
use crate::linear_algebra::orthogonal::{Columns, Orthogonal};
use crate::linear_algebra::reduced::Intercept;
use crate::sample;

/// Residuals shorter than this share of the response are rounding, not noise.
pub(crate) const ROUNDING: f64 = 1e-13;

/// Differences of values near a number this share of it or shorter are its last digits.
const LAST_DIGITS: f64 = 16.0 * f64::EPSILON;

/// A fitted linear equation.
#[derive(Debug, Clone)]
pub struct Fit {
    /// One entry per column of the model matrix; `None` where the column is aliased.
    pub coefficients: Vec<Option<Coefficient>>,
    /// Share of the variation about the mean that the fit explains.
    pub r2: f64,
    /// The same, penalised for the number of columns; needs residual degrees of freedom.
    pub adj_r2: Option<f64>,
    /// Residual standard deviation; needs residual degrees of freedom.
    pub sigma: Option<f64>,
    /// Test of the whole equation against the mean alone.
    pub test: Option<FitTest>,
    /// Independent columns beside the intercept.
    pub df_model: usize,
    /// Observations less independent columns.
    pub df_residual: usize,
    /// Sum of squared residuals.
    pub ss_residual: f64,
    /// Sum of squares of the response about its mean.
    pub ss_total: f64,
    /// Gaussian log-likelihood at its maximum; `None` for an exact fit.
    pub log_likelihood: Option<f64>,
    /// Akaike's criterion, counting sigma as a parameter.
    pub aic: Option<f64>,
    /// Bayes criterion, counting sigma as a parameter.
    pub bic: Option<f64>,
    /// Values on the fitted equation.
    pub fitted: Vec<f64>,
    /// Response less fitted value; empty for a fit of reduced data, like `fitted`.
    pub residuals: Vec<f64>,
    pub(crate) intercept: Intercept,
    pub(crate) decomposition: Orthogonal,
    /// The response in the rotated basis, cut to the rank.
    pub(crate) effects: Vec<f64>,
    /// What was taken from every value of the response before the fit; `effects` are without it.
    pub(crate) shift: f64,
}

/// One coefficient with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub std_error: Option<f64>,
    /// Estimate over standard error.
    pub t: Option<f64>,
    /// Two-sided p-value of `t`.
    pub p: Option<f64>,
    /// How much correlation with other columns inflates the variance; `None` for the intercept
    /// and for a model with one column beside it.
    pub vif: Option<f64>,
}

/// A weighted sum of coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedSum {
    /// Its value.
    pub estimate: f64,
    /// Its standard error; absent for a saturated or exact fit.
    pub std_error: Option<f64>,
}

/// The F test of a whole fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitTest {
    /// Explained over residual mean square.
    pub f: f64,
    /// Its p-value.
    pub p: f64,
}

/// Fits `response` to the columns of `matrix`, the first of which is the intercept.
///
/// A fit without residual degrees of freedom, or one that is exact up to rounding, has
/// coefficients but no standard errors or tests.
///
/// # Errors
/// A constant or non-finite response, lengths that differ, or a first column that is not all ones.
///
/// ```
/// use trainwright_stats::{Columns, least_squares};
///
/// let matrix = Columns::new(vec![vec![1.0; 4], vec![1.0, 2.0, 3.0, 4.0]])?;
/// let fit = least_squares(&matrix, &[2.1, 3.9, 6.2, 7.8])?;
/// let slope = fit.coefficients[1].expect("the columns are independent");
/// assert!((slope.estimate - 1.94).abs() < 1e-12);
/// # Ok::<(), trainwright_stats::StatsError>(())
/// ```
pub fn least_squares(matrix: &Columns, response: &[f64]) -> Result<Fit, StatsError> {
    if matrix.column(0).iter().any(|&v| v != 1.0) {
        return Err(StatsError::NoIntercept);
    }
    fit_all(matrix, response, Intercept::First)
}

/// The same for an equation without a constant: shares of variation and tests then compare with
/// zero instead of the mean, as `lm` in R does, and there is no variance inflation.
///
/// # Errors
/// A constant or non-finite response, or lengths that differ.
pub fn least_squares_through_origin(matrix: &Columns, response: &[f64]) -> Result<Fit, StatsError> {
    fit_all(matrix, response, Intercept::Absent)
}

fn fit_all(matrix: &Columns, response: &[f64], intercept: Intercept) -> Result<Fit, StatsError> {
    check_response(matrix, response)?;
    let decomposition = Orthogonal::new(matrix);
    // Digits that all values share would swallow those that differ, so the fit is made of the
    // distances from the first value, which are exact where they are small.
    let shift = if intercept == Intercept::First { response[0] } else { 0.0 };
    let moved: Vec<f64> = response.iter().map(|y| y - shift).collect();
    let mut effects = decomposition.rotate(&moved);
    let rank = decomposition.rank();
    let mut left = effects.clone();
    left[..rank].fill(0.0);
    effects.truncate(rank);
    let residuals = decomposition.rotate_back(&left);
    let squares = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
    let about = |values: &[f64]| match intercept {
        Intercept::First => sample::squares_about_mean(values),
        Intercept::Absent => squares(values),
    };
    let mut fit = fit_of(Parts {
        observations: response.len(),
        intercept,
        ss_residual: squares(&residuals),
        ss_total: about(&moved),
        length: squares(&moved),
        shift,
        column_squares: matrix.iter().map(about).collect(),
        decomposition,
        effects,
    })?;
    fit.fitted = response.iter().zip(&residuals).map(|(y, r)| y - r).collect();
    fit.residuals = residuals;
    Ok(fit)
}

/// A decomposed problem, from full or reduced data.
pub(crate) struct Parts {
    pub(crate) observations: usize,
    pub(crate) intercept: Intercept,
    pub(crate) decomposition: Orthogonal,
    /// The response in the rotated basis, cut to the rank.
    pub(crate) effects: Vec<f64>,
    pub(crate) ss_residual: f64,
    pub(crate) ss_total: f64,
    /// Sum of squares of the response, less the shift.
    pub(crate) length: f64,
    /// Sum of squares of each column, about its mean where there is an intercept.
    pub(crate) column_squares: Vec<f64>,
    /// What was taken from every value of the response before the fit.
    pub(crate) shift: f64,
}

/// All figures that need no single residuals.
pub(crate) fn fit_of(parts: Parts) -> Result<Fit, StatsError> {
    let Parts { observations: n, intercept, decomposition, effects, .. } = parts;
    let Parts { ss_residual, ss_total, length, column_squares, shift, .. } = parts;
    let rank = decomposition.rank();
    let constant = usize::from(intercept == Intercept::First);
    let df_residual = n - rank;
    let rounded = ROUNDING * ROUNDING * length + n as f64 * (LAST_DIGITS * shift).powi(2);
    let exact = df_residual == 0 || ss_residual <= rounded;
    let variance = (df_residual > 0).then(|| ss_residual / df_residual as f64);
    let mut fit = Fit {
        coefficients: Vec::new(),
        r2: 1.0 - ss_residual / ss_total,
        adj_r2: variance.map(|v| 1.0 - v / (ss_total / (n - constant) as f64)),
        sigma: variance.map(f64::sqrt),
        test: None,
        df_model: rank - constant,
        df_residual,
        ss_residual,
        ss_total,
        log_likelihood: (!exact).then(|| log_likelihood(n, ss_residual)),
        aic: None,
        bic: None,
        fitted: Vec::new(),
        residuals: Vec::new(),
        intercept,
        decomposition,
        effects,
        shift,
    };
    let noise = if exact { None } else { variance };
    fit.test = noise.filter(|_| fit.df_model > 0).map(|v| fit.whole_test(v)).transpose()?;
    fit.coefficients = coefficients(&fit, &column_squares, noise)?;
    let parameters = (rank + 1) as f64;
    fit.aic = fit.log_likelihood.map(|l| 2.0 * parameters - 2.0 * l);
    fit.bic = fit.log_likelihood.map(|l| parameters * (n as f64).ln() - 2.0 * l);
    Ok(fit)
}

impl Fit {
    /// Interval that holds a coefficient with the given confidence, if it has a standard error.
    ///
    /// # Errors
    /// A confidence outside the open interval from 0 to 1.
    pub fn interval(&self, column: usize, confidence: f64) -> Result<Option<[f64; 2]>, StatsError> {
        let Some((estimate, error)) =
            self.coefficients[column].and_then(|c| Some((c.estimate, c.std_error?)))
        else {
            return Ok(None);
        };
        let t = StudentT::new(self.df_residual as f64)?.quantile(0.5 + 0.5 * confidence)?;
        Ok(Some([estimate - t * error, estimate + t * error]))
    }

    /// A weighted sum of the coefficients, such as the difference of two predictions, with its
    /// standard error; nothing where aliased columns leave it undetermined.
    ///
    /// # Panics
    /// A weight for every column is needed.
    pub fn weighted_sum(&self, weights: &[f64]) -> Option<WeightedSum> {
        assert_eq!(weights.len(), self.coefficients.len(), "a weight a column");
        let decomposition = &self.decomposition;
        let kept: Vec<f64> = decomposition.kept().iter().map(|&column| weights[column]).collect();
        let largest = weights.iter().fold(0.0f64, |most, w| most.max(w.abs()));
        let aliased = |column: usize| {
            let shares = decomposition.solve(&decomposition.compressed()[column]);
            let implied: f64 = shares.iter().zip(&kept).map(|(a, b)| a * b).sum();
            (implied - weights[column]).abs() <= 1e-6 * largest
        };
        let found = |column: &usize| self.coefficients[*column].is_some();
        if !(0..weights.len()).filter(|column| !found(column)).all(aliased) {
            return None;
        }
        let estimates = self.coefficients.iter().flatten().map(|own| own.estimate);
        let estimate = estimates.zip(&kept).map(|(a, b)| a * b).sum();
        let spread = decomposition.solve_transposed(&kept).iter().map(|v| v * v).sum::<f64>();
        let noise = self.log_likelihood.and(self.sigma);
        Some(WeightedSum { estimate, std_error: noise.map(|sigma| sigma * spread.sqrt()) })
    }

    /// Leverage, studentised residuals and Cook's distance of every observation.
    pub fn influence(&self) -> Influence {
        influence(&self.decomposition, &self.residuals)
    }

    /// Durbin-Watson statistic of the residuals in the order of the observations.
    ///
    /// # Errors
    /// A fit that leaves no residuals to speak of.
    pub fn durbin_watson(&self) -> Result<DurbinWatson, StatsError> {
        durbin_watson(&self.decomposition, &self.residuals)
    }

    /// Breusch and Pagan's test of constant variance in the form of Koenker.
    ///
    /// # Errors
    /// A fit that leaves no residuals to speak of, or an equation of the mean alone.
    pub fn breusch_pagan(&self) -> Result<BreuschPagan, StatsError> {
        breusch_pagan(&self.decomposition, &self.residuals)
    }

    /// Largest over smallest singular value of the columns kept.
    pub fn condition_number(&self) -> f64 {
        condition_number(&self.decomposition)
    }

    /// Whether the equation has a constant.
    pub fn intercept(&self) -> Intercept {
        self.intercept
    }

    /// The decomposition of the model matrix.
    pub fn decomposition(&self) -> &Orthogonal {
        &self.decomposition
    }

    fn whole_test(&self, variance: f64) -> Result<FitTest, StatsError> {
        let df_model = self.df_model as f64;
        let f = (self.ss_total - self.ss_residual) / df_model / variance;
        let p = FisherF::new(df_model, self.df_residual as f64)?.upper_tail(f);
        Ok(FitTest { f, p })
    }
}

fn coefficients(
    fit: &Fit,
    column_squares: &[f64],
    variance: Option<f64>,
) -> Result<Vec<Option<Coefficient>>, StatsError> {
    let decomposition = &fit.decomposition;
    let mut estimates = decomposition.solve(&fit.effects);
    if let (Intercept::First, Some(constant)) = (fit.intercept, estimates.first_mut()) {
        *constant += fit.shift;
    }
    let unscaled = decomposition.unscaled_variances();
    let mut found = vec![None; column_squares.len()];
    for ((&column, estimate), unscaled) in decomposition.kept().iter().zip(estimates).zip(unscaled)
    {
        let std_error = variance.map(|v| v.sqrt() * unscaled.sqrt());
        let t = std_error.map(|e| estimate / e);
        let p = match t {
            Some(t) => Some(StudentT::new(fit.df_residual as f64)?.two_sided(t)),
            None => None,
        };
        let compared = fit.intercept == Intercept::First && decomposition.rank() > 2;
        let vif = (column > 0 && compared).then(|| unscaled * column_squares[column]);
        found[column] = Some(Coefficient { estimate, std_error, t, p, vif });
    }
    Ok(found)
}

fn log_likelihood(n: usize, ss_residual: f64) -> f64 {
    let n = n as f64;
    -0.5 * n * ((std::f64::consts::TAU * ss_residual / n).ln() + 1.0)
}

/// Refuses a response that a model cannot be fitted to.
pub(crate) fn check_response(matrix: &Columns, response: &[f64]) -> Result<(), StatsError> {
    sample::check(response, "the response", 2)?;
    if response.len() != matrix.rows() {
        let (expected, found) = (matrix.rows(), response.len());
        return Err(StatsError::LengthMismatch { what: "the response", expected, found });
    }
    sample::check_varies(response, "the response")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(x: &[f64]) -> Columns {
        Columns::new(vec![vec![1.0; x.len()], x.to_vec()]).unwrap()
    }

    #[test]
    fn an_exact_fit_has_coefficients_but_no_tests() {
        let fit = least_squares(&line(&[0.0, 1.0, 2.0, 3.0]), &[1.0, 3.0, 5.0, 7.0]).unwrap();
        let slope = fit.coefficients[1].unwrap();
        assert!((slope.estimate - 2.0).abs() < 1e-14);
        assert_eq!((slope.t, slope.p, fit.test, fit.aic), (None, None, None, None));
    }

    #[test]
    fn a_prediction_has_the_standard_error_of_the_textbook() {
        // R: predict(lm(c(1, 3, 2, 5, 4) ~ x), data.frame(x = 6), se.fit = TRUE), x = 1:5.
        let fit =
            least_squares(&line(&[1.0, 2.0, 3.0, 4.0, 5.0]), &[1.0, 3.0, 2.0, 5.0, 4.0]).unwrap();
        let found = fit.weighted_sum(&[1.0, 6.0]).unwrap();
        assert!((found.estimate - 5.4).abs() < 1e-12);
        // sigma^2 = 1.2 and leverage 1/5 + 9/10.
        assert!((found.std_error.unwrap() - (1.2f64 * 1.1).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn an_undetermined_sum_is_not_given() {
        let x = vec![0.0, 1.0, 2.0, 4.0];
        let twice = x.iter().map(|v| 2.0 * v).collect();
        let matrix = Columns::new(vec![vec![1.0; 4], x, twice]).unwrap();
        let fit = least_squares(&matrix, &[1.0, 2.0, 4.0, 7.0]).unwrap();
        assert!(fit.weighted_sum(&[0.0, 1.0, 0.0]).is_none());
        let both = fit.weighted_sum(&[0.0, 1.0, 2.0]).unwrap();
        assert!((both.estimate - fit.coefficients[1].unwrap().estimate).abs() < 1e-12);
    }

    #[test]
    fn a_saturated_fit_has_no_sigma() {
        let fit = least_squares(&line(&[0.0, 1.0]), &[1.0, 3.0]).unwrap();
        assert_eq!((fit.sigma, fit.adj_r2, fit.df_residual), (None, None, 0));
        assert_eq!(fit.interval(1, 0.95), Ok(None));
    }

    #[test]
    fn faulty_input_is_an_error() {
        let x = line(&[0.0, 1.0, 2.0]);
        assert!(matches!(least_squares(&x, &[3.0; 3]), Err(StatsError::Constant { .. })));
        assert!(matches!(
            least_squares(&x, &[1.0, f64::NAN, 2.0]),
            Err(StatsError::NotFinite { position: 2, .. })
        ));
        assert!(matches!(
            least_squares(&x, &[1.0, 2.0]),
            Err(StatsError::LengthMismatch { expected: 3, found: 2, .. })
        ));
        let bare = Columns::new(vec![vec![0.0, 1.0, 2.0]]).unwrap();
        assert_eq!(least_squares(&bare, &[1.0, 2.0, 4.0]).unwrap_err(), StatsError::NoIntercept);
    }

    proptest! {
        #[test]
        fn a_line_agrees_with_the_textbook_formulas(
            points in prop::collection::vec((-50.0..50.0f64, -50.0..50.0f64), 5..30),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            let sxx = sample::squares_about_mean(&x);
            prop_assume!(sxx > 1e-3);
            let (mx, my) = (sample::mean_of(&x), sample::mean_of(&y));
            let sxy: f64 = x.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum();
            let fit = least_squares(&line(&x), &y).unwrap();
            let slope = fit.coefficients[1].unwrap();
            prop_assert!((slope.estimate - sxy / sxx).abs() < 1e-8);
            let expected = fit.sigma.unwrap() / sxx.sqrt();
            prop_assert!((slope.std_error.unwrap() / expected - 1.0).abs() < 1e-8);
        }

        #[test]
        fn extreme_units_give_an_answer_or_an_error_but_never_nan(
            y in prop::collection::vec(-5.0..5.0f64, 8), a in -320..308i32, b in -320..308i32,
        ) {
            let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0].map(|v: f64| v * 10f64.powi(a));
            let y: Vec<f64> = y.iter().map(|v| v * 10f64.powi(b)).collect();
            let columns = Columns::new(vec![vec![1.0; 8], x.to_vec()]);
            if let Ok(fit) = columns.and_then(|c| least_squares(&c, &y)) {
                let shown = format!("{fit:?} {:?}", fit.influence());
                prop_assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
            }
        }

        #[test]
        fn shifting_the_response_moves_only_the_intercept(
            y in prop::collection::vec(-5.0..5.0f64, 8), shift in -1e3..1e3f64,
        ) {
            let x = line(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0]);
            let moved: Vec<f64> = y.iter().map(|v| v + shift).collect();
            let (a, b) = (least_squares(&x, &y).unwrap(), least_squares(&x, &moved).unwrap());
            let estimate = |f: &Fit, k: usize| f.coefficients[k].unwrap().estimate;
            prop_assert!((estimate(&a, 1) - estimate(&b, 1)).abs() < 1e-9);
            prop_assert!((estimate(&a, 0) + shift - estimate(&b, 0)).abs() < 1e-9);
        }
    }
}
