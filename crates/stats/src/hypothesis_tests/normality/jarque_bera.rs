//! Tests of normality by skewness and kurtosis: Jarque-Bera and D'Agostino-Pearson.
//!
//! Both add a squared measure of each. Jarque and Bera's needs large samples; D'Agostino's
//! transforms the two so that the chi-squared approximation already holds at about 20 values.

use crate::error::StatsError;
use crate::sample;

/// A test of normality by the shape of the sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapeTest {
    /// The statistic, compared with chi-squared on two degrees of freedom.
    pub statistic: f64,
    /// Chance of a larger statistic for a normal sample.
    pub p: f64,
    /// Third moment about the mean in units of the second: 0 if symmetric.
    pub skewness: f64,
    /// Fourth moment about the mean in units of the second: 3 if normal.
    pub kurtosis: f64,
}

/// Jarque and Bera's test (International Statistical Review 55, 1987).
///
/// # Errors
/// A sample of fewer than three values, constant or not finite.
pub fn jarque_bera(values: &[f64]) -> Result<ShapeTest, StatsError> {
    let [skewness, kurtosis] = sample::shape(values, "the Jarque-Bera test", 3)?;
    let n = values.len() as f64;
    let statistic = n / 6.0 * (skewness.powi(2) + 0.25 * (kurtosis - 3.0).powi(2));
    Ok(ShapeTest { statistic, p: two_df_tail(statistic), skewness, kurtosis })
}

/// D'Agostino and Pearson's K² in the form of D'Agostino, Belanger and D'Agostino (The American
/// Statistician 44, 1990). A skewness of exactly 0 is scored as if it were about one standard
/// error, as SciPy's `normaltest` does, so that the two agree on symmetric samples too.
///
/// # Errors
/// A sample of fewer than eight values, constant or not finite, or a kurtosis at the pole of
/// its transformation.
pub fn dagostino(values: &[f64]) -> Result<ShapeTest, StatsError> {
    let [skewness, kurtosis] = sample::shape(values, "the D'Agostino test", 8)?;
    let n = values.len() as f64;
    let statistic = skewness_score(skewness, n).powi(2) + kurtosis_score(kurtosis, n)?.powi(2);
    Ok(ShapeTest { statistic, p: two_df_tail(statistic), skewness, kurtosis })
}

/// Tail of chi-squared on two degrees of freedom, which has a closed form.
fn two_df_tail(x: f64) -> f64 {
    (-0.5 * x).exp()
}

/// Skewness as a nearly normal score (D'Agostino, Biometrika 57, 1970).
fn skewness_score(skewness: f64, n: f64) -> f64 {
    let y = match skewness {
        // SciPy puts 1 in place of 0 here.
        0.0 => 1.0,
        skewness => skewness * ((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0))).sqrt(),
    };
    let beta = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0)
        / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0));
    let w2 = (2.0 * (beta - 1.0)).sqrt() - 1.0;
    let alpha = (2.0 / (w2 - 1.0)).sqrt();
    (y / alpha).asinh() / (0.5 * w2.ln()).sqrt()
}

/// Kurtosis as a nearly normal score (Anscombe and Glynn, Biometrika 70, 1983).
fn kurtosis_score(kurtosis: f64, n: f64) -> Result<f64, StatsError> {
    let mean = 3.0 * (n - 1.0) / (n + 1.0);
    let variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0).powi(2) * (n + 3.0) * (n + 5.0));
    let x = (kurtosis - mean) / variance.sqrt();
    let root_beta = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
        * (6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0))).sqrt();
    let half = 2.0 / root_beta;
    let a = 6.0 + 4.0 * half * (half + (1.0 + half * half).sqrt());
    let below = 1.0 + x * (2.0 / (a - 4.0)).sqrt();
    if below == 0.0 {
        let reason = "the kurtosis lies at the pole of its transformation";
        return Err(StatsError::Undefined { what: "D'Agostino's statistic", reason });
    }
    let ninth = 2.0 / (9.0 * a);
    Ok((1.0 - ninth - ((1.0 - 2.0 / a) / below).cbrt()) / ninth.sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn samples_without_a_shape_are_errors() {
        assert!(jarque_bera(&[1.0, 2.0]).is_err());
        assert!(jarque_bera(&[2.0; 9]).is_err());
        assert!(dagostino(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).is_err());
        assert!(dagostino(&[1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).is_err());
    }

    #[test]
    fn a_coin_has_the_jarque_bera_of_its_moments() {
        // Skewness 0 and kurtosis 1: n / 6 * (1 - 3)^2 / 4 = n / 6.
        let coin: Vec<f64> = (0..60).map(|i| f64::from(i % 2)).collect();
        let found = jarque_bera(&coin).unwrap();
        assert!((found.statistic - 10.0).abs() < 1e-10 && (found.p - (-5f64).exp()).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn mirrored_samples_have_the_same_statistic(
            values in prop::collection::vec(-10.0..10.0f64, 8..40), scale in 1e-3..1e3f64,
        ) {
            let moved: Vec<f64> = values.iter().map(|v| 3.0 - scale * v).collect();
            for test in [jarque_bera, dagostino] {
                let (a, b) = (test(&values).unwrap(), test(&moved).unwrap());
                prop_assert!((a.statistic - b.statistic).abs() < 1e-6 * a.statistic.max(1.0));
                prop_assert!((0.0..=1.0).contains(&a.p) && (a.skewness + b.skewness).abs() < 1e-6);
            }
        }
    }
}
