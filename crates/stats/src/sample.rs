//! Means, sums of squares and medians of one sample, and the checks all entry points share.

use crate::error::StatsError;
use crate::linear_algebra::lanes;

/// Arithmetic mean, with a second pass that removes the rounding of the first.
///
/// # Errors
/// An empty sample or one with a non-finite value.
pub fn mean(values: &[f64]) -> Result<f64, StatsError> {
    check_finite(values, "a mean", 1)?;
    let mean = mean_of(values);
    if mean.is_finite() {
        return Ok(mean);
    }
    // The sum is too large for a float; the mean is not.
    Ok(values.iter().map(|value| value / values.len() as f64).sum())
}

/// Unbiased variance: squared deviations over one less than their number.
///
/// # Errors
/// Fewer than two values, or a non-finite one.
pub fn variance(values: &[f64]) -> Result<f64, StatsError> {
    check(values, "a variance", 2)?;
    Ok(squares_about_mean(values) / (values.len() - 1) as f64)
}

/// Middle value, or the mean of the two middle values.
///
/// # Errors
/// An empty sample or one with a non-finite value.
pub fn median(values: &[f64]) -> Result<f64, StatsError> {
    check_finite(values, "a median", 1)?;
    Ok(median_of(values))
}

/// Sizes between which squares, and ratios of them, neither overflow nor vanish.
const LARGEST: f64 = 1e100;
const SMALLEST: f64 = 1e-100;

/// Refuses a sample that is too short, or of values whose squares cannot be computed.
///
/// # Errors
/// Fewer values than needed, one that is not finite, or a largest one outside 1e-100 to 1e100.
pub fn check(values: &[f64], what: &'static str, needed: usize) -> Result<(), StatsError> {
    check_finite(values, what, needed)?;
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest > LARGEST || (largest > 0.0 && largest < SMALLEST) {
        let range = "1e-100 to 1e100, where squares can be computed; change the unit";
        return Err(StatsError::OutOfRange { what, value: largest, range });
    }
    Ok(())
}

/// Refuses a sample that is too short or holds a value that is not finite.
fn check_finite(values: &[f64], what: &'static str, needed: usize) -> Result<(), StatsError> {
    if values.len() < needed {
        return Err(StatsError::TooFew { what, needed, found: values.len() });
    }
    match values.iter().position(|v| !v.is_finite()) {
        Some(at) => Err(StatsError::NotFinite { what, position: at + 1, value: values[at] }),
        None => Ok(()),
    }
}

/// Refuses a sample whose values are all the same, or so close that squared differences vanish.
pub(crate) fn check_varies(values: &[f64], what: &'static str) -> Result<(), StatsError> {
    match values.first() {
        Some(&value) if !squares_about_mean(values).is_normal() => {
            Err(StatsError::Constant { what, count: values.len(), value })
        }
        Some(&value) if values.iter().all(|&v| v == value) => {
            Err(StatsError::Constant { what, count: values.len(), value })
        }
        _ => Ok(()),
    }
}

/// The sample in ascending order, in standard deviations from its mean.
pub(crate) fn standard_scores(
    values: &[f64],
    what: &'static str,
    needed: usize,
) -> Result<Vec<f64>, StatsError> {
    check(values, what, needed)?;
    check_varies(values, what)?;
    let centre = mean_of(values);
    let deviation = (squares_about_mean(values) / (values.len() - 1) as f64).sqrt();
    let mut scores: Vec<f64> = values.iter().map(|v| (v - centre) / deviation).collect();
    scores.sort_by(f64::total_cmp);
    Ok(scores)
}

/// Skewness and kurtosis: third and fourth moment about the mean, in units of the second, all
/// over the number of values. A normal distribution has 0 and 3.
pub(crate) fn shape(
    values: &[f64],
    what: &'static str,
    needed: usize,
) -> Result<[f64; 2], StatsError> {
    check(values, what, needed)?;
    check_varies(values, what)?;
    let n = values.len() as f64;
    let centre = pairwise_sum(values) / n;
    let mut from_centre: Vec<f64> = values.iter().map(|v| v - centre).collect();
    let largest = from_centre.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    // What rounding left of the mean. A power of two as unit keeps fourth powers in bounds without
    // rounding anything.
    let (rest, unit) = (pairwise_sum(&from_centre) / n, largest.log2().floor().exp2());
    from_centre.iter_mut().for_each(|v| *v = (*v - rest) / unit);
    let moment = |power: fn(f64) -> f64| {
        pairwise_sum(&from_centre.iter().map(|v| power(*v)).collect::<Vec<f64>>()) / n
    };
    let second = moment(|v| v * v);
    let (third, fourth) = (moment(|v| v * v * v), moment(|v| (v * v) * (v * v)));
    Ok([third / second.powf(1.5), fourth / (second * second)])
}

