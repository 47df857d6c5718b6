//! Intervals for a difference or ratio of two samples by resampling.
//!
//! No shape of the distributions is assumed: the data are drawn from again and again, and the
//! spread of the statistic over the draws is corrected for bias and skewness (BCa: Efron, Journal
//! of the American Statistical Association 82, 1987; Efron and Tibshirani, An Introduction to the
//! Bootstrap, 1993, chapter 14). Draws from a small sample spread less than the sample's own
//! distribution does, so the ends lie as much further out as Student's t lies beyond the normal
//! distribution (Hesterberg, The American Statistician 69, 2015, section 5.3).

use trainwright_random::Random;

use crate::distributions::{Normal, StudentT};
use crate::error::StatsError;
use crate::sample;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// The mean.
    Mean,
    /// The median.
    Median,
}

/// Fewest values a sample: the interval of fewer holds the truth less often than it says.
const FEWEST_RESAMPLED: usize = 8;

/// How the two are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contrast {
    /// The first less the second.
    Difference,
    /// The first over the second; all values must be positive.
    Ratio,
}

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapOptions {
    /// What is compared.
    pub location: Location,
    /// How the two are compared.
    pub contrast: Contrast,
    /// Share of such intervals that hold the true value.
    pub confidence: f64,
    /// Number of draws.
    pub resamples: usize,
    /// The same seed gives the same interval.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self {
            location: Location::Mean,
            contrast: Contrast::Difference,
            confidence: 0.95,
            resamples: 9999,
            seed: 1,
        }
    }
}

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// The contrast of the samples as they are.
    pub estimate: f64,
    /// Ends of the BCa interval.
    pub interval: [f64; 2],
    /// Standard deviation over the draws.
    pub std_error: f64,
}

/// Compares two independent samples, each resampled by itself.
///
/// # Errors
/// Fewer than eight values in a sample, values that are not finite, values that are not positive
/// for a ratio, or options out of range.
///
/// ```
/// use trainwright_stats::{BootstrapOptions, bootstrap_two_samples};
///
/// let slow = [12.1, 11.8, 12.6, 12.0, 12.3, 12.2, 11.9, 12.4];
/// let fast = [10.2, 10.9, 10.4, 10.1, 10.6, 10.3, 10.5, 10.7];
/// let found = bootstrap_two_samples(&slow, &fast, &BootstrapOptions::default())?;
/// assert!(found.interval[0] > 1.0 && found.interval[1] < 2.5);
/// # Ok::<(), trainwright_stats::StatsError>(())
/// ```
pub fn bootstrap_two_samples(
    first: &[f64],
    second: &[f64],
    options: &BootstrapOptions,
) -> Result<Bootstrap, StatsError> {
    check(first, second, options)?;
    let contrast = |a: &mut [f64], b: &mut [f64]| options.of(a, b);
    let (mut a, mut b) = (first.to_vec(), second.to_vec());
    let estimate = contrast(&mut a, &mut b);
    let mut random = Random::new(options.seed);
    let draws = (0..options.resamples).map(|_| {
        fill(&mut random, &mut a, first);
        fill(&mut random, &mut b, second);
        contrast(&mut a, &mut b)
    });
    let draws = draws.collect();
    let in_first = jackknife(first, &|part| contrast(part, &mut second.to_vec()));
    let in_second = jackknife(second, &|part| contrast(&mut first.to_vec(), part));
    Ok(finish(estimate, draws, &[in_first, in_second], options.confidence))
}

/// Compares two columns row by row, resampling rows.
///
/// # Errors
/// As [`bootstrap_two_samples`], and columns of different length.
pub fn bootstrap_pairs(
    first: &[f64],
    second: &[f64],
    options: &BootstrapOptions,
) -> Result<Bootstrap, StatsError> {
    check(first, second, options)?;
    if first.len() != second.len() {
        let (expected, found) = (first.len(), second.len());
        return Err(StatsError::LengthMismatch { what: "the second column", expected, found });
    }
    // A difference of pairs is one sample; a ratio compares the two columns of the same rows.
    let pairs: Vec<(f64, f64)> = first.iter().copied().zip(second.iter().copied()).collect();
    let of = |rows: &[(f64, f64)]| {
        let (mut a, mut b): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
        match options.contrast {
            Contrast::Ratio => options.of(&mut a, &mut b),
            Contrast::Difference => {
                a.iter_mut().zip(&b).for_each(|(a, b)| *a -= b);
                options.location.of(&mut a)
            }
        }
    };
    let mut random = Random::new(options.seed);
    let mut drawn = pairs.clone();
    let draws = (0..options.resamples)
        .map(|_| {
            fill(&mut random, &mut drawn, &pairs);
            of(&drawn)
        })
        .collect();
    let influence = (0..pairs.len()).map(|out| {
        let rest = pairs.iter().enumerate().filter(|(i, _)| *i != out).map(|(_, p)| *p);
        of(&rest.collect::<Vec<_>>())
    });
    let influence = about_mean(influence.collect());
    Ok(finish(of(&pairs), draws, &[influence], options.confidence))
}

