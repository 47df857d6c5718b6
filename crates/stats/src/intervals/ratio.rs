//! Ratio of two means with an interval: independent samples of any variance, and pairs.
//!
//! The interval holds every ratio that a t test does not refute (Fieller, "Some problems in
//! interval estimation", Journal of the Royal Statistical Society B 16, 1954), for independent
//! samples with Welch's standard error and Satterthwaite's degrees of freedom at each ratio. So
//! it leaves out 1 where the t test of equal means gives a p-value below its level. With two or
//! three values in a sample, the degrees of freedom may fall so fast that ratios far out are not
//! refuted again; the interval is the piece around the estimate.

use crate::distributions::{StudentT, check_probability};
use crate::error::StatsError;
use crate::hypothesis_tests::centres::t_test::{paired_p, welch_p};
use crate::root::root;
use crate::sample;

/// A ratio of means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanRatio {
    /// Mean of the first sample over mean of the second.
    pub ratio: f64,
    /// Interval of the ratio; `None` where the second mean cannot be told from zero, so that no
    /// ratio is too large.
    pub interval: Option<[f64; 2]>,
    /// Two-sided p-value of the t test that the means are equal.
    pub p: f64,
}

/// Compares the means of two independent samples by their ratio.
///
/// # Errors
/// A sample of fewer than two values, a second mean of zero, samples without any variation, or a
/// confidence outside 0 to 1.
///
/// ```
/// use trainwright_stats::ratio_of_means;
///
/// let found = ratio_of_means(&[21.0, 23.0, 22.0], &[10.0, 11.0, 10.5], 0.95)?;
/// assert!((found.ratio - 22.0 / 10.5).abs() < 1e-12);
/// let [low, high] = found.interval.expect("the second mean is far from zero");
/// assert!(low > 1.8 && high < 2.4);
/// # Ok::<(), trainwright_stats::StatsError>(())
/// ```
pub fn ratio_of_means(
    first: &[f64],
    second: &[f64],
    confidence: f64,
) -> Result<MeanRatio, StatsError> {
    let p = welch_p(first, second)?;
    let part = |values: &[f64]| Ok(sample::variance(values)? / values.len() as f64);
    let (a, b) = (sample::mean_of(first), sample::mean_of(second));
    let (va, vb) = (part(first)?, part(second)?);
    let (na, nb) = ((first.len() - 1) as f64, (second.len() - 1) as f64);
    let spread = |ratio: f64| va + ratio * ratio * vb;
    let freedom = |ratio: f64| {
        let (u, v) = (va / spread(ratio), ratio * ratio * vb / spread(ratio));
        1.0 / (u * u / na + v * v / nb)
    };
    // Far out the test is one of the second mean against zero, with its own degrees of freedom.
    let far = Pivot { mean: b, variance: vb, df: nb };
    let found = Search { numerator: a, denominator: b, far, confidence };
    Ok(MeanRatio { ratio: found.ratio()?, interval: found.interval(spread, freedom)?, p })
}

/// Compares the means of paired values by their ratio.
///
/// # Errors
/// Fewer than two pairs, lengths that differ, a second mean of zero, differences that are all
/// equal, or a confidence outside 0 to 1.
pub fn paired_ratio(
    first: &[f64],
    second: &[f64],
    confidence: f64,
) -> Result<MeanRatio, StatsError> {
    let p = paired_p(first, second)?;
    let n = first.len() as f64;
    let (a, b) = (sample::mean_of(first), sample::mean_of(second));
    let product = |x: &[f64], mx: f64, y: &[f64], my: f64| {
        let along: f64 = x.iter().zip(y).map(|(u, v)| (u - mx) * (v - my)).sum();
        along / (n - 1.0) / n
    };
    let va = product(first, a, first, a);
    let (vb, both) = (product(second, b, second, b), product(first, a, second, b));
    // A perfect proportion has no spread left, which rounding must not turn negative.
    let spread = |ratio: f64| (va - 2.0 * ratio * both + ratio * ratio * vb).max(0.0);
    let far = Pivot { mean: b, variance: vb, df: n - 1.0 };
    let found = Search { numerator: a, denominator: b, far, confidence };
    Ok(MeanRatio { ratio: found.ratio()?, interval: found.interval(spread, |_| n - 1.0)?, p })
}

/// A mean with the variance and the degrees of freedom of its estimate.
struct Pivot {
    mean: f64,
    variance: f64,
    df: f64,
}

struct Search {
    numerator: f64,
    denominator: f64,
    far: Pivot,
    confidence: f64,
}

impl Search {
    fn ratio(&self) -> Result<f64, StatsError> {
        let ratio = self.numerator / self.denominator;
        if ratio.is_finite() {
            return Ok(ratio);
        }
        Err(StatsError::Undefined { what: "a ratio of means", reason: "the second mean is zero" })
    }

