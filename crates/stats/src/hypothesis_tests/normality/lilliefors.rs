//! Lilliefors' test of normality: the largest distance between the sample's distribution and the
//! normal one with its mean and variance (Journal of the American Statistical Association 62,
//! 1967).

use crate::distributions::Normal;
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
/// 40, 1986), made for that range. A larger one comes from the distribution of Stephens'
/// statistic, which hardly depends on the size of the sample, and is right to about 0.02.
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
    let p = if small <= 0.1 { small } else { stephens(d, n) };
    Ok(Lilliefors { d, p })
}

fn dallal_wilkinson(d: f64, n: f64) -> f64 {
    let (d, n) = if n > 100.0 { (d * (n / 100.0).powf(0.49), 100.0) } else { (d, n) };
    let root = d * (n + 2.78019).sqrt();
    let log = (-7.01256 * root + 2.99587) * root - 0.122119 + 0.974598 / n.sqrt() + 1.67997 / n;
    log.exp().min(1.0)
}

/// Upper ends of the stretches of Stephens' statistic D (sqrt(n) - 0.01 + 0.85 / sqrt(n)) (Journal
/// of the American Statistical Association 69, 1974), and the polynomial that gives the p-value in
/// each, from the constant upwards. The figures are those that R's package nortest made known.
const STRETCHES: [(f64, [f64; 5]); 3] = [
    (0.5, [2.76773, -19.828315, 80.709644, -138.55152, 81.218052]),
    (0.9, [-4.901232, 40.662806, -97.490286, 94.029866, -32.355711]),
    (1.31, [6.198765, -19.558097, 23.186922, -12.234627, 2.423045]),
];

/// The statistic up to which every normal sample reaches further.
const CERTAIN: f64 = 0.302;

fn stephens(d: f64, n: f64) -> f64 {
    let statistic = d * (n.sqrt() - 0.01 + 0.85 / n.sqrt());
    if statistic <= CERTAIN {
        return 1.0;
    }
    let stretch = STRETCHES.iter().find(|(end, _)| statistic <= *end);
    stretch.map_or(0.0, |(_, polynomial)| {
        polynomial.iter().rev().fold(0.0, |sum, coefficient| sum * statistic + coefficient)
    })
}

#[cfg(test)]
mod tests {
    use trainwright_random::Random;

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
            let tail: Vec<f64> =
                (40..100).map(|i| stephens(0.01 * f64::from(i) * unit, n)).collect();
            assert!(tail.windows(2).all(|pair| pair[1] <= pair[0] + 1e-3), "{n}: {tail:?}");
        }
    }

    /// Share of simulated normal samples with a p-value up to `p`.
    fn share(size: usize, samples: u32, p: f64) -> f64 {
        let mut random = Random::new(7);
        let mut normal = || {
            let uniform = ((random.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
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
                // Four standard errors of the simulation, and 0.02 for the approximations.
                let slack = 4.0 * (p * (1.0 - p) / 8000.0).sqrt() + 0.02;
                assert!((found - p).abs() < slack, "{size} values, {p}: {found}");
            }
        }
    }
}
