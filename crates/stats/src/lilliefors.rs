//! Lilliefors' test of normality: the largest distance between the sample's distribution and the
//! normal one with its mean and variance (Journal of the American Statistical Association 62,
//! 1967).

use crate::distribution::Normal;
use crate::error::StatsError;
use crate::sample;

/// Lilliefors' D with its p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lilliefors {
    /// Largest distance between the two distributions.
    pub d: f64,
    /// Chance of a larger D for a normal sample.
    pub p: f64,
}

/// Tests whether a sample of at least 5 values looks normal.
///
/// A p-value up to 0.1 comes from the formula of Dallal and Wilkinson (The American Statistician
/// 40, 1986), made for that range. A larger one comes from a table simulated for this crate and
/// is right to about 0.005.
///
/// # Errors
/// A sample too short, constant or not finite.
pub fn lilliefors(values: &[f64]) -> Result<Lilliefors, StatsError> {
    let scores = sample::standard_scores(values, "the Lilliefors test", 5)?;
    let n = scores.len() as f64;
    let mut d = 0.0f64;
    for (index, score) in scores.iter().enumerate() {
        let share = Normal.upper_tail(-score);
        d = d.max((index + 1) as f64 / n - share).max(share - index as f64 / n);
    }
    let small = dallal_wilkinson(d, n);
    let p = if small <= 0.1 { small } else { simulated(d, n).unwrap_or(small) };
    Ok(Lilliefors { d, p })
}

fn dallal_wilkinson(d: f64, n: f64) -> f64 {
    let (d, n) = if n > 100.0 { (d * (n / 100.0).powf(0.49), 100.0) } else { (d, n) };
    let root = d * (n + 2.78019).sqrt();
    let log = (-7.01256 * root + 2.99587) * root - 0.122119 + 0.974598 / n.sqrt() + 1.67997 / n;
    log.exp().min(1.0)
}

/// First value of Stephens' statistic in the table, and the step to the next.
const FIRST: f64 = 0.25;
const STEP: f64 = 0.05;

/// Sizes of samples, and for each the share of normal samples in which
/// D (sqrt(n) - 0.01 + 0.85 / sqrt(n)) (Stephens, Journal of the American Statistical Association
/// 69, 1974) reached 0.25, 0.30 and so on to 0.95.
///
/// From 6 million samples of 5 values down to 100 thousand of 2000: standard errors of 0.0002 to
/// 0.0016. A test below repeats the simulation on a smaller scale.
#[expect(
    clippy::approx_constant,
    reason = "a simulated share that is near a quarter of pi by chance"
)]
const SIMULATED: [(f64, [f64; 15]); 7] = [
    (
        5.0,
        [
            1.0, 0.9992, 0.9912, 0.9663, 0.914, 0.8218, 0.6813, 0.5245, 0.3895, 0.2912, 0.2067,
            0.1357, 0.0821, 0.0468, 0.0269,
        ],
    ),
    (
        8.0,
        [
            1.0, 0.9994, 0.9938, 0.966, 0.8955, 0.7888, 0.6594, 0.5206, 0.3898, 0.2793, 0.1924,
            0.1275, 0.0807, 0.0491, 0.0289,
        ],
    ),
    (
        20.0,
        [
            1.0, 0.9994, 0.9926, 0.9624, 0.8923, 0.7813, 0.6453, 0.5047, 0.375, 0.2667, 0.1822,
            0.1198, 0.0759, 0.0464, 0.0275,
        ],
    ),
    (
        40.0,
        [
            1.0, 0.9995, 0.9932, 0.9645, 0.8959, 0.7854, 0.6484, 0.507, 0.3769, 0.2679, 0.1829,
            0.1203, 0.0763, 0.047, 0.028,
        ],
    ),
    (
        100.0,
        [
            1.0, 0.9996, 0.9943, 0.9682, 0.9025, 0.7942, 0.6581, 0.5158, 0.3839, 0.2737, 0.1874,
            0.1233, 0.0785, 0.0483, 0.0291,
        ],
    ),
    (
        400.0,
        [
            1.0, 0.9998, 0.9957, 0.9728, 0.9122, 0.8082, 0.6736, 0.5309, 0.3973, 0.284, 0.1947,
            0.1288, 0.0825, 0.0509, 0.0307,
        ],
    ),
    (
        2000.0,
        [
            1.0, 0.9998, 0.996, 0.9754, 0.9179, 0.8177, 0.6856, 0.5415, 0.4089, 0.2928, 0.2015,
            0.1329, 0.0858, 0.0525, 0.0317,
        ],
    ),
];