    /// Ends of the ratios that the test does not refute.
    fn interval(
        &self,
        spread: impl Fn(f64) -> f64,
        freedom: impl Fn(f64) -> f64,
    ) -> Result<Option<[f64; 2]>, StatsError> {
        let log_level = check_probability(1.0 - self.confidence)?.ln();
        // Positive where a test refutes that a mean is zero. P-values cost a tenth of quantiles;
        // their logarithm falls about evenly, so that few are needed.
        let refutes = |mean: f64, variance: f64, df: f64| {
            if mean == 0.0 {
                return log_level;
            }
            let p = StudentT::new(df).map_or(1.0, |t| t.two_sided(mean / variance.sqrt()));
            log_level - p.max(f64::MIN_POSITIVE).ln()
        };
        if refutes(self.far.mean, self.far.variance, self.far.df) <= 0.0 {
            return Ok(None);
        }
        let ratio = self.ratio()?;
        let refuted = |tried: f64| {
            refutes(self.numerator - tried * self.denominator, spread(tried), freedom(tried))
        };
        let step = (spread(ratio).sqrt() / self.denominator).abs();
        let guesses = self.fieller(&spread, freedom(ratio));
        let end = |direction: f64| {
            let near = guesses.and_then(|ends| {
                let width = direction * (ends[usize::from(direction > 0.0)] - ratio);
                secant(|width| refuted(ratio + direction * width), width)
            });
            if let Some(width) = near {
                return Some(ratio + direction * width);
            }
            let mut width = step;
            while width.is_finite() && width > 0.0 && refuted(ratio + direction * width) <= 0.0 {
                width *= 2.0;
            }
            if width == 0.0 {
                return Some(ratio);
            }
            width.is_finite().then(|| root(&refuted, ratio, ratio + direction * width))
        };
        Ok(end(-1.0).zip(end(1.0)).map(|(low, high)| [low, high]))
    }

    /// Fieller's ends with the same degrees of freedom at every ratio, from which the others are
    /// not far; nothing where his quadratic has no two roots around the ratio.
    fn fieller(&self, spread: impl Fn(f64) -> f64, df: f64) -> Option<[f64; 2]> {
        let t = StudentT::new(df).ok()?.quantile(0.5 + 0.5 * self.confidence).ok()?;
        let (square, own, far) = (t * t, spread(0.0), self.far.variance);
        let (a, b) = (self.numerator, self.denominator);
        let both = 0.5 * (spread(1.0) - own - far);
        let lead = b * b - square * far;
        let half = a * b + square * both;
        let root = (half * half - lead * (a * a - square * own)).sqrt();
        (lead > 0.0 && root > 0.0).then(|| [(half - root) / lead, (half + root) / lead])
    }
}