/// Sum by halves, eight strands at a time: the order in which NumPy adds, so that moments which
/// cancel exactly there do so here too.
fn pairwise_sum(values: &[f64]) -> f64 {
    match values.len() {
        0..8 => values.iter().sum(),
        8..=128 => {
            let mut strands = [0.0; 8];
            let whole = values.chunks_exact(8);
            let rest = whole.remainder();
            for chunk in whole {
                strands.iter_mut().zip(chunk).for_each(|(strand, v)| *strand += v);
            }
            let [a, b, c, d, e, f, g, h] = strands;
            let start = ((a + b) + (c + d)) + ((e + f) + (g + h));
            rest.iter().fold(start, |sum, v| sum + v)
        }
        length => {
            let (left, right) = values.split_at(length / 2 - length / 2 % 8);
            pairwise_sum(left) + pairwise_sum(right)
        }
    }
}

pub(crate) fn mean_of(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let first = lanes::sum(values) / n;
    first + lanes::sum_from(values, first) / n
}

pub(crate) fn squares_about_mean(values: &[f64]) -> f64 {
    lanes::squares_from(values, mean_of(values))
}

/// Finite groups about a centre common to all: differences of their means keep the digits that a
/// large offset would take.
pub(crate) fn about_common_centre(groups: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let centre = mean_of(&groups.concat());
    groups.iter().map(|group| group.iter().map(|v| v - centre).collect()).collect()
}

pub(crate) fn median_of(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { 0.5 * sorted[half - 1] + 0.5 * sorted[half] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_survives_a_large_offset() {
        let values: Vec<f64> = [0.1, 0.2, 0.3].iter().map(|v| v + 1e9).collect();
        assert!((variance(&values).unwrap() - 0.01).abs() < 1e-8);
        assert!((mean(&values).unwrap() - 1e9 - 0.2).abs() < 1e-6);
    }

    #[test]
    fn shape_of_a_coin_and_of_one_spike_is_known() {
        let [skewness, kurtosis] = shape(&[0.0, 1.0, 0.0, 1.0], "test", 2).unwrap();
        assert!(skewness.abs() < 1e-12 && (kurtosis - 1.0).abs() < 1e-12);
        // A share p of ones has skewness (1 - 2p) / sqrt(p (1 - p)).
        let [skewness, _] = shape(&[0.0, 0.0, 0.0, 0.0, 1.0], "test", 2).unwrap();
        assert!((skewness - 1.5).abs() < 1e-12);
    }

    #[test]
    fn median_averages_the_two_middle_values() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Ok(2.5));
        assert_eq!(median(&[9.0, 1.0, 3.0]), Ok(3.0));
    }

    #[test]
    fn means_and_medians_need_no_squares() {
        assert_eq!((mean(&[1e-120]), median(&[1e-120])), (Ok(1e-120), Ok(1e-120)));
        assert_eq!((mean(&[1e308; 4]), median(&[1e308; 4])), (Ok(1e308), Ok(1e308)));
    }

    #[test]
    fn bad_samples_are_refused_by_name_and_place() {
        assert!(matches!(mean(&[]), Err(StatsError::TooFew { needed: 1, found: 0, .. })));
        assert!(matches!(variance(&[1.0]), Err(StatsError::TooFew { needed: 2, found: 1, .. })));
        assert!(matches!(variance(&[1e200, 1.0]), Err(StatsError::OutOfRange { .. })));
        assert!(matches!(variance(&[1e-200; 2]), Err(StatsError::OutOfRange { .. })));
        let bad = mean(&[1.0, f64::INFINITY]);
        assert!(matches!(bad, Err(StatsError::NotFinite { position: 2, .. })));
    }
}