/// P-value from the table; `None` beyond its end.
fn simulated(d: f64, n: f64) -> Option<f64> {
    let statistic = d * (n.sqrt() - 0.01 + 0.85 / n.sqrt());
    let place = (statistic - FIRST) / STEP;
    let (_, first_row) = &SIMULATED[0];
    if place > (first_row.len() - 1) as f64 {
        return None;
    }
    if place < 0.0 {
        return Some(1.0);
    }
    let after = SIMULATED.partition_point(|(size, _)| *size < n);
    let (small, large) = (after.saturating_sub(1), after.min(SIMULATED.len() - 1));
    let (low, high) = (cubic(&SIMULATED[small].1, place), cubic(&SIMULATED[large].1, place));
    if small == large {
        return Some(low.clamp(0.0, 1.0));
    }
    // The distribution nears its limit as the reciprocal root of the size.
    let reciprocal = |size: f64| size.sqrt().recip();
    let (from, to) = (reciprocal(SIMULATED[small].0), reciprocal(SIMULATED[large].0));
    let part = (from - reciprocal(n)) / (from - to);
    // A cubic through shares of almost 1 can overshoot in the fifth digit.
    Some((low + part * (high - low)).clamp(0.0, 1.0))
}

/// Cubic through the four entries about a place in the table (Lagrange).
fn cubic(row: &[f64; 15], place: f64) -> f64 {
    let start = (place as usize).saturating_sub(1).min(row.len() - 4);
    let t = place - start as f64;
    let weight = |i: usize| -> f64 {
        let others = (0..4).filter(|&j| j != i);
        others.map(|j| (t - j as f64) / (i as f64 - j as f64)).product()
    };
    (0..4).map(|i| weight(i) * row[start + i]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_too_short_or_constant_are_errors() {
        assert!(matches!(lilliefors(&[1.0; 4]), Err(StatsError::TooFew { needed: 5, .. })));
        assert!(matches!(lilliefors(&[1.0; 9]), Err(StatsError::Constant { .. })));
    }

    #[test]
    fn p_falls_with_distance_at_every_size() {
        for n in [5.0, 6.0, 13.0, 50.0, 150.0, 3000.0, 1e6] {
            let unit = 1.0 / f64::sqrt(n);
            let table: Vec<f64> =
                (40..100).filter_map(|i| simulated(0.01 * f64::from(i) * unit, n)).collect();
            assert!(table.windows(2).all(|pair| pair[1] <= pair[0] + 1e-3), "{n}: {table:?}");
        }
    }

    /// Share of simulated normal samples with a p-value up to `p`.
    fn share(size: usize, samples: u32, p: f64) -> f64 {
        // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), turned into normal values.
        let mut state = 7u64;
        let mut normal = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let uniform = (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            Normal.quantile(uniform).unwrap()
        };
        let mut below = 0u32;
        for _ in 0..samples {
            let values: Vec<f64> = (0..size).map(|_| normal()).collect();
            below += u32::from(lilliefors(&values).unwrap().p <= p);
        }
        f64::from(below) / f64::from(samples)
    }

    #[test]
    fn p_values_of_normal_samples_are_spread_evenly() {
        for size in [5, 10, 30, 150] {
            for p in [0.05, 0.2, 0.5, 0.8] {
                let found = share(size, 8000, p);
                // Four standard errors of the simulation, and 0.005 for formula and table.
                let slack = 4.0 * (p * (1.0 - p) / 8000.0).sqrt() + 0.005;
                assert!((found - p).abs() < slack, "{size} values, {p}: {found}");
            }
        }
    }
}