/// Where a function of a positive width rises through zero, by secants over its logarithm; nothing
/// where they do not come to rest near the guess, or where it falls.
fn secant(f: impl Fn(f64) -> f64, guess: f64) -> Option<f64> {
    if !(guess > 0.0 && guess.is_finite()) {
        return None;
    }
    let value = |x: f64| f(guess * x.exp());
    let (mut before, mut x) = (0.0, 0.01);
    let (mut f_before, mut f_x) = (value(before), value(x));
    for _ in 0..20 {
        let step = f_x * (x - before) / (f_before - f_x);
        if !(step.is_finite() && (x + step).abs() < 3.0) {
            return None;
        }
        let rises = (f_x > f_before) == (x > before);
        (before, f_before) = (x, f_x);
        x += step;
        // The next step would be about the product of this one and the one before.
        if step.abs() < 1e-9 {
            return rises.then(|| guess * x.exp());
        }
        f_x = value(x);
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ratios_that_have_no_interval_say_so() {
        let wide = ratio_of_means(&[1.0, 2.0], &[-3.0, 3.5], 0.95).unwrap();
        assert_eq!(wide.interval, None);
        assert!(ratio_of_means(&[1.0], &[1.0, 2.0], 0.95).is_err());
        assert!(ratio_of_means(&[1.0, 2.0], &[-1.0, 1.0], 0.95).is_err());
        assert!(ratio_of_means(&[1.0, 1.0], &[2.0, 2.0], 0.95).is_err());
        assert!(ratio_of_means(&[1.0, 2.0], &[1.0, 2.0], 1.5).is_err());
    }

    #[test]
    fn ratios_far_out_that_are_not_refuted_again_do_not_belong_to_the_interval() {
        let a = [8.664939240147806, 9.949243363192808];
        let b = [8.407889184230529, 10.363612319789514, 10.175414133241215, 12.309360705970171];
        let [low, _] = ratio_of_means(&a, &b, 0.9613754989350588).unwrap().interval.unwrap();
        // By a walk from the estimate in steps of a thousandth; there are further crossings.
        assert!((low - 0.505_552_6).abs() < 1e-6, "{low}");
    }

    #[test]
    fn a_constant_baseline_only_scales_the_interval_of_the_mean() {
        let found = ratio_of_means(&[9.0, 10.0, 11.0], &[5.0, 5.0, 5.0], 0.95).unwrap();
        // Half width t(0.975, 2) / sqrt(3) / 5 with t = 4.302652729911275.
        let half = 4.302_652_729_911_275 / 3f64.sqrt() / 5.0;
        let [low, high] = found.interval.unwrap();
        assert!((low - (2.0 - half)).abs() < 1e-10 && (high - (2.0 + half)).abs() < 1e-10);
    }

    #[test]
    fn pairs_agree_with_the_quadratic_of_fieller() {
        let y = [10.2, 11.9, 9.7, 13.1, 12.0];
        let x = [5.0, 5.9, 5.1, 6.4, 6.2];
        let found = paired_ratio(&y, &x, 0.9).unwrap();
        let n = 5.0;
        let (a, b) = (sample::mean_of(&y), sample::mean_of(&x));
        let cov = |p: &[f64], q: &[f64], mp: f64, mq: f64| {
            p.iter().zip(q).map(|(u, v)| (u - mp) * (v - mq)).sum::<f64>() / (n - 1.0) / n
        };
        let t2 = StudentT::new(4.0).unwrap().quantile(0.95).unwrap().powi(2);
        // (b^2 - t^2 vb) r^2 - 2 (ab - t^2 cov) r + (a^2 - t^2 va) = 0.
        let p = b * b - t2 * cov(&x, &x, b, b);
        let q = a * b - t2 * cov(&x, &y, b, a);
        let r = a * a - t2 * cov(&y, &y, a, a);
        let root = (q * q - p * r).sqrt();
        let [low, high] = found.interval.unwrap();
        assert!((low - (q - root) / p).abs() < 1e-12 && (high - (q + root) / p).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_interval_leaves_out_one_exactly_where_the_test_finds_a_difference(
            a in prop::collection::vec(8.0..14.0f64, 2..9),
            b in prop::collection::vec(8.0..14.0f64, 2..9),
        ) {
            let found = ratio_of_means(&a, &b, 0.95).unwrap();
            if let Some([low, high]) = found.interval {
                prop_assert!(low <= found.ratio && found.ratio <= high);
                prop_assert_eq!(low > 1.0 || high < 1.0, found.p < 0.05);
            }
        }

        #[test]
        fn at_the_ends_the_test_begins_to_refute(
            a in prop::collection::vec(8.0..14.0f64, 2..7),
            b in prop::collection::vec(5.0..14.0f64, 2..7),
            confidence in 0.5..0.999f64,
        ) {
            let found = ratio_of_means(&a, &b, confidence).unwrap();
            let Some(ends) = found.interval else { return Ok(()) };
            let part = |x: &[f64]| sample::variance(x).unwrap() / x.len() as f64;
            let (va, vb) = (part(&a), part(&b));
            let refuted = |r: f64| {
                let (u, v) = (va, r * r * vb);
                let (na, nb) = ((a.len() - 1) as f64, (b.len() - 1) as f64);
                let df = (u + v).powi(2) / (u * u / na + v * v / nb);
                let t = (sample::mean_of(&a) - r * sample::mean_of(&b)) / (u + v).sqrt();
                1.0 - confidence - StudentT::new(df).unwrap().two_sided(t)
            };
            for (end, sign) in ends.into_iter().zip([-1.0, 1.0]) {
                let beside = sign * 1e-8 * (1.0 + end.abs());
                let (inside, outside) = (refuted(end - beside), refuted(end + beside));
                prop_assert!(inside < 0.0 && outside > 0.0, "{end}: {inside} {outside}");
            }
        }

        #[test]
        fn units_cancel(
            a in prop::collection::vec(8.0..14.0f64, 3), b in prop::collection::vec(8.0..14.0f64, 4),
            unit in -6..6i32,
        ) {
            let scale = |values: &[f64]| -> Vec<f64> {
                values.iter().map(|v| v * 10f64.powi(unit)).collect()
            };
            let (x, y) = (ratio_of_means(&a, &b, 0.9), ratio_of_means(&scale(&a), &scale(&b), 0.9));
            let (x, y) = (x.unwrap(), y.unwrap());
            prop_assert_eq!(x.interval.is_some(), y.interval.is_some());
            if let (Some(x), Some(y)) = (x.interval, y.interval) {
                prop_assert!((x[0] - y[0]).abs() < 1e-9 && (x[1] - y[1]).abs() < 1e-9);
            }
        }
    }
}