impl BootstrapOptions {
    fn of(&self, first: &mut [f64], second: &mut [f64]) -> f64 {
        let (a, b) = (self.location.of(first), self.location.of(second));
        match self.contrast {
            Contrast::Difference => a - b,
            Contrast::Ratio => a / b,
        }
    }
}

impl Location {
    fn of(self, values: &mut [f64]) -> f64 {
        let n = values.len();
        match self {
            Self::Mean => values.iter().sum::<f64>() / n as f64,
            Self::Median => {
                let (low, middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
                let middle = *middle;
                let below = low.iter().copied().max_by(f64::total_cmp);
                if n % 2 == 1 { middle } else { 0.5 * (middle + below.unwrap_or(middle)) }
            }
        }
    }
}

fn check(first: &[f64], second: &[f64], options: &BootstrapOptions) -> Result<(), StatsError> {
    for (values, what) in [(first, "the first sample"), (second, "the second sample")] {
        sample::check(values, what, FEWEST_RESAMPLED)?;
        if options.contrast == Contrast::Ratio
            && let Some(value) = values.iter().copied().find(|v| *v <= 0.0)
        {
            let range = "the positive numbers that a ratio needs";
            return Err(StatsError::OutOfRange { what, value, range });
        }
    }
    if !(options.confidence > 0.0 && options.confidence < 1.0) {
        let (what, range) = ("the confidence", "0 to 1");
        return Err(StatsError::OutOfRange { what, value: options.confidence, range });
    }
    if !(100..=10_000_000).contains(&options.resamples) {
        let (what, range) = ("the number of resamples", "100 to 10,000,000");
        return Err(StatsError::OutOfRange { what, value: options.resamples as f64, range });
    }
    Ok(())
}

/// Influence of each value on a statistic: what leaving it out changes, in units of one value.
fn jackknife(values: &[f64], of: &dyn Fn(&mut [f64]) -> f64) -> Vec<f64> {
    let without = (0..values.len()).map(|out| {
        let mut rest: Vec<f64> =
            values.iter().enumerate().filter(|(i, _)| *i != out).map(|(_, v)| *v).collect();
        of(&mut rest)
    });
    about_mean(without.collect())
}

fn about_mean(without: Vec<f64>) -> Vec<f64> {
    let centre = sample::mean_of(&without);
    let weight = (without.len() - 1) as f64;
    without.into_iter().map(|v| weight * (centre - v)).collect()
}

fn finish(
    estimate: f64,
    mut draws: Vec<f64>,
    influence: &[Vec<f64>],
    confidence: f64,
) -> Bootstrap {
    draws.sort_by(f64::total_cmp);
    let count = draws.len() as f64;
    let std_error = (sample::squares_about_mean(&draws) / (count - 1.0)).sqrt();
    let (below, upto) =
        (draws.partition_point(|d| *d < estimate), draws.partition_point(|d| *d <= estimate));
    // Draws equal to the estimate count half, and one imagined draw on either side keeps the
    // share inside 0 to 1.
    let share = (0.5 * (below + upto) as f64 + 0.5) / (count + 1.0);
    let score = |p: f64| Normal.quantile(p).expect("the share lies between 0 and 1");
    let bias = score(share);
    let power = |k: i32| -> f64 {
        let sum = |own: &Vec<f64>| own.iter().map(|u| u.powi(k)).sum::<f64>();
        influence.iter().map(|own| sum(own) / (own.len() as f64).powi(k)).sum()
    };
    let squares = power(2);
    let acceleration = if squares > 0.0 { power(3) / (6.0 * squares.powf(1.5)) } else { 0.0 };
    let end = |p: f64| {
        let z = bias + score(p);
        let place = 1.0 - Normal.upper_tail(bias + z / (1.0 - acceleration * z));
        let at = (place * (count + 1.0)).round().clamp(1.0, count) as usize;
        draws[at - 1]
    };
    let tail = expanded_tail(influence, confidence);
    Bootstrap { estimate, interval: [end(tail), end(1.0 - tail)], std_error }
}

/// The share of draws beyond either end that gives small samples the confidence asked for.
fn expanded_tail(influence: &[Vec<f64>], confidence: f64) -> f64 {
    let n: usize = influence.iter().map(Vec::len).sum();
    let df = (n - influence.len()) as f64;
    let t = StudentT::new(df).and_then(|t| t.quantile(0.5 + 0.5 * confidence));
    let t = t.expect("samples have several values, and the confidence lies between 0 and 1");
    Normal.upper_tail(t * (n as f64 / df).sqrt())
}

/// Draws from `values` with replacement.
fn fill<T: Copy>(random: &mut Random, into: &mut [T], values: &[T]) {
    into.iter_mut().for_each(|place| *place = values[random.index(values.len())]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::welch_t;

    fn normals(seed: u64, count: usize) -> Vec<f64> {
        let mut random = Random::new(seed);
        let uniform = |bits: u64| ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        (0..count).map(|_| Normal.quantile(uniform(random.bits())).unwrap()).collect()
    }

    #[test]
    fn normal_samples_have_nearly_the_interval_of_the_t_test() {
        let (a, b) = (normals(1, 80), normals(2, 60));
        let found = bootstrap_two_samples(&a, &b, &BootstrapOptions::default()).unwrap();
        let expected = welch_t(&a, &b).unwrap();
        assert!((found.estimate - expected.difference).abs() < 1e-12);
        for end in 0..2 {
            assert!((found.interval[end] - expected.interval[end]).abs() < 0.05, "{found:?}");
        }
    }

    #[test]
    fn intervals_of_skewed_samples_hold_the_truth_about_as_often_as_they_say() {
        let options = BootstrapOptions { resamples: 999, ..BootstrapOptions::default() };
        let ratio = BootstrapOptions { contrast: Contrast::Ratio, ..options };
        let (mut difference_held, mut ratio_held, rounds) = (0, 0, 400u64);
        for round in 0..rounds {
            let skewed = |seed: u64| -> Vec<f64> {
                normals(seed, 30).iter().map(|z| (0.5 * z).exp()).collect()
            };
            let (a, b) = (skewed(7000 + 2 * round), skewed(7001 + 2 * round));
            let inside = |found: Bootstrap, truth: f64| {
                u32::from(found.interval[0] <= truth && truth <= found.interval[1])
            };
            difference_held += inside(bootstrap_two_samples(&a, &b, &options).unwrap(), 0.0);
            ratio_held += inside(bootstrap_two_samples(&a, &b, &ratio).unwrap(), 1.0);
        }
        // Four standard errors of the simulation, and two percent for the small samples.
        for held in [difference_held, ratio_held] {
            let share = f64::from(held) / rounds as f64;
            assert!((share - 0.95).abs() < 0.045 + 0.02, "{share}");
        }
    }

    /// Holds of 400 intervals of the difference of means of samples of this size.
    fn held(size: usize, shape: fn(f64) -> f64) -> f64 {
        let options = BootstrapOptions { resamples: 999, ..BootstrapOptions::default() };
        let draw = |seed| normals(seed, size).into_iter().map(shape).collect::<Vec<f64>>();
        let inside = |round: u64| {
            let (a, b) = (draw(90_000 + 2 * round), draw(90_001 + 2 * round));
            let found = bootstrap_two_samples(&a, &b, &options).unwrap().interval;
            found[0] <= 0.0 && 0.0 <= found[1]
        };
        (0..400).filter(|&round| inside(round)).count() as f64 / 400.0
    }

    #[test]
    fn small_samples_hold_the_truth_about_as_often_as_they_say() {
        for size in [8, 10, 15] {
            for shape in [(|z| z) as fn(f64) -> f64, |z| (0.5 * z).exp()] {
                let share = held(size, shape);
                // Three standard errors of the simulation about 93 to 97 %.
                assert!((0.895..0.995).contains(&share), "{size}: {share}");
            }
        }
    }

    #[test]
    fn pairs_see_a_shift_that_independent_samples_do_not() {
        let base: Vec<f64> = normals(3, 25).iter().map(|z| 50.0 + 20.0 * z).collect();
        let noise = normals(4, 25);
        let moved: Vec<f64> = base.iter().zip(&noise).map(|(v, e)| v + 1.0 + 0.3 * e).collect();
        let options = BootstrapOptions { location: Location::Median, ..Default::default() };
        let paired = bootstrap_pairs(&moved, &base, &options).unwrap();
        assert!(paired.interval[0] > 0.5 && paired.interval[1] < 1.5, "{paired:?}");
        let apart = bootstrap_two_samples(&moved, &base, &options).unwrap();
        assert!(apart.interval[0] < 0.0 && apart.interval[1] > 0.0, "{apart:?}");
        assert_eq!(paired, bootstrap_pairs(&moved, &base, &options).unwrap(), "same seed");
    }

    #[test]
    fn what_cannot_be_resampled_is_an_error() {
        let options = BootstrapOptions::default();
        let ratio = BootstrapOptions { contrast: Contrast::Ratio, ..options };
        assert!(bootstrap_two_samples(&[1.0], &[1.0, 2.0], &options).is_err());
        assert!(bootstrap_two_samples(&normals(1, 9), &[1.0; 9], &ratio).is_err());
        assert!(bootstrap_pairs(&normals(1, 8), &normals(2, 9), &options).is_err());
        let none = BootstrapOptions { resamples: 0, ..options };
        assert!(bootstrap_two_samples(&normals(1, 8), &normals(2, 8), &none).is_err());
        let few = bootstrap_two_samples(&[1.0; 7], &[2.0; 9], &options);
        assert!(matches!(few, Err(StatsError::TooFew { needed: 8, found: 7, .. })));
        let same = bootstrap_two_samples(&[2.0; 8], &[1.0; 8], &options).unwrap();
        assert_eq!((same.interval, same.std_error), ([1.0, 1.0], 0.0));
    }
}
